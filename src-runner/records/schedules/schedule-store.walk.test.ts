import { expect, test } from 'vitest'
import { walkSchedules } from '../../testing/schedule-walk.ts'

const RUNS = Number(process.env['WALK_RUNS'] ?? 150)

test(
  'whatever happens to schedules, in whatever order, no due time is lost, doubled or run above its budget',
  () => {
    expect(walkSchedules({ runs: RUNS, length: 50 })).toBeGreaterThan(RUNS * 10)
  },
  15 * 60_000,
)
