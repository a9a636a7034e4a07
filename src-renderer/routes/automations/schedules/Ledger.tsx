import { A, useSearchParams } from '@solidjs/router'
import CalendarClock from 'lucide-solid/icons/calendar-clock'
import { createEffect, type JSX, Match, on, Show, Switch } from 'solid-js'
import { isTerminal } from '../../../../src-runner/contract/jobs.ts'
import type { Occurrence, Schedule } from '../../../../src-runner/contract/schedules.ts'
import { problemOf } from '../../../api/problem.ts'
import { useJob, useOccurrences } from '../../../api/queries.ts'
import { words } from '../../../kit/words/words.ts'
import { Button } from '../../../ui/Button.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { KeyedFor } from '../../../ui/KeyedFor.tsx'
import { Money } from '../../../ui/Money.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { StatusBadge } from '../../../ui/StatusBadge.tsx'
import { OccurrenceGlyph, occurrenceTime } from './OccurrenceGlyph.tsx'
import { OccurrenceStrip } from './OccurrenceStrip.tsx'

const IN_STRIP = 40

/** Every due time with what became of it and why. `?occurrence=` marks one. */
export function Ledger(props: { schedule: Schedule }): JSX.Element {
  const text = () => words().automations.schedule
  const [search] = useSearchParams<{ occurrence?: string }>()
  const ledger = useOccurrences(() => props.schedule.id)
  return (
    <Panel title={text().ledger} description={text().ledgerText} flush>
      <Switch>
        <Match when={ledger.error && ledger.items.length === 0}>
          <div class="p-4 pt-0">
            <ErrorState compact problem={problemOf(ledger.error)} onRetry={ledger.retry} />
          </div>
        </Match>
        <Match when={ledger.isPending}>
          <Skeleton rows={4} class="p-4 pt-0" />
        </Match>
        <Match when={ledger.items.length === 0}>
          <EmptyState compact icon={CalendarClock} title={text().ledgerEmpty}>
            {text().ledgerEmptyText}
          </EmptyState>
        </Match>
        <Match when={true}>
          <div class="px-4 pb-3">
            <OccurrenceStrip
              occurrences={ledger.items.slice(0, IN_STRIP)}
              timezone={props.schedule.timezone}
              size={12}
              class="flex-wrap gap-1.5"
            />
          </div>
          <ul aria-label={text().ledger} class="border-t border-line">
            <KeyedFor each={ledger.items} keyOf={(occurrence) => occurrence.id}>
              {(occurrence) => (
                <LedgerRow occurrence={occurrence()} timezone={props.schedule.timezone} isMarked={occurrence().id === search.occurrence} />
              )}
            </KeyedFor>
          </ul>
          <Show when={ledger.hasMore}>
            <Button size="sm" variant="ghost" class="m-2" busy={ledger.isLoadingMore} onClick={ledger.more}>
              {words().common.more}
            </Button>
          </Show>
        </Match>
      </Switch>
    </Panel>
  )
}

function LedgerRow(props: { occurrence: Occurrence; timezone: string; isMarked: boolean }): JSX.Element {
  const text = () => words().automations.schedule
  // A run that has not ended is followed by itself: the ledger hears of its end.
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
      ref={(element) => {
        place = element
      }}
      aria-current={props.isMarked ? 'true' : undefined}
      class={`flex items-start gap-3 border-b border-line px-4 py-2 last:border-b-0 ${props.isMarked ? 'bg-accent-soft' : ''}`}
    >
      <span class="flex h-5 items-center">
        <OccurrenceGlyph occurrence={occurrence()} />
      </span>
      <span class="min-w-0 flex-1">
        <span class="flex flex-wrap items-center gap-x-2 gap-y-0.5">
          <span class="text-sm text-ink">{text().state[props.occurrence.state]}</span>
          <Show when={props.occurrence.times > 1}>
            <Pill>{text().times(props.occurrence.times)}</Pill>
          </Show>
          <Show when={props.occurrence.origin === 'run_now'}>
            <Pill tone="accent">{text().byHand}</Pill>
          </Show>
          <Show when={props.occurrence.quiet}>
            <Pill>{text().nothingNew}</Pill>
          </Show>
          <span class="text-xs text-ink-2">{occurrenceTime(props.occurrence, props.timezone)}</span>
          <span class="min-w-0 text-xs wrap-anywhere text-ink-3">{props.occurrence.reason}</span>
        </span>
      </span>
      <Show when={props.occurrence.jobId}>
        {(jobId) => (
          <span class="flex shrink-0 items-center gap-3 max-sm:flex-col max-sm:items-end max-sm:gap-0.5">
            <Money usd={props.occurrence.costUsd} class="text-xs text-ink-3" />
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
