import type { Message } from '../../../src-runner/contract/messages.ts'
import type { OccurrenceSum } from '../../../src-runner/contract/schedules.ts'
import { messageText } from '../../lib/message-text.ts'
import type { GlyphFields } from './OccurrenceGlyph.tsx'

/** The outcomes of scheduled runs, as a person counts them. A no-op result counts as a run. */
export const TALLY_KINDS = [
  'ran',
  'caught_up',
  'going',
  'waiting',
  'failed',
  'cancelled',
  'missed',
  'skipped_budget',
  'skipped_overlap',
  'paused',
  'due',
] as const
export type TallyKind = (typeof TALLY_KINDS)[number]

export type Tally = Pick<OccurrenceSum, 'times' | 'lastAt'> & { reason: Message | null; kind: TallyKind }

/** A run of each kind, for its glyph. */
export const EXAMPLE_OF: Record<TallyKind, GlyphFields> = {
  ran: { state: 'ran', jobStatus: 'completed', noOp: false },
  caught_up: { state: 'caught_up', jobStatus: 'completed', noOp: false },
  going: { state: 'ran', jobStatus: 'running', noOp: false },
  waiting: { state: 'ran', jobStatus: 'awaiting_approval', noOp: false },
  failed: { state: 'ran', jobStatus: 'failed', noOp: false },
  cancelled: { state: 'ran', jobStatus: 'cancelled', noOp: false },
  missed: { state: 'missed', jobStatus: null, noOp: false },
  skipped_budget: { state: 'skipped_budget', jobStatus: null, noOp: false },
  skipped_overlap: { state: 'skipped_overlap', jobStatus: null, noOp: false },
  paused: { state: 'paused', jobStatus: null, noOp: false },
  due: { state: 'due', jobStatus: null, noOp: false },
}

function kindOf({ state, jobStatus }: OccurrenceSum): TallyKind {
  if (state !== 'ran' && state !== 'caught_up') return state
  switch (jobStatus) {
    case 'failed':
    case 'cancelled':
      return jobStatus
    case 'awaiting_approval':
      return 'waiting'
    case 'pending':
    case 'running':
    case 'awaiting_child':
      return 'going'
    default:
      return state
  }
}

/** Runs that took place come first. */
export function tallyOf(sums: readonly OccurrenceSum[]): Tally[] {
  const tallies = new Map<TallyKind, Tally>()
  for (const sum of sums) {
    const kind = kindOf(sum)
    const known = tallies.get(kind)
    const newest = known === undefined || sum.lastAt > known.lastAt ? sum : known
    tallies.set(kind, {
      kind,
      times: (known?.times ?? 0) + sum.times,
      reason: newest.reason,
      lastAt: newest.lastAt,
    })
  }
  return TALLY_KINDS.flatMap((kind) => tallies.get(kind) ?? [])
}

const DID_NOT_RUN: readonly TallyKind[] = ['missed', 'skipped_budget', 'skipped_overlap', 'paused', 'due']

/** The reason of most runs that did not take place, or null when all did. */
export function whyNot(tallies: readonly Tally[]): string | null {
  const most = tallies.filter(({ kind }) => DID_NOT_RUN.includes(kind)).sort((a, b) => b.times - a.times || b.lastAt - a.lastAt)[0]
  return most === undefined || most.reason === null ? null : messageText(most.reason)
}

const UNDER_WAY: readonly TallyKind[] = ['due', 'going', 'waiting']

/** The newest run was missed, and no later run replaces it. */
export function isBehind(tallies: readonly Tally[]): boolean {
  const missed = tallies.find(({ kind }) => kind === 'missed')
  if (missed === undefined || tallies.some(({ kind }) => UNDER_WAY.includes(kind))) return false
  return tallies.every(({ kind, lastAt }) => DID_NOT_RUN.includes(kind) || lastAt < missed.lastAt)
}
