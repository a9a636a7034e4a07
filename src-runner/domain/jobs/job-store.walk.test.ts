import { expect, test } from 'vitest'
import { walkJobStore } from '../../testing/job-store-walk.ts'
import { walkRuns } from '../../testing/walk-runs.ts'

const RUNS = walkRuns(300)
const STEPS = 50

test(
  'whatever happens to jobs, in whatever order, every promise holds after every step',
  () => {
    expect(walkJobStore({ runs: RUNS, length: STEPS })).toBe(RUNS * STEPS)
  },
  60 * 60_000,
)
