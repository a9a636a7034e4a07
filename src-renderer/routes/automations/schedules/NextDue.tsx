import { type JSX, Match, Switch } from 'solid-js'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { useMinutes } from '../../../lib/now.ts'
import { t } from '../../../lib/language.ts'
import { Time } from '../../../ui/Time.tsx'
import { dateIn } from './zone-time.ts'

/** The next run. A time at which today's budget is used up is not shown, because nothing will run. */
export function NextDue(props: { schedule: Schedule }): JSX.Element {
  const now = useMinutes()
  const dueAt = () => props.schedule.nextDueAt
  const dayOf = (at: number) => dateIn(props.schedule.timezone, at)
  const isSpent = () => props.schedule.agentSpentTodayUsd >= props.schedule.dailyBudgetUsd
  return (
    <Switch fallback="–">
      <Match when={dueAt() !== null && isSpent() && dayOf(Math.max(dueAt()!, now())) === dayOf(now())}>
        <span class="text-warn">{t('automations.schedule.notToday')}</span>
      </Match>
      <Match when={dueAt() !== null && dueAt()! <= now()}>{t('automations.schedule.dueNow')}</Match>
      <Match when={dueAt()}>{(at) => <Time at={at()} />}</Match>
    </Switch>
  )
}
