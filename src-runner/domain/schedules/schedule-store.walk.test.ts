import { expect, test } from 'vitest'
import { walkSchedules } from '../../testing/schedule-walk.ts'
import { walkRuns } from '../../testing/walk-runs.ts'

const RUNS = walkRuns(30, 2.5)

test(
  'whatever happens to schedules, in whatever order, no due time is lost, doubled or run above its budget',
  () => {
    expect(walkSchedules({ runs: RUNS, length: 50 })).toBeGreaterThan(RUNS * 10)
  },
  60 * 60_000,
)
