import type { JSX } from 'solid-js'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { moneyText } from '../../../kit/numbers.ts'
import { locale, words } from '../../../kit/words/words.ts'
import { Meter } from '../../../ui/Meter.tsx'

/** What the schedule's agent has spent today, beside what the schedule may let it spend. */
export function BudgetMeter(props: { schedule: Schedule; class?: string }): JSX.Element {
  const text = () => words().automations.schedule
  const said = () =>
    text().budgetOf(moneyText(props.schedule.agentSpentTodayUsd, locale()), moneyText(props.schedule.dailyBudgetUsd, locale()))
  const isReached = () => props.schedule.agentSpentTodayUsd >= props.schedule.dailyBudgetUsd
  return (
    <span class={`flex flex-col gap-1 ${props.class ?? ''}`}>
      <span class={`text-xs ${isReached() ? 'text-warn' : 'text-ink-2'}`}>{said()}</span>
      <Meter
        label={text().budgetLabel}
        value={props.schedule.agentSpentTodayUsd}
        max={props.schedule.dailyBudgetUsd}
        text={said()}
        tone={isReached() ? 'warn' : 'plain'}
      />
    </span>
  )
}
