import { quote } from '../../testing/things.ts'
import { describe, expect, it } from 'vitest'
import type { OccurrenceSum } from '../../../src-runner/contract/schedules.ts'
import { isBehind, tallyOf, whyNot } from './tally.ts'

const sum = (state: OccurrenceSum['state'], lastAt: number, fields: Partial<OccurrenceSum> = {}): OccurrenceSum => ({
  state,
  jobStatus: state === 'ran' || state === 'caught_up' ? 'completed' : null,
  noOp: false,
  times: 1,
  reason: quote(`Because of ${state}.`),
  lastAt,
  ...fields,
})

it('counts runs by outcome', () => {
  const tallies = tallyOf([
    sum('missed', 9, { times: 54 }),
    sum('ran', 1, { times: 3, noOp: true }),
    sum('ran', 2, { times: 2 }),
    sum('caught_up', 8, { jobStatus: 'failed' }),
    sum('ran', 7, { jobStatus: 'awaiting_approval' }),
    sum('ran', 6, { jobStatus: 'awaiting_child' }),
  ])
  expect(tallies.map(({ kind, times }) => `${times} ${kind}`)).toEqual(['5 ran', '1 going', '1 waiting', '1 failed', '54 missed'])
})

it('returns the most common reason, the newest of equals, or none when all ran', () => {
  expect(whyNot(tallyOf([sum('missed', 1), sum('skipped_budget', 2), sum('ran', 3)]))).toBe('Because of skipped_budget.')
  expect(whyNot(tallyOf([sum('missed', 1, { times: 54 }), sum('due', 2), sum('ran', 3)]))).toBe('Because of missed.')
  expect(whyNot(tallyOf([sum('ran', 3)]))).toBeNull()
})

describe('a schedule is behind', () => {
  it.each([
    ['when its newest time was missed', [sum('ran', 1), sum('missed', 2)], true],
    ['when nothing ever ran', [sum('missed', 2)], true],
    ['not when a run has made up for it', [sum('missed', 2), sum('caught_up', 3)], false],
    ['not when one that failed has', [sum('missed', 2), sum('caught_up', 3, { jobStatus: 'failed' })], false],
    ['not while one is about to', [sum('missed', 2), sum('due', 3)], false],
    ['not while one is going', [sum('ran', 1, { jobStatus: 'running' }), sum('missed', 2)], false],
    ['not when nothing was missed', [sum('paused', 2)], false],
  ])('%s', (_, sums, behind) => {
    expect(isBehind(tallyOf(sums))).toBe(behind)
  })
})
