import { closeSync, openSync, writeSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { transact } from '../platform/db/database.ts'
import { createEventHub } from '../platform/events/event-hub.ts'
import { silentLog } from '../lib/log.ts'
import { openDomainRig, type DomainRig } from '../testing/domain-rig.ts'
import { recordRun } from '../domain/settings/periodic-work.ts'
import { createDamageWatch, type DamageWatch } from './damage-watch.ts'

const MINUTE = 60_000
const WEEK = 7 * 24 * 60 * MINUTE

let rig: DomainRig
let watch: DamageWatch | null
beforeEach(() => {
  rig = openDomainRig()
  watch = null
})
afterEach(() => {
  watch?.stop()
  rig.close()
})

/** Each look of the watch, as it asks for a check. */
function start(isWhollyChecked: boolean): { checks: Promise<string[]>[] } {
  const checks: Promise<string[]>[] = []
  const findDamage = () => (checks.push(rig.db.findDamage()), checks.at(-1)!)
  watch = createDamageWatch({
    db: { ...rig.db, isWhollyChecked, findDamage },
    hub: createEventHub({ db: rig.db }),
    clock: rig.clock,
    log: silentLog,
  })
  watch.start()
  return { checks }
}

const happen = () => transact(rig.db, (tx) => tx.emit({ type: 'settings.changed', payload: { keys: [] } }))

test('checks a database once a week, also if the app never runs for long', async () => {
  const first = start(true)
  rig.clock.advance(4 * MINUTE)
  expect(first.checks).toEqual([])
  rig.clock.advance(16 * MINUTE)
  expect(await first.checks[0]).toEqual([])
  const isRecorded = () => rig.db.prepare("SELECT 1 FROM settings WHERE key = 'lastDamageCheck'").get() !== undefined
  await expect.poll(isRecorded).toBe(true)
  const checks = async (off: number) => {
    watch!.stop()
    rig.clock.advance(off)
    const session = start(true)
    rig.clock.advance(20 * MINUTE)
    await Promise.all(session.checks)
    return session.checks.length
  }
  expect(await checks(WEEK - 60 * MINUTE)).toBe(0)
  expect(await checks(60 * MINUTE)).toBe(1)
})

test('checks a database that was checked before the start a week after that, and finds unnoticed damage', async () => {
  transact(rig.db, (tx) => recordRun(tx, rig.clock, 'damageCheck'))
  const { checks } = start(true)
  const root = rig.db.prepare<{ rootpage: number }>("SELECT rootpage FROM sqlite_schema WHERE name = 'webhook_refusals'").get()!.rootpage
  rig.db.connection.pragma('wal_checkpoint(TRUNCATE)')
  const handle = openSync(rig.file, 'r+')
  writeSync(handle, Buffer.alloc(4096), 0, 4096, (root - 1) * 4096)
  closeSync(handle)
  rig.clock.advance(WEEK - MINUTE)
  expect(checks).toEqual([])
  expect(rig.db.trouble()).toBeNull()
  rig.clock.advance(2 * MINUTE)
  expect(checks).toHaveLength(1)
  expect(await checks[0]).toEqual([expect.stringContaining('webhook_refusals')])
  expect(rig.db.trouble()).toBe('damaged')
})

test('checks a larger database as soon as the app has been idle', () => {
  const { checks } = start(false)
  for (let minutes = 0; minutes < 59; minutes++) {
    happen()
    rig.clock.advance(MINUTE / 2)
    happen()
    rig.clock.advance(MINUTE / 2)
  }
  expect(checks).toEqual([])
  rig.clock.advance(MINUTE)
  expect(checks).toHaveLength(1)
})
