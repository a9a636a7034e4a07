import { afterEach, beforeEach, expect, it } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { firstDueAt, recordRun } from './periodic-work.ts'
import { readSettings } from './settings.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let rig: DomainRig
beforeEach(() => {
  rig = openDomainRig()
})
afterEach(() => rig.close())

const minutesLeft = () => (firstDueAt(rig.db, rig.clock, 'pruning', HOUR) - rig.clock.monotonic()) / MINUTE

it('is due by when it last ran, before the last start too, and some minutes after the start when it is overdue', () => {
  expect(minutesLeft()).toBe(5)
  transact(rig.db, (tx) => recordRun(tx, rig.clock, 'pruning'))
  rig.clock.advance(10 * MINUTE)
  rig.reboot()
  expect(minutesLeft()).toBe(50)
  rig.clock.advance(HOUR)
  expect(minutesLeft()).toBe(5)
  transact(rig.db, (tx) => recordRun(tx, rig.clock, 'pruning'))
  expect(minutesLeft()).toBe(60)
  expect(firstDueAt(rig.db, rig.clock, 'damageCheck', HOUR)).toBe(rig.clock.monotonic() + 5 * MINUTE)
})

it('is due soon if it ran while the clock was ahead, and is no setting of the person', () => {
  const before = readSettings(rig.db)
  rig.clock.jump(24 * HOUR)
  transact(rig.db, (tx) => recordRun(tx, rig.clock, 'pruning'))
  rig.clock.jump(-24 * HOUR)
  expect(minutesLeft()).toBe(5)
  expect(readSettings(rig.db)).toEqual(before)
})
