import { quote } from '../../../testing/things.ts'
import { expect, it } from 'vitest'
import type { Occurrence } from '../../../../src-runner/contract/schedules.ts'
import { makeOccurrence } from '../../../testing/things.ts'
import { foldOccurrences } from './fold-occurrences.ts'

const missed = (dueAt: number, fields: Partial<Occurrence> = {}) =>
  makeOccurrence({ state: 'missed', jobId: null, jobStatus: null, reason: quote('Away.'), dueAt, ...fields })

it('folds consecutive runs with the same outcome', () => {
  const run = makeOccurrence({ dueAt: 9 })
  const row = [missed(8), missed(7), missed(2, { times: 5, untilAt: 6 })] as const
  const [first, second, ...rest] = foldOccurrences([run, ...row])
  expect(first!.sum).toEqual(run)
  expect(second!.sum).toMatchObject({ state: 'missed', dueAt: 2, untilAt: 8, times: 7 })
  expect(second!.occurrences).toEqual(row)
  expect(rest).toEqual([])
  // One more does not make another entry of it.
  expect(foldOccurrences([missed(10), ...row])[0]!.key).toBe(second!.key)
})

it('does not fold runs with jobs, with another reason, or only a few', () => {
  const rows = [
    makeOccurrence(),
    makeOccurrence(),
    makeOccurrence(),
    missed(5),
    missed(4),
    missed(3, { reason: { code: 'due_missed', params: {} } }),
    missed(2, { state: 'paused' }),
  ]
  expect(foldOccurrences(rows).map(({ sum }) => sum)).toEqual(rows)
})
