import { createSignal, type JSX, Match, Switch } from 'solid-js'
import type { Agent } from '../../../../src-runner/contract/agents.ts'
import type { McpDraft } from '../../../../src-runner/contract/mcp-drafts.ts'
import { t } from '../../../lib/language.ts'
import { Dialog } from '../../../ui/Dialog.tsx'
import { createServerDraft, type ServerDraft } from './server-draft.ts'
import { FromPaste } from './FromPaste.tsx'
import { ReviewServer } from './ReviewServer.tsx'

/** Adds an MCP server: where it comes from, then exactly what it is. Nothing is started here. */
export function AddServerDialog(props: { agents: readonly Agent[]; agentId?: string | undefined; onClose: () => void }): JSX.Element {
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
          <FromPaste onDraft={take} onManual={setDraft} />
        </Dialog>
      </Match>
    </Switch>
  )
}
