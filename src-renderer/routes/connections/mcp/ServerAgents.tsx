import { createSignal, For, type JSX, Show } from 'solid-js'
import type { McpServer } from '../../../../src-runner/contract/mcp.ts'
import { compactText } from '../../../../resources/locales/numbers.ts'
import { useMay } from '../../../api/may.ts'
import { useAction } from '../../../api/mutations.ts'
import { useAgents } from '../../../api/queries.ts'
import { toastError } from '../../../api/toast-error.ts'
import { locale, t } from '../../../lib/language.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { Avatar } from '../../../ui/Avatar.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Checkbox } from '../../../ui/Checkbox.tsx'
import { FormDialog } from '../../../ui/FormDialog.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Select } from '../../../ui/Select.tsx'
import { acceptedTools, tokensOf } from '../connection.ts'

type Choice = 'none' | 'all' | 'some'

/** Which agents have the tools of a server, and which of them. */
export function ServerAgents(props: { server: McpServer }): JSX.Element {
  const agents = useAgents()
  const change = useAction('updateMcpServer')
  const may = useMay()
  const [choosing, setChoosing] = createSignal<string | null>(null)
  const grantOf = (agentId: string) => props.server.agents.find((grant) => grant.agentId === agentId)
  const choiceOf = (agentId: string): Choice => {
    const grant = grantOf(agentId)
    return grant === undefined ? 'none' : grant.tools === null ? 'all' : 'some'
  }
  const give = (agentId: string, tools: string[] | null | undefined) => {
    const others = props.server.agents
      .filter((grant) => grant.agentId !== agentId)
      .map((grant) => ({ agentId: grant.agentId, tools: grant.tools && [...grant.tools] }))
    const body = { agents: tools === undefined ? others : [...others, { agentId, tools }] }
    return change.run({ params: { mcpServerId: props.server.id }, body })
  }
  const choose = (agentId: string, choice: Choice) => {
    if (choice === 'some') return setChoosing(agentId)
    void give(agentId, choice === 'all' ? null : undefined).catch(toastError)
  }
  return (
    <Panel title={t('connections.agents.title')} description={t('connections.mcp.agents.about')}>
      <Show when={(agents.data?.agents.length ?? 0) > 0} fallback={<p class="text-sm text-ink-3">{t('connections.agents.none')}</p>}>
        <ul class="flex flex-col">
          <For each={agents.data?.agents}>
            {(agent) => (
              <li class="flex min-h-10 flex-wrap items-center gap-x-2.5 gap-y-1 py-1">
                <Avatar size="sm" name={agent.name} text={agent.avatar} />
                <span class="min-w-32 flex-1 truncate text-sm text-ink">{visibleText(agent.name)}</span>
                <Show when={acceptedTools(props.server).length > 0 && grantOf(agent.id)}>
                  {(grant) => (
                    <span class="text-xs whitespace-nowrap text-ink-3">
                      {t('connections.mcp.perTurn', { tokens: compactText(tokensOf(props.server, grant().tools), locale()) })}
                    </span>
                  )}
                </Show>
                <Show when={choiceOf(agent.id) === 'some' && may('updateMcpServer')}>
                  <Button size="sm" variant="ghost" onClick={() => setChoosing(agent.id)}>
                    {t('connections.mcp.agents.change', { count: grantOf(agent.id)?.tools?.length ?? 0 })}
                  </Button>
                </Show>
                <Select
                  class="w-40 shrink-0"
                  size="sm"
                  label={t('connections.agents.accessOf', { agent: agent.name })}
                  hideLabel
                  disabled={change.isRunning || !may('updateMcpServer')}
                  value={choiceOf(agent.id)}
                  onValue={(choice) => choose(agent.id, choice)}
                  options={[
                    { value: 'none', label: t('connections.access.none') },
                    { value: 'all', label: t('connections.mcp.agents.all') },
                    { value: 'some', label: t('connections.mcp.agents.some') },
                  ]}
                />
              </li>
            )}
          </For>
        </ul>
      </Show>
      <Show when={choosing()}>
        {(agentId) => (
          <ChooseTools
            server={props.server}
            agentName={agents.data?.agents.find(({ id }) => id === agentId())?.name ?? ''}
            first={grantOf(agentId())?.tools ?? acceptedTools(props.server).map(({ name }) => name)}
            isRunning={change.isRunning}
            onSave={(tools) => give(agentId(), tools)}
            onClose={() => setChoosing(null)}
          />
        )}
      </Show>
    </Panel>
  )
}

function ChooseTools(props: {
  server: McpServer
  agentName: string
  first: readonly string[]
  isRunning: boolean
  onSave: (tools: string[]) => Promise<unknown>
  onClose: () => void
}): JSX.Element {
  const [chosen, setChosen] = createSignal<readonly string[]>([...props.first])
  const save = async () => {
    try {
      await props.onSave([...chosen()])
      props.onClose()
    } catch (thrown) {
      toastError(thrown)
    }
  }
  return (
    <FormDialog
      title={t('connections.mcp.agents.chooseTitle', { agent: props.agentName })}
      description={t('connections.mcp.perTurn', { tokens: compactText(tokensOf(props.server, chosen()), locale()) })}
      submit={t('common.save')}
      onSubmit={() => void save()}
      isRunning={props.isRunning}
      onClose={props.onClose}
    >
      <Show
        when={acceptedTools(props.server).length > 0}
        fallback={<p class="text-sm text-ink-3">{t('connections.mcp.agents.noneAccepted')}</p>}
      >
        <ul class="flex flex-col gap-2">
          <For each={acceptedTools(props.server)}>
            {(tool) => (
              <li>
                <Checkbox
                  label={visibleText(tool.title ?? tool.name)}
                  hint={t('connections.mcp.tokens', { tokens: compactText(tool.tokens, locale()) })}
                  checked={chosen().includes(tool.name)}
                  onChecked={(on) => setChosen((all) => (on ? [...all, tool.name] : all.filter((name) => name !== tool.name)))}
                />
              </li>
            )}
          </For>
        </ul>
      </Show>
    </FormDialog>
  )
}
