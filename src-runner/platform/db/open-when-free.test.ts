import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import type { Database } from './database.ts'
import { openDatabase } from './open-database.ts'
import { openWhenFree } from './open-when-free.ts'

function rig() {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-free-'))
  const opened: Database[] = []
  onTestFinished(() => {
    for (const db of opened) if (db.connection.open) db.close()
    rmSync(folder, { recursive: true })
  })
  const open = () => {
    const db = openDatabase({ file: join(folder, 'deckhand.db'), clock: systemClock })
    opened.push(db)
    return db
  }
  let now = 0
  const sleeps: number[] = []
  /** `meanwhile` receives the number of sleeps so far. */
  const clockWith = (meanwhile: (times: number) => void = () => {}) => ({
    monotonic: () => now,
    sleep: async (ms: number) => {
      now += ms
      meanwhile(sleeps.push(ms))
    },
  })
  return { folder, open, clockWith, now: () => now }
}

it('opens the database once the runner that locked it has closed', async () => {
  const { open, clockWith } = rig()
  const first = open()
  const second = await openWhenFree(
    open,
    clockWith((times) => times === 3 && first.close()),
  )
  expect(second.connection.open).toBe(true)
})

it('reports after a few seconds which process holds it', async () => {
  const { open, clockWith, now } = rig()
  open()
  await expect(openWhenFree(open, clockWith())).rejects.toMatchObject({
    code: 'database_locked',
    message: expect.stringContaining(`Another Deckhand runner (process ${process.pid}) is using this data folder.`),
  })
  expect(now()).toBeGreaterThanOrEqual(6_000)
  expect(now()).toBeLessThan(10_000)
})

it('does not wait after any other error', async () => {
  const { folder, clockWith, now } = rig()
  mkdirSync(join(folder, 'deckhand.db'))
  const open = () => openDatabase({ file: join(folder, 'deckhand.db'), clock: systemClock })
  await expect(openWhenFree(open, clockWith())).rejects.toThrow()
  expect(now()).toBe(0)
})
