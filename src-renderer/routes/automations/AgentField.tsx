import { A } from '@solidjs/router'
import { type JSX, Show } from 'solid-js'
import { useAgents } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { Select } from '../../ui/Select.tsx'

/** Who does the work. Without any agent: the way to one. */
export function AgentField(props: { value: string | null; onValue: (agentId: string) => void; problem: string | null }): JSX.Element {
  const agents = useAgents()
  return (
    <Show
      when={agents.data?.agents.length !== 0}
      fallback={
        <p class="rounded-lg bg-warn-soft px-3.5 py-2 text-sm text-warn">
          {t('automations.noAgents')}{' '}
          <A href="/agents/new" class="font-medium underline underline-offset-2">
            {t('automations.createAgent')}
          </A>
        </p>
      }
    >
      <Select
        label={t('automations.agent')}
        options={(agents.data?.agents ?? []).map((agent) => ({ value: agent.id, label: agent.name }))}
        value={props.value}
        placeholder={t('automations.chooseAgent')}
        onValue={props.onValue}
        problem={props.problem}
      />
    </Show>
  )
}
