import { useNavigate } from '@solidjs/router'
import { createSignal, type JSX, Match, Switch } from 'solid-js'
import type { Agent } from '../../../../src-runner/contract/agents.ts'
import type { McpDraft } from '../../../../src-runner/contract/mcp-drafts.ts'
import { t } from '../../../lib/language.ts'
import { Dialog } from '../../../ui/Dialog.tsx'
import { Tabs } from '../../../ui/Tabs.tsx'
import { createServerDraft, type ServerDraft } from './server-draft.ts'
import { FromApps } from './FromApps.tsx'
import { FromPaste } from './FromPaste.tsx'
import { FromRegistry } from './FromRegistry.tsx'
import { ReviewServer } from './ReviewServer.tsx'

type Source = 'paste' | 'apps' | 'registry'

/** Adds an MCP server: where it comes from, then exactly what it is. Nothing is started here. */
export function AddServerDialog(props: { agents: readonly Agent[]; agentId?: string | undefined; onClose: () => void }): JSX.Element {
  const navigate = useNavigate()
  const [source, setSource] = createSignal<Source>('paste')
  const [draft, setDraft] = createSignal<ServerDraft | null>(null)
  const first = () => props.agents.find(({ id }) => id === props.agentId) ?? props.agents.find(({ isDefault }) => isDefault)
  const take = ({ name, transport, values }: McpDraft) =>
    setDraft(
      createServerDraft(
        name,
        transport,
        values.map((one) => ({
          name: one.name,
          value: one.value ?? '',
          isStored: false,
          description: one.description,
          isRequired: one.isRequired,
        })),
      ),
    )
  const imported = (ids: readonly string[]) => {
    props.onClose()
    navigate(ids.length === 1 ? `/connections/mcp/${ids[0]!}` : '/connections')
  }
  return (
    <Switch>
      <Match when={draft()}>
        {(one) => (
          <ReviewServer
            draft={one()}
            agents={props.agents}
            firstAgentId={first()?.id}
            onBack={() => setDraft(null)}
            onClose={props.onClose}
          />
        )}
      </Match>
      <Match when={true}>
        <Dialog open size="lg" onClose={props.onClose} title={t('connections.mcp.add')} description={t('connections.mcp.addAbout')}>
          <Tabs
            label={t('connections.mcp.sources.title')}
            value={source()}
            onValue={setSource}
            tabs={[
              {
                value: 'paste',
                label: t('connections.mcp.sources.paste'),
                content: () => <FromPaste onDraft={take} onManual={setDraft} />,
              },
              {
                value: 'apps',
                label: t('connections.mcp.sources.apps'),
                content: () => <FromApps agentIds={first() === undefined ? [] : [first()!.id]} onImported={imported} />,
              },
              { value: 'registry', label: t('connections.mcp.sources.registry'), content: () => <FromRegistry onDraft={take} /> },
            ]}
          />
        </Dialog>
      </Match>
    </Switch>
  )
}
