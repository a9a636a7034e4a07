import CalendarClock from 'lucide-solid/icons/calendar-clock'
import { type JSX, Show } from 'solid-js'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { useLastOccurrences, useSchedules } from '../../../api/queries.ts'
import { t } from '../../../lib/language.ts'
import { AutomationList, AutomationRow } from '../AutomationList.tsx'
import { BudgetMeter } from './BudgetMeter.tsx'
import { NextDue } from './NextDue.tsx'
import { OccurrenceStrip } from './OccurrenceStrip.tsx'
import { ScheduleIcon, SchedulePill } from './ScheduleState.tsx'
import { UpcomingRuns } from './UpcomingRuns.tsx'
import { useCronWords } from './use-cron-words.ts'

const DOTS = 20

export function ScheduleList(): JSX.Element {
  const schedules = useSchedules()
  return (
    <AutomationList
      pages={schedules}
      kind="schedule"
      icon={CalendarClock}
      newHref="/automations/schedules/new"
      exampleHref="/automations/schedules/new?example=1"
      textOf={(one) => `${one.name} ${one.agentName}`}
      columns={
        <>
          <span class="w-69 max-lg:w-34">{t('automations.schedule.lastRunsTitle')}</span>
          <span class="w-28 max-lg:hidden">{t('automations.schedule.budgetToday')}</span>
          <span class="w-24 text-right">{t('automations.schedule.next')}</span>
        </>
      }
      row={(schedule) => <ScheduleRow schedule={schedule()} />}
      below={<UpcomingRuns />}
    />
  )
}

function ScheduleRow(props: { schedule: Schedule }): JSX.Element {
  const cronWords = useCronWords(() => props.schedule.cron)
  const last = useLastOccurrences(() => props.schedule.id, DOTS)
  return (
    <AutomationRow
      href={`/automations/schedules/${props.schedule.id}`}
      icon={<ScheduleIcon schedule={props.schedule} />}
      name={props.schedule.name}
      isPaused={props.schedule.status === 'paused'}
      pill={<SchedulePill schedule={props.schedule} onlyOdd />}
      detail={
        <span class="block text-xs wrap-anywhere text-ink-3" title={`${props.schedule.cron} (${props.schedule.timezone})`}>
          <span class="text-ink-2">{props.schedule.agentName}</span> · {cronWords()} · {props.schedule.timezone}
        </span>
      }
    >
      {/* Half of them where there is less room. */}
      <span class="w-69 shrink-0 max-lg:w-34 max-md:hidden">
        <Show when={last.data}>
          {(data) => (
            <OccurrenceStrip
              occurrences={data().occurrences}
              timezone={props.schedule.timezone}
              class="max-lg:[&>span:nth-last-child(n+11)]:hidden"
            />
          )}
        </Show>
      </span>
      <BudgetMeter schedule={props.schedule} class="w-28 shrink-0 max-lg:hidden" />
      <span class="w-24 shrink-0 text-right text-xs text-ink-3 max-md:w-auto max-md:max-w-24">
        <span class="sr-only">{t('automations.schedule.next')}: </span>
        <NextDue schedule={props.schedule} />
      </span>
    </AutomationRow>
  )
}
