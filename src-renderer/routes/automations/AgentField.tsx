import { A } from '@solidjs/router'
import { type JSX, Show } from 'solid-js'
import { useAgents } from '../../api/queries.ts'
import { words } from '../../kit/words/words.ts'
import { Select } from '../../ui/Select.tsx'

/** Who does the work. Without any agent: the way to one. */
export function AgentField(props: { value: string | null; onValue: (agentId: string) => void; problem: string | null }): JSX.Element {
  const agents = useAgents()
  const text = () => words().automations
  return (
    <Show
      when={agents.data?.agents.length !== 0}
      fallback={
        <p class="rounded-lg bg-warn-soft px-3.5 py-2 text-sm text-warn">
          {text().noAgents}{' '}
          <A href="/agents/new" class="font-medium underline underline-offset-2">
            {text().createAgent}
          </A>
        </p>
      }
    >
      <Select
        label={text().agent}
        options={(agents.data?.agents ?? []).map((agent) => ({ value: agent.id, label: agent.name }))}
        value={props.value}
        placeholder={text().chooseAgent}
        onValue={props.onValue}
        problem={props.problem}
      />
    </Show>
  )
}
