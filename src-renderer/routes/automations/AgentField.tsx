import { A } from '@solidjs/router'
import { createEffect, type JSX, on, Show } from 'solid-js'
import { useAgents } from '../../api/queries.ts'
import type { Form } from '../../features/forms/use-form.ts'
import { t } from '../../lib/language.ts'
import { Select } from '../../ui/Select.tsx'

/** The agent that does the work, or a link to create one. */
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

/** Chooses the default agent in a form that names none yet. */
export function useDefaultAgent<F extends { agentId: string | null }>(form: Form<F>): void {
  const agents = useAgents()
  createEffect(
    on(
      () => agents.data?.agents,
      (known) => {
        if (form.fields.agentId !== null || known === undefined) return
        const agent = known.find(({ isDefault }) => isDefault) ?? known[0]
        if (agent === undefined) return
        form.fill({ ...form.fields, agentId: agent.id }, form.isDirty())
      },
    ),
  )
}
