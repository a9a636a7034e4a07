import { expect, it } from 'vitest'
import type { UpcomingRun } from '../../../../src-runner/contract/schedules.ts'
import { foldRuns } from './fold-runs.ts'

const run = (scheduleId: string, dueAt: number, blockedBy: UpcomingRun['blockedBy'] = null): UpcomingRun => ({
  scheduleId,
  name: scheduleId,
  agentName: 'Ada',
  dueAt,
  untilAt: dueAt,
  times: 1,
  blockedBy,
})

it('folds many runs of one schedule, but not blocked ones with others', () => {
  const hourly = [1, 2, 3, 4, 5].map((hour) => run('hourly', hour, 'budget'))
  const later = [6, 7, 8, 9].map((hour) => run('hourly', hour))
  expect(foldRuns([...hourly, run('daily', 5), ...later])).toEqual([
    { ...run('hourly', 1, 'budget'), times: 5, untilAt: 5 },
    run('daily', 5),
    { ...run('hourly', 6), times: 4, untilAt: 9 },
  ])
})

it('leaves a few runs alone, the soonest first', () => {
  const runs = [run('a', 1), run('b', 2), run('a', 3), run('a', 4)]
  expect(foldRuns(runs)).toEqual(runs)
})
