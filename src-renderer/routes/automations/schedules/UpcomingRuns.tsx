import { A } from '@solidjs/router'
import { createEffect, createMemo, createSignal, For, type JSX, Match, Show, Switch } from 'solid-js'
import type { UpcomingRun } from '../../../../src-runner/contract/schedules.ts'
import { problemOf } from '../../../api/problem.ts'
import { useUpcomingRuns } from '../../../api/queries.ts'
import { useMinutes } from '../../../lib/now.ts'
import { locale, t } from '../../../lib/language.ts'
import { Button } from '../../../ui/Button.tsx'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { Panel } from '../../../ui/Panel.tsx'
import { Pill } from '../../../ui/Pill.tsx'
import { foldRuns } from './fold-runs.ts'
import { timeOfDay } from './zone-time.ts'

const HOURS = 24
const AT_FIRST = 8

/** The runs expected within a day, as a chart of the hours and as a list. */
export function UpcomingRuns(): JSX.Element {
  const answer = useUpcomingRuns(HOURS)
  const [isExpanded, setExpanded] = createSignal(false)
  const runs = createMemo(() => foldRuns(answer.data?.runs ?? []))
  const shown = () => (isExpanded() ? runs() : runs().slice(0, AT_FIRST))
  return (
    <Panel title={t('automations.schedule.upcoming')}>
      <Switch>
        <Match when={answer.error && answer.data === undefined}>
          <ErrorState compact problem={problemOf(answer.error)} onRetry={answer.retry} />
        </Match>
        <Match when={answer.data !== undefined && runs().length === 0}>
          <p class="text-sm text-ink-3">{t('automations.schedule.upcomingNone')}</p>
        </Match>
        <Match when={runs().length > 0}>
          <Band runs={answer.data?.runs ?? []} />
          <ol class="mt-3 grid grid-cols-[repeat(auto-fill,minmax(min(100%,22rem),1fr))] gap-x-8">
            <For each={shown()}>
              {(run) => (
                <li class="flex min-w-0 items-baseline gap-x-3 py-1 max-sm:flex-wrap">
                  <time dateTime={new Date(run.dueAt).toISOString()} class="w-16 shrink-0 text-xs text-ink-3">
                    {timeOfDay(run.dueAt, locale())}
                  </time>
                  <span class="min-w-0 flex-1 text-sm wrap-anywhere max-sm:basis-48">
                    <A href={`/automations/schedules/${run.scheduleId}`} class="text-ink hover:underline">
                      {run.name}
                    </A>
                    <span class="text-xs text-ink-3">
                      {' · '}
                      {run.agentName}
                      <Show when={run.times > 1}>
                        {' '}
                        · {t('automations.schedule.upcomingTimes', { count: run.times, until: timeOfDay(run.untilAt, locale()) })}
                      </Show>
                    </span>
                  </span>
                  <Show when={run.blockedBy}>
                    {(by) => (
                      <span class="max-sm:ml-19">
                        <Pill tone="warn">{t(`automations.schedule.blocked.${by()}`)}</Pill>
                      </span>
                    )}
                  </Show>
                </li>
              )}
            </For>
          </ol>
          <Show when={!isExpanded() && runs().length > AT_FIRST}>
            <Button size="sm" variant="ghost" class="mt-1" onClick={() => setExpanded(true)}>
              {t('automations.schedule.upcomingMore', { count: runs().length - AT_FIRST })}
            </Button>
          </Show>
        </Match>
      </Switch>
    </Panel>
  )
}

const HOUR_MS = 3_600_000
const WIDTH = 1000
const EVERY_HOURS = 6
const ROW_HEIGHT = 9
/** With more rows, the chart would say less than the list below. */
const MAX_ROWS = 6

/** Decorative: a row for each schedule. The list below says the same. */
function Band(props: { runs: readonly UpcomingRun[] }): JSX.Element {
  const now = useMinutes()
  const at = (moment: number) => Math.min(1, Math.max(0, (moment - now()) / (HOURS * HOUR_MS)))
  const hours = createMemo(() => {
    const first = Math.ceil(now() / HOUR_MS) * HOUR_MS
    return Array.from({ length: HOURS }, (_, n) => first + n * HOUR_MS).filter((hour) => new Date(hour).getHours() % EVERY_HOURS === 0)
  })
  const rows = createMemo(() => [...new Set(props.runs.map((run) => run.scheduleId))].slice(0, MAX_ROWS))
  const height = () => rows().length * ROW_HEIGHT
  const middleOf = (run: UpcomingRun) => rows().indexOf(run.scheduleId) * ROW_HEIGHT + ROW_HEIGHT / 2
  return (
    <div aria-hidden="true">
      <svg
        viewBox={`0 0 ${WIDTH} ${height()}`}
        preserveAspectRatio="none"
        class="block w-full overflow-visible"
        ref={(band) => createEffect(() => band.style.setProperty('height', `${height()}px`))}
      >
        <For each={hours()}>
          {(hour) => (
            <line
              x1={at(hour) * WIDTH}
              x2={at(hour) * WIDTH}
              y1="0"
              y2={height()}
              class="stroke-line"
              stroke-width="1"
              vector-effect="non-scaling-stroke"
            />
          )}
        </For>
        <For each={props.runs.filter((run) => rows().includes(run.scheduleId))}>
          {(run) => (
            <line
              x1={at(run.dueAt) * WIDTH}
              // A line of zero length with round caps is a dot, whatever the width.
              x2={at(run.untilAt) * WIDTH + 0.01}
              y1={middleOf(run)}
              y2={middleOf(run)}
              class={run.blockedBy === null ? 'stroke-accent' : 'stroke-warn'}
              stroke-width={run.times > 1 ? 3 : 6}
              stroke-linecap="round"
              vector-effect="non-scaling-stroke"
            />
          )}
        </For>
      </svg>
      <div class="relative mt-1 h-4 text-2xs text-ink-3">
        <For each={hours()}>
          {(hour) => (
            <span
              class="absolute -translate-x-1/2 whitespace-nowrap"
              ref={(label) => createEffect(() => label.style.setProperty('left', `${at(hour) * 100}%`))}
            >
              {timeOfDay(hour, locale())}
            </span>
          )}
        </For>
      </div>
    </div>
  )
}
