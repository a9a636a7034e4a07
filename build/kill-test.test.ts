import { expect, it } from 'vitest'
import { runKillTest } from './kill-test.ts'

it('keeps every accepted job through eight kills, and does nothing twice', { timeout: 600_000 }, async ({ signal }) => {
  const result = await runKillTest({ kills: 8, signal })
  expect(result.broken).toEqual([])
  expect(result.accepted).toBeGreaterThan(10)
  expect(result.delivered).toBeGreaterThan(2)
  expect(result.completed + result.crashLoop).toBeGreaterThanOrEqual(result.accepted)
})
