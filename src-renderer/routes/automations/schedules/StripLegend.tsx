import { For, type JSX } from 'solid-js'
import type { Occurrence } from '../../../../src-runner/contract/schedules.ts'
import { t } from '../../../lib/language.ts'
import { OccurrenceGlyph, occurrenceWord } from '../../../features/run-history/OccurrenceGlyph.tsx'

/** The meaning of each glyph in a strip. */
export function StripLegend(props: { occurrences: readonly Occurrence[] }): JSX.Element {
  const signs = () => [...new Map(props.occurrences.map((one) => [occurrenceWord(one), one])).entries()]
  return (
    <ul aria-label={t('automations.schedule.legend')} class="flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-3">
      <For each={signs()}>
        {([word, occurrence]) => (
          <li class="inline-flex items-center gap-1.5">
            <OccurrenceGlyph occurrence={occurrence} size={10} />
            {word}
          </li>
        )}
      </For>
    </ul>
  )
}
