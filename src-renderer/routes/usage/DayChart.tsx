import { A } from '@solidjs/router'
import { createEffect, createMemo, type JSX, Show } from 'solid-js'
import type { SpendRow } from '../../../src-runner/contract/spend.ts'
import { cachedFormat, moneyText } from '../../../resources/locales/numbers.ts'
import { locale, t } from '../../lib/language.ts'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { daysBetween } from './days-between.ts'

/**
 * A bar for each day from the one of `from` to that of `to`. One with spending leads to the jobs of its day. The words of a bar are
 * read aloud, and shown on hover.
 */
export function DayChart(props: { rows: readonly SpendRow[]; from: number; to: number }): JSX.Element {
  const days = createMemo(() => {
    const byDate = new Map(props.rows.map((row) => [row.key, row]))
    return daysBetween(props.from, props.to).map((day) => ({ ...day, row: byDate.get(day.key) }))
  })
  const highest = () => Math.max(...days().map(({ row }) => row?.costUsd ?? 0))
  return (
    <figure aria-label={t('usage.chart')} class="flex flex-col gap-1">
      <p class="text-2xs text-ink-3 tabular-nums" aria-hidden="true">
        {moneyText(highest(), locale())}
      </p>
      <ol class="flex h-36 items-stretch gap-px border-y border-line sm:gap-0.5">
        <KeyedFor each={days()} keyOf={({ key }) => key}>
          {(day) => (
            <li title={wordsOf(day())} class="flex min-w-0 flex-1">
              <Show when={day().row} fallback={<span class="sr-only">{wordsOf(day())}</span>}>
                {(row) => (
                  <A href={`/activity?time=${day().key}`} class="flex flex-1 items-end rounded-t-sm hover:bg-hover">
                    <span class="sr-only">{wordsOf(day())}</span>
                    <span
                      aria-hidden="true"
                      class={`w-full rounded-t-sm bg-accent ${row().costUsd > 0 ? 'min-h-0.5' : ''}`}
                      ref={(bar) => createEffect(() => bar.style.setProperty('height', `${shareOf(row().costUsd, highest()) * 100}%`))}
                    />
                  </A>
                )}
              </Show>
            </li>
          )}
        </KeyedFor>
      </ol>
      <p class="flex justify-between text-2xs text-ink-3" aria-hidden="true">
        <span>{shortDay(days()[0]!.at, locale())}</span>
        <span>{t('usage.today')}</span>
      </p>
    </figure>
  )
}

function shareOf(cost: number, highest: number): number {
  return highest === 0 ? 0 : cost / highest
}

function wordsOf({ at, row }: { at: number; row: SpendRow | undefined }): string {
  const day = shortDay(at, locale())
  if (row === undefined) return t('usage.dayNone', { day })
  const cost = row.costUsd === 0 && row.unpricedCalls > 0 ? t('common.unpriced') : moneyText(row.costUsd, locale())
  return t('usage.day', { day, cost, count: row.jobs })
}

/** "Fri, Nov 20", in the person's own zone. */
function shortDay(at: number, language: string): string {
  const options = { weekday: 'short', day: 'numeric', month: 'short' } as const
  return cachedFormat(`short day ${language}`, () => new Intl.DateTimeFormat(language, options)).format(at)
}
