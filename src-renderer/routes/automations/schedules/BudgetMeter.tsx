import type { JSX } from 'solid-js'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { moneyText } from '../../../../resources/locales/numbers.ts'
import { locale, t } from '../../../lib/language.ts'
import { Meter } from '../../../ui/Meter.tsx'

/** What the schedule's agent has spent today, against the schedule's daily budget. */
export function BudgetMeter(props: { schedule: Schedule; class?: string }): JSX.Element {
  const text = () =>
    t('automations.schedule.budgetOf', {
      spent: moneyText(props.schedule.agentSpentTodayUsd, locale()),
      budget: moneyText(props.schedule.dailyBudgetUsd, locale()),
    })
  const isReached = () => props.schedule.agentSpentTodayUsd >= props.schedule.dailyBudgetUsd
  return (
    <span class={`flex flex-col gap-1 ${props.class ?? ''}`}>
      <span class={`text-xs ${isReached() ? 'text-warn' : 'text-ink-2'}`}>{text()}</span>
      <Meter
        label={t('automations.schedule.budgetLabel')}
        value={props.schedule.agentSpentTodayUsd}
        max={props.schedule.dailyBudgetUsd}
        text={text()}
        tone={isReached() ? 'warn' : 'plain'}
      />
    </span>
  )
}
