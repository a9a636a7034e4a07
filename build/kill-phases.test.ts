import { expect, it } from 'vitest'
import { findBox } from '../src-runner/base/box/find-box.ts'
import { runKillPhases } from './kill-phases.ts'

const box = await findBox()
if (!box.works) console.log(`Kills at each phase of a job are skipped: ${box.reason}`)

// Without a sandbox every program waits for an approval, and the process never reaches the point where it has to die.
it.skipIf(!box.works)(
  'dies twice at each phase of a job, and nothing happens twice, is lost or changes afterwards',
  { timeout: 600_000 },
  async ({ signal }) => {
    const result = await runKillPhases({ each: 2, signal })
    expect(result.broken).toEqual([])
    expect(result.repeated).toBe(0)
    expect(result.jobs).toBe(24)
    // Exactly the two phases in which nobody can know what happened.
    expect(result.asked).toBe(4)
    expect(result.slowestMs).toBeLessThan(30_000)
  },
)
