import { A } from '@solidjs/router'
import CalendarClock from 'lucide-solid/icons/calendar-clock'
import Plus from 'lucide-solid/icons/plus'
import { type JSX, Match, Show, Switch } from 'solid-js'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { problemOf } from '../../../api/problem.ts'
import { useLastOccurrences, useSchedules } from '../../../api/queries.ts'
import { words } from '../../../kit/words/words.ts'
import { ArrowList } from '../../../ui/ArrowList.tsx'
import { ButtonLink } from '../../../ui/ButtonLink.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { KeyedFor } from '../../../ui/KeyedFor.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { createFoundPart, FindField, MoreOfPart, NothingFound } from '../FoundPart.tsx'
import { BudgetMeter } from './BudgetMeter.tsx'
import { NextDue } from './NextDue.tsx'
import { OccurrenceStrip } from './OccurrenceStrip.tsx'
import { ScheduleIcon, SchedulePill } from './ScheduleState.tsx'
import { UpcomingRuns } from './UpcomingRuns.tsx'
import { useCronWords } from './use-cron-words.ts'

const DOTS = 20

export function ScheduleList(): JSX.Element {
  const text = () => words().automations.schedule
  const schedules = useSchedules()
  const part = createFoundPart(schedules, (one) => `${one.name} ${one.agentName}`)
  return (
    <Switch>
      <Match when={schedules.error && schedules.items.length === 0}>
        <ErrorState problem={problemOf(schedules.error)} onRetry={schedules.retry} />
      </Match>
      <Match when={schedules.isPending}>
        <Skeleton rows={4} />
      </Match>
      <Match when={schedules.items.length === 0}>
        <EmptyState
          icon={CalendarClock}
          title={text().emptyTitle}
          action={
            <>
              <ButtonLink variant="primary" icon={Plus} href="/automations/schedules/new">
                {text().new}
              </ButtonLink>
              <ButtonLink href="/automations/schedules/new?example=1">{text().example}</ButtonLink>
            </>
          }
        >
          {text().emptyText}
        </EmptyState>
      </Match>
      <Match when={true}>
        <div class="flex flex-col gap-4">
          <FindField part={part} label={text().find} />
          <div class="overflow-hidden rounded-xl border border-line bg-surface">
            <div aria-hidden="true" class="flex gap-4 border-b border-line px-4 py-1.5 text-2xs text-ink-3 max-md:hidden">
              <span class="flex-1 pl-7">{text().name}</span>
              <span class="w-69 max-lg:w-34">{text().lastTimes}</span>
              <span class="w-28 max-lg:hidden">{text().budgetToday}</span>
              <span class="w-24 text-right">{text().next}</span>
            </div>
            <ArrowList label={text().list}>
              <KeyedFor each={part.shown()} keyOf={(schedule) => schedule.id}>
                {(schedule) => <ScheduleRow schedule={schedule()} />}
              </KeyedFor>
            </ArrowList>
            <NothingFound part={part} />
          </div>
          <MoreOfPart part={part} />
          <UpcomingRuns />
        </div>
      </Match>
    </Switch>
  )
}

function ScheduleRow(props: { schedule: Schedule }): JSX.Element {
  const text = () => words().automations.schedule
  const said = useCronWords(() => props.schedule.cron)
  const last = useLastOccurrences(() => props.schedule.id, DOTS)
  return (
    <li class="border-b border-line last:border-b-0">
      <A
        data-row=""
        href={`/automations/schedules/${props.schedule.id}`}
        class="flex items-center gap-4 px-4 py-2.5 -outline-offset-2 hover:bg-hover"
      >
        <span class="flex min-w-0 flex-1 items-center gap-3">
          <ScheduleIcon schedule={props.schedule} />
          <span class="min-w-0 flex-1">
            <span class="flex min-w-0 items-center gap-2">
              <span
                title={props.schedule.name}
                class={`truncate text-sm font-medium ${props.schedule.status === 'paused' ? 'text-ink-2' : 'text-ink'}`}
              >
                {props.schedule.name}
              </span>
              <SchedulePill schedule={props.schedule} onlyOdd />
            </span>
            <span class="block truncate text-xs text-ink-3" title={`${props.schedule.cron} (${props.schedule.timezone})`}>
              <span class="text-ink-2">{props.schedule.agentName}</span> · {said()} · {props.schedule.timezone}
            </span>
          </span>
        </span>
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
        <span class="w-24 shrink-0 text-right text-xs text-ink-3 max-md:w-auto">
          <span class="sr-only">{text().next}: </span>
          <NextDue schedule={props.schedule} />
        </span>
      </A>
    </li>
  )
}
