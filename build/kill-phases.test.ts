import { expect, it } from 'vitest'
import { findSandbox } from '../src-runner/platform/sandbox/find-sandbox.ts'
import { runKillPhases } from './kill-phases.ts'

const sandbox = await findSandbox()

// Without a sandbox every program waits for an approval, and the process never reaches the point where it has to die.
it.skipIf(!sandbox.works)(
  'dies once at each phase of a job, and nothing happens twice, is lost or changes afterwards',
  { timeout: 600_000 },
  async ({ signal }) => {
    const result = await runKillPhases({ each: 1, signal })
    expect(result.broken).toEqual([])
    expect(result.repeated).toBe(0)
    expect(result.jobs).toBe(12)
    // Exactly the two phases in which nobody can know what happened.
    expect(result.asked).toBe(2)
  },
)
