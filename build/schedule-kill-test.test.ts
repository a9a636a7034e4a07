import { expect, it } from 'vitest'
import { runScheduleKillTest } from './schedule-kill-test.ts'

it('loses no due time and runs none twice, through four kills and a sleep', { timeout: 600_000 }, async ({ signal }) => {
  const result = await runScheduleKillTest({ kills: 4, schedules: 20, signal })
  expect(result.broken).toEqual([])
  expect(result.caughtUp).toEqual([1, 1])
  expect(result.jobs).toBeGreaterThan(20)
  // Otherwise the kills fell where nothing could break.
  expect(result.between).toBeGreaterThan(0)
})
