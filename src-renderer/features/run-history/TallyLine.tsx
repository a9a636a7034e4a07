import { For, type JSX } from 'solid-js'
import { t } from '../../lib/language.ts'
import { OccurrenceGlyph } from './OccurrenceGlyph.tsx'
import { EXAMPLE_OF, type Tally, type TallyKind } from './tally.ts'

/** Outcomes that need attention stand out. */
const NEEDS_ATTENTION: readonly TallyKind[] = ['failed', 'waiting', 'missed', 'skipped_budget']

/** How often each outcome occurred: a glyph, a number and a word. */
export function TallyLine(props: { tallies: readonly Tally[]; class?: string }): JSX.Element {
  return (
    <ul class={`flex flex-wrap items-center gap-x-4 gap-y-1 ${props.class ?? ''}`}>
      <For each={props.tallies}>
        {({ kind, times }) => (
          <li class={`flex items-center gap-1.5 ${NEEDS_ATTENTION.includes(kind) ? 'font-medium text-ink' : 'text-ink-2'}`}>
            <OccurrenceGlyph occurrence={EXAMPLE_OF[kind]} size={11} />
            {t(`automations.schedule.tally.${kind}`, { count: times })}
          </li>
        )}
      </For>
    </ul>
  )
}
