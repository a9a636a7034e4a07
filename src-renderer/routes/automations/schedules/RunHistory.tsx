import { A, useSearchParams } from '@solidjs/router'
import CalendarClock from 'lucide-solid/icons/calendar-clock'
import { createEffect, createMemo, createSignal, For, type JSX, Match, on, Show, Switch } from 'solid-js'
import { isTerminal } from '../../../../src-runner/contract/jobs.ts'
import type { Occurrence, Schedule } from '../../../../src-runner/contract/schedules.ts'
import { NothingYet } from '../../../api/NothingYet.tsx'
import { useJob, useOccurrences, useScheduleSummary } from '../../../api/queries.ts'
import { useMinutes } from '../../../lib/now.ts'
import { messageText } from '../../../lib/message-text.ts'
import { t } from '../../../lib/language.ts'
import { OccurrenceGlyph } from '../../../features/run-history/OccurrenceGlyph.tsx'
import { tallyOf } from '../../../features/run-history/tally.ts'
import { TallyLine } from '../../../features/run-history/TallyLine.tsx'
import { Button } from '../../../ui/Button.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { KeyedFor } from '../../../ui/KeyedFor.tsx'
import { Money } from '../../../ui/Money.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { StatusBadge } from '../../../ui/StatusBadge.tsx'
import { type Entry, foldOccurrences } from './fold-occurrences.ts'
import { occurrenceTime } from './occurrence-time.ts'
import { OccurrenceStrip } from './OccurrenceStrip.tsx'
import { StripLegend } from './StripLegend.tsx'
import { ownTimezone } from '../../../lib/time.ts'

const IN_STRIP = 40
/** How many lines are shown at first and with each press of More, so that the panels below stay in reach. */
const LINES = 25
const HOUR_MS = 3_600_000
const WEEK_MS = 7 * 24 * HOUR_MS

/** Every scheduled run with its outcome and the reason. `?occurrence=` highlights one. */
export function RunHistory(props: { schedule: Schedule }): JSX.Element {
  const [search] = useSearchParams<{ occurrence?: string }>()
  const runHistory = useOccurrences(() => props.schedule.id)
  const entries = createMemo(() => foldOccurrences(runHistory.items))
  // The last entry may continue on the next page, and its count must be right.
  createEffect(() => {
    if (runHistory.hasMore && !runHistory.isLoadingMore && runHistory.error === null && (entries().at(-1)?.occurrences.length ?? 1) > 1)
      runHistory.more()
  })
  const [limit, setLimit] = createSignal(LINES)
  const shown = createMemo(() => {
    const marked = entries().findIndex(({ occurrences }) => occurrences.some(({ id }) => id === search.occurrence))
    return entries().slice(0, Math.max(limit(), marked + 1))
  })
  const more = () => {
    setLimit(shown().length + LINES)
    if (runHistory.hasMore && entries().length < limit()) runHistory.more()
  }
  const inStrip = () =>
    entries()
      .slice(0, IN_STRIP)
      .map(({ sum }) => sum)
  const about = () =>
    props.schedule.timezone === ownTimezone()
      ? t('automations.schedule.runHistoryText')
      : `${t('automations.schedule.runHistoryText')} ${t('automations.schedule.zoneOf', { zone: props.schedule.timezone })}`
  return (
    <Panel title={t('automations.schedule.runHistory')} description={about()} flush>
      <Switch>
        <Match when={runHistory.items.length === 0}>
          <NothingYet answer={runHistory} rows={4} compact class="p-4 pt-0">
            <EmptyState compact icon={CalendarClock} title={t('automations.schedule.runHistoryEmpty')}>
              {t('automations.schedule.runHistoryEmptyText')}
            </EmptyState>
          </NothingYet>
        </Match>
        <Match when={true}>
          <div class="flex flex-col gap-3 px-4 pt-1 pb-3">
            <LastWeek schedule={props.schedule} />
            <OccurrenceStrip occurrences={inStrip()} timezone={props.schedule.timezone} size={12} counts class="flex-wrap gap-1.5" />
            <StripLegend occurrences={inStrip()} />
          </div>
          <ul aria-label={t('automations.schedule.runHistory')} class="border-t border-line">
            <KeyedFor each={shown()} keyOf={(entry) => entry.key}>
              {(entry) => <RunHistoryEntry entry={entry()} timezone={props.schedule.timezone} marked={search.occurrence} />}
            </KeyedFor>
          </ul>
          <Show when={runHistory.hasMore || shown().length < entries().length}>
            <Button size="sm" variant="ghost" class="m-2" busy={runHistory.isLoadingMore} onClick={more}>
              {t('common.more')}
            </Button>
          </Show>
        </Match>
      </Switch>
    </Panel>
  )
}

/** The outcomes and the cost of the last week. */
function LastWeek(props: { schedule: Schedule }): JSX.Element {
  const now = useMinutes()
  // Rounded to the hour, so that the query stays the same.
  const from = createMemo(() => Math.floor((now() - WEEK_MS) / HOUR_MS) * HOUR_MS)
  const summary = useScheduleSummary(() => ({ from: from(), scheduleId: props.schedule.id }))
  const tallies = () => tallyOf(summary.data?.all ?? [])
  return (
    <Show when={tallies().length > 0}>
      <div class="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
        <h3 class="text-xs text-ink-3">{t('automations.schedule.lastWeek')}</h3>
        <TallyLine tallies={tallies()} class="min-w-0 flex-1" />
        <Money usd={summary.data!.costUsd} priced={summary.data!.priced} class="text-xs text-ink-2" />
      </div>
    </Show>
  )
}

/** One run, or several with the same outcome, which can be unfolded. */
function RunHistoryEntry(props: { entry: Entry; timezone: string; marked: string | undefined }): JSX.Element {
  const isMany = () => props.entry.occurrences.length > 1
  const isMarkedIn = () => props.entry.occurrences.some(({ id }) => id === props.marked)
  const [isOpened, setOpened] = createSignal<boolean | null>(null)
  const isOpen = () => isMany() && (isOpened() ?? isMarkedIn())
  return (
    <>
      <RunHistoryRow
        occurrence={props.entry.sum}
        timezone={props.timezone}
        isMarked={!isOpen() && isMarkedIn()}
        action={
          <Show when={isMany()}>
            <Button size="sm" variant="ghost" class="-my-1" aria-expanded={isOpen()} onClick={() => setOpened(!isOpen())}>
              {isOpen()
                ? t('automations.schedule.foldAgain')
                : t('automations.schedule.showEach', { count: props.entry.occurrences.length })}
            </Button>
          </Show>
        }
      />
      <Show when={isOpen()}>
        <For each={props.entry.occurrences}>
          {(one) => <RunHistoryRow occurrence={one} timezone={props.timezone} isMarked={one.id === props.marked} isPart />}
        </For>
      </Show>
    </>
  )
}

function RunHistoryRow(props: {
  occurrence: Occurrence
  timezone: string
  isMarked: boolean
  /** The reason stands in the line above. */
  isPart?: boolean
  action?: JSX.Element
}): JSX.Element {
  // The run history is refreshed when a run ends. Until then, its job has the current status.
  const job = useJob(() => (props.occurrence.jobStatus === null || isTerminal(props.occurrence.jobStatus) ? null : props.occurrence.jobId))
  const occurrence = (): Occurrence => ({ ...props.occurrence, jobStatus: job.data?.job.status ?? props.occurrence.jobStatus })
  let place!: HTMLLIElement
  createEffect(
    on(
      () => props.isMarked,
      (isMarked) => isMarked && requestAnimationFrame(() => place.scrollIntoView({ block: 'center' })),
    ),
  )
  return (
    <li
      ref={(element) => (place = element)}
      aria-current={props.isMarked ? 'true' : undefined}
      class={`flex items-start gap-3 border-b border-line py-2 pr-4 last:border-b-0 ${props.isPart ? 'pl-9' : 'pl-4'} ${props.isMarked ? 'bg-accent-soft' : ''}`}
    >
      <span class="flex h-5 items-center">
        <OccurrenceGlyph occurrence={occurrence()} />
      </span>
      <span class="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-3 gap-y-0.5">
        {/* Fixed widths, so that times and reasons are aligned. */}
        <span class="flex min-w-40 items-center gap-2 max-lg:min-w-0">
          <span class="text-sm text-ink">{t(`automations.schedule.state.${props.occurrence.state}`)}</span>
          <Show when={props.occurrence.times > 1}>
            <Pill>{t('automations.schedule.times', { count: props.occurrence.times })}</Pill>
          </Show>
          <Show when={props.occurrence.origin === 'run_now'}>
            <Pill tone="accent">{t('automations.schedule.byHand')}</Pill>
          </Show>
          <Show when={props.occurrence.noOp}>
            <Pill>{t('automations.schedule.nothingNew')}</Pill>
          </Show>
        </span>
        <span class="w-36 shrink-0 text-xs text-ink-2 max-lg:w-auto max-sm:w-full">{occurrenceTime(props.occurrence, props.timezone)}</span>
        <Show when={!props.isPart}>
          <span class="min-w-48 flex-1 text-xs wrap-anywhere text-ink-3">{messageText(props.occurrence.reason)}</span>
        </Show>
      </span>
      {props.action}
      <Show when={props.occurrence.jobId}>
        {(jobId) => (
          <span class="flex shrink-0 items-center gap-3 max-sm:flex-col max-sm:items-end max-sm:gap-0.5">
            <Money usd={props.occurrence.costUsd} priced={props.occurrence.priced} class="text-xs text-ink-3" />
            <Show when={occurrence().jobStatus}>
              {(status) => (
                <A href={`/jobs/${jobId()}`} class="rounded-full hover:underline">
                  <StatusBadge status={status()} />
                </A>
              )}
            </Show>
          </span>
        )}
      </Show>
    </li>
  )
}
