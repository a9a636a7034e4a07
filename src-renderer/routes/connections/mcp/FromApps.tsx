import { createSignal, For, type JSX, Show } from 'solid-js'
import type { McpImport } from '../../../../src-runner/contract/mcp-drafts.ts'
import { AnswerState } from '../../../api/AnswerState.tsx'
import { useAction } from '../../../api/mutations.ts'
import { useMcpImports } from '../../../api/queries.ts'
import { t } from '../../../lib/language.ts'
import { messageText } from '../../../lib/message-text.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { Button } from '../../../ui/Button.tsx'
import { Checkbox } from '../../../ui/Checkbox.tsx'
import { FormProblem } from '../../../features/forms/FormProblem.tsx'
import { Notes, SkippedDrafts } from './DraftCard.tsx'
import { WhatRuns } from './WhatRuns.tsx'

const APP_NAMES: Record<McpImport['app'], string> = {
  claude_desktop: 'Claude Desktop',
  claude_code: 'Claude Code',
  cursor: 'Cursor',
  vscode: 'VS Code',
  goose: 'Goose',
}

/** The servers of other apps on this machine. They are chosen one by one; their secrets move to the keychain. */
export function FromApps(props: { agentIds: readonly string[]; onImported: (ids: readonly string[]) => void }): JSX.Element {
  const imports = useMcpImports()
  const take = useAction('importMcpServers')
  const [chosen, setChosen] = createSignal<readonly string[]>([])
  const add = async () => {
    try {
      const { servers } = await take.run({ body: { chosen: [...chosen()], agents: props.agentIds.map((agentId) => ({ agentId })) } })
      props.onImported(servers.map(({ id }) => id))
    } catch {
      // Shown below.
    }
  }
  return (
    <Show when={imports.data} fallback={<AnswerState answer={imports} rows={4} />}>
      {(data) => (
        <Show when={data().found.length > 0} fallback={<p class="py-6 text-center text-sm text-ink-3">{t('connections.mcp.apps.none')}</p>}>
          <div class="flex flex-col gap-4">
            <For each={data().found}>
              {(app) => (
                <section aria-label={APP_NAMES[app.app]}>
                  <h3 class="font-medium text-ink">{APP_NAMES[app.app]}</h3>
                  <p class="mb-2 font-mono text-xs wrap-anywhere text-ink-3">{visibleText(app.path)}</p>
                  <Show when={app.problem}>{(problem) => <p class="text-sm text-bad">{messageText(problem())}</p>}</Show>
                  <ul class="flex flex-col gap-2">
                    <For each={app.servers}>
                      {(server) => (
                        <li class="rounded-lg border border-line px-4 py-3">
                          <Checkbox
                            label={visibleText(server.name)}
                            hint={server.isAdded ? t('connections.mcp.apps.added') : undefined}
                            disabled={server.isAdded}
                            checked={chosen().includes(server.id)}
                            onChecked={(on) => setChosen((all) => (on ? [...all, server.id] : all.filter((id) => id !== server.id)))}
                          />
                          <div class="mt-2 pl-6.5">
                            <WhatRuns transport={server.transport} />
                            <Notes draft={server} />
                          </div>
                        </li>
                      )}
                    </For>
                  </ul>
                  <SkippedDrafts skipped={app.skipped} />
                </section>
              )}
            </For>
            <FormProblem error={take.error} />
            <Button variant="primary" class="self-end" busy={take.isRunning} disabled={chosen().length === 0} onClick={() => void add()}>
              {t('connections.mcp.apps.add', { count: chosen().length })}
            </Button>
          </div>
        </Show>
      )}
    </Show>
  )
}
