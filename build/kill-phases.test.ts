import { expect, it } from 'vitest'
import { runKillPhases } from './kill-phases.ts'

it('dies twice at each phase of a job, and nothing happens twice, is lost or changes afterwards', { timeout: 240_000 }, async () => {
  const result = await runKillPhases({ each: 2 })
  expect(result.broken).toEqual([])
  expect(result.repeated).toBe(0)
  expect(result.jobs).toBe(24)
  // Exactly the two phases in which nobody can know what happened.
  expect(result.asked).toBe(4)
  expect(result.slowestMs).toBeLessThan(30_000)
})
