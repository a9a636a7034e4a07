import { expect, test } from 'vitest'
import { walkJobStore } from '../../testing/job-store-walk.ts'

const RUNS = Number(process.env['WALK_RUNS'] ?? 10_000)
const STEPS = 50

test(
  'whatever happens to jobs, in whatever order, every promise holds after every step',
  () => {
    expect(walkJobStore({ runs: RUNS, length: STEPS })).toBe(RUNS * STEPS)
  },
  15 * 60_000,
)
