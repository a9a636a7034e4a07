import { type JSX, Match, Switch } from 'solid-js'
import type { Occurrence } from '../../../src-runner/contract/schedules.ts'
import { t } from '../../lib/language.ts'

/** The fields of a run that its glyph shows. */
export type GlyphFields = Pick<Occurrence, 'state' | 'jobStatus' | 'noOp'>

type Shape = 'disc' | 'small' | 'triangle' | 'cross' | 'slashed' | 'ring' | 'square' | 'diamond' | 'bars' | 'dashes' | 'target' | 'held'

/** Each outcome has its own shape, so that nobody needs the colour. */
function lookOf(occurrence: GlyphFields): { shape: Shape; tone: string } {
  switch (occurrence.state) {
    case 'ran':
    case 'caught_up':
      switch (occurrence.jobStatus) {
        case 'failed':
          return { shape: 'cross', tone: 'text-bad' }
        case 'cancelled':
          return { shape: 'slashed', tone: 'text-ink-3' }
        case 'pending':
        case 'running':
        case 'awaiting_child':
          return { shape: 'target', tone: 'text-accent-ink' }
        case 'awaiting_approval':
          return { shape: 'held', tone: 'text-warn' }
        default:
          if (occurrence.state === 'caught_up') return { shape: 'triangle', tone: 'text-ok' }
          return { shape: occurrence.noOp ? 'small' : 'disc', tone: 'text-ok' }
      }
    case 'skipped_overlap':
      return { shape: 'square', tone: 'text-ink-3' }
    case 'skipped_budget':
      return { shape: 'diamond', tone: 'text-warn' }
    case 'missed':
      return { shape: 'ring', tone: 'text-bad' }
    case 'paused':
      return { shape: 'bars', tone: 'text-ink-3' }
    case 'due':
      return { shape: 'dashes', tone: 'text-accent-ink' }
  }
}

/** The glyph of one scheduled run. The text beside it, or its label, says what it means. */
export function OccurrenceGlyph(props: { occurrence: GlyphFields; size?: number }): JSX.Element {
  const look = () => lookOf(props.occurrence)
  return (
    <svg
      viewBox="0 0 12 12"
      width={props.size ?? 12}
      height={props.size ?? 12}
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      aria-hidden="true"
      class={`shrink-0 ${look().tone}`}
    >
      <Switch>
        <Match when={look().shape === 'disc'}>
          <circle cx="6" cy="6" r="4.5" fill="currentColor" stroke="none" />
        </Match>
        <Match when={look().shape === 'small'}>
          <circle cx="6" cy="6" r="2.4" fill="currentColor" stroke="none" />
        </Match>
        <Match when={look().shape === 'triangle'}>
          <path d="M6 1.5 11 10.5H1Z" fill="currentColor" stroke="none" />
        </Match>
        <Match when={look().shape === 'cross'}>
          <path d="M2 2l8 8M10 2l-8 8" stroke-width="2.2" stroke-linecap="round" />
        </Match>
        <Match when={look().shape === 'slashed'}>
          <circle cx="6" cy="6" r="4.2" />
          <path d="M3.2 8.8l5.6-5.6" />
        </Match>
        <Match when={look().shape === 'ring'}>
          <circle cx="6" cy="6" r="4" />
        </Match>
        <Match when={look().shape === 'square'}>
          <rect x="2" y="2" width="8" height="8" rx="1" />
        </Match>
        <Match when={look().shape === 'diamond'}>
          <path d="M6 .8 11.2 6 6 11.2.8 6Z" fill="currentColor" stroke="none" />
        </Match>
        <Match when={look().shape === 'bars'}>
          <path d="M4 2.5v7M8 2.5v7" stroke-width="2" stroke-linecap="round" />
        </Match>
        <Match when={look().shape === 'dashes'}>
          <circle cx="6" cy="6" r="4.2" stroke-dasharray="2.2 2.2" />
        </Match>
        <Match when={look().shape === 'target'}>
          <circle cx="6" cy="6" r="4.4" />
          <circle cx="6" cy="6" r="1.8" fill="currentColor" stroke="none" class="animate-breathe" />
        </Match>
        <Match when={look().shape === 'held'}>
          <circle cx="6" cy="6" r="5.5" fill="currentColor" stroke="none" />
          <path d="M4.6 4v4M7.4 4v4" class="stroke-surface" stroke-width="1.4" />
        </Match>
      </Switch>
    </svg>
  )
}

/** The state of a scheduled run in a word, with the status of its job where that says more. */
export function occurrenceWord(occurrence: GlyphFields): string {
  const word = t(`automations.schedule.state.${occurrence.state}`)
  const { jobStatus } = occurrence
  if (jobStatus !== null && jobStatus !== 'completed') return `${word}: ${t(`common.status.${jobStatus}`)}`
  return occurrence.noOp ? `${word}: ${t('automations.schedule.nothingNew')}` : word
}
