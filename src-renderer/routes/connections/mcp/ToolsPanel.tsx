import CheckCheck from 'lucide-solid/icons/check-check'
import { createMemo, type JSX, Show } from 'solid-js'
import type { McpServer, McpTool } from '../../../../src-runner/contract/mcp.ts'
import { compactText } from '../../../../resources/locales/numbers.ts'
import { useMay } from '../../../api/may.ts'
import { useAction } from '../../../api/mutations.ts'
import { toastError } from '../../../api/toast-error.ts'
import { locale, t } from '../../../lib/language.ts'
import { Button } from '../../../ui/Button.tsx'
import { KeyedFor } from '../../../ui/KeyedFor.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { acceptedTools, tokensOf } from '../connection.ts'
import { type Effect, ToolRow } from './ToolRow.tsx'

const ORDER: Record<McpTool['status'], number> = { changed: 0, new: 1, accepted: 2, gone: 3 }

/** The tools of a server: what needs a decision first. */
export function ToolsPanel(props: { server: McpServer }): JSX.Element {
  const accept = useAction('acceptMcpTools')
  const may = useMay()
  const tools = createMemo(() => props.server.tools.toSorted((one, other) => ORDER[one.status] - ORDER[other.status]))
  /** New tools that only read, which one click accepts. */
  const readers = () =>
    props.server.tools.filter(({ status, proposal, problem }) => status === 'new' && proposal === 'read' && problem === null)
  const decide = (chosen: readonly { tool: McpTool; effect: Effect }[]) =>
    accept
      .run({
        params: { mcpServerId: props.server.id },
        body: { tools: chosen.map(({ tool, effect }) => ({ name: tool.name, digest: tool.digest, effect })) },
      })
      .catch(toastError)
  return (
    <Panel
      title={t('connections.mcp.tools.title')}
      description={
        acceptedTools(props.server).length === 0
          ? t('connections.mcp.agents.about')
          : t('connections.mcp.tools.about', { tokens: compactText(tokensOf(props.server), locale()) })
      }
      flush
      actions={
        <Show when={may('acceptMcpTools') && readers().length > 0}>
          <Button
            size="sm"
            icon={CheckCheck}
            busy={accept.isRunning}
            onClick={() => void decide(readers().map((tool) => ({ tool, effect: 'read' as const })))}
          >
            {t('connections.mcp.tools.acceptReaders', { count: readers().length })}
          </Button>
        </Show>
      }
    >
      <Show when={tools().length > 0} fallback={<p class="px-4 pb-4 text-sm text-ink-3">{t('connections.mcp.tools.none')}</p>}>
        <ul>
          <KeyedFor each={tools()} keyOf={({ name }) => name}>
            {(tool) => (
              <ToolRow
                tool={tool()}
                isBusy={accept.isRunning || !may('acceptMcpTools')}
                onDecide={(effect) => void decide([{ tool: tool(), effect }])}
              />
            )}
          </KeyedFor>
        </ul>
      </Show>
    </Panel>
  )
}
