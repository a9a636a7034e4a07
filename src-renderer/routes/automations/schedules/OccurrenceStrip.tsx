import { For, type JSX, Show } from 'solid-js'
import type { Occurrence } from '../../../../src-runner/contract/schedules.ts'
import { countText } from '../../../../resources/locales/numbers.ts'
import { messageText } from '../../../lib/message-text.ts'
import { locale, t } from '../../../lib/language.ts'
import { OccurrenceGlyph, occurrenceWord } from '../../../features/run-history/OccurrenceGlyph.tsx'
import { occurrenceTime } from './occurrence-time.ts'

/** The last scheduled runs as a row of glyphs, the newest at the right. Its label counts the outcomes. */
export function OccurrenceStrip(props: {
  occurrences: readonly Occurrence[]
  timezone: string
  size?: number
  /** Shows a number beside a glyph that stands for several runs. */
  counts?: boolean
  class?: string
}): JSX.Element {
  const summary = () => {
    const counts = new Map<string, number>()
    for (const one of props.occurrences) counts.set(occurrenceWord(one), (counts.get(occurrenceWord(one)) ?? 0) + one.times)
    return `${t('automations.schedule.lastRuns', { count: props.occurrences.reduce((sum, one) => sum + one.times, 0) })}: ${[...counts].map(([word, count]) => `${count} × ${word}`).join(', ')}`
  }
  return (
    <Show
      when={props.occurrences.length > 0}
      fallback={<span class={`text-xs text-ink-3 ${props.class ?? ''}`}>{t('automations.schedule.stripNone')}</span>}
    >
      <span role="img" aria-label={summary()} class={`inline-flex items-center gap-1 ${props.class ?? ''}`}>
        <For each={props.occurrences.toReversed()}>
          {(one) => (
            <span
              class="inline-flex items-center gap-0.5"
              title={`${occurrenceWord(one)} · ${occurrenceTime(one, props.timezone)}\n${messageText(one.reason)}`}
            >
              <OccurrenceGlyph occurrence={one} size={props.size ?? 10} />
              <Show when={props.counts && one.times > 1}>
                <span class="text-2xs text-ink-3">{countText(one.times, locale())}</span>
              </Show>
            </span>
          )}
        </For>
      </span>
    </Show>
  )
}
