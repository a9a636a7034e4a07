import { For, type JSX } from 'solid-js'
import { t } from '../../lib/language.ts'
import { OccurrenceGlyph } from './OccurrenceGlyph.tsx'
import { EXAMPLE_OF, type Tally, type TallyKind } from './tally.ts'

/** Outcomes that need attention stand out. */
const NEEDS_ATTENTION: readonly TallyKind[] = ['failed', 'waiting', 'missed', 'skipped_budget']

/** How often each outcome occurred: a glyph, a number and a word. `atLeast`: not all of them are known. */
export function TallyLine(props: { tallies: readonly Tally[]; atLeast?: boolean; class?: string }): JSX.Element {
  const textOf = ({ kind, times }: Tally) => {
    const amount = t(`automations.schedule.tally.${kind}`, { count: times })
    return props.atLeast ? t('common.atLeast', { amount }) : amount
  }
  return (
    <ul class={`flex flex-wrap items-center gap-x-4 gap-y-1 ${props.class ?? ''}`}>
      <For each={props.tallies}>
        {(tally) => (
          <li class={`flex items-center gap-1.5 ${NEEDS_ATTENTION.includes(tally.kind) ? 'font-medium text-ink' : 'text-ink-2'}`}>
            <OccurrenceGlyph occurrence={EXAMPLE_OF[tally.kind]} size={11} />
            {textOf(tally)}
          </li>
        )}
      </For>
    </ul>
  )
}
