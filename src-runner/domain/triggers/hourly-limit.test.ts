import { afterEach, beforeEach, expect, test } from 'vitest'
import fc from 'fast-check'
import { transact } from '../../platform/db/database.ts'
import type { MachineTime } from '../../platform/time/machine-time.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { addAccepted, carryOverLimits, countThisHour, findOpensAt, saveAccepted, waitMsOf } from './hourly-limit.ts'
import { findLimit } from './triggers.sql.ts'
import { createTrigger } from './triggers.ts'

const HOUR = 3_600_000

let rig: DomainRig
let seq: number
/** The machine. `elapsed` and `boot` start again with it; `wall` can be set. */
let machine: { boot: string; elapsed: number; wall: number }
const time: MachineTime = { get boot() { return machine.boot }, elapsed: () => machine.elapsed } // prettier-ignore

beforeEach(() => {
  rig = openDomainRig()
  machine = { boot: 'first', elapsed: 5 * HOUR, wall: 1_800_000_000_000 }
  const fields = {
    taskTemplate: 'Look.',
    agentId: null,
    notifyOnSuccess: false,
    notifyVia: 'auto',
    signature: null,
    dedupe: false,
    requirePlaceholders: false,
  } as const
  transact(rig.db, (tx) => createTrigger(tx, { ...rig, time }, rig.ids.next(), { name: 'Builds', ...fields }).trigger)
  seq = rig.db.prepare<{ seq: number }>('SELECT seq FROM webhook_triggers').get()!.seq
})
afterEach(() => rig.close())

const row = () => findLimit(rig.db, seq)!

function pass(ms: number): void {
  machine.elapsed += ms
  machine.wall += ms
}

function fire(): boolean {
  if (waitMsOf(row(), time) > 0) return false
  transact(rig.db, (tx) => saveAccepted(tx, { jobSeq: 1, seq, limit: addAccepted(row(), time), at: machine.wall, time }))
  return true
}

function startAgain(): void {
  transact(rig.db, (tx) => carryOverLimits(tx, { now: machine.wall, time }))
}

test('accepts at most thirty in any hour of running time, and no fewer', () => {
  // Thousands of deliveries, so this does not test a power cut.
  rig.db.connection.pragma('synchronous = OFF')
  const pauses = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: HOUR / 10 })), {
    minLength: 40,
    maxLength: 120,
  })
  fc.assert(
    fc.property(pauses, (given) => {
      rig.db.connection.exec(
        'UPDATE webhook_triggers SET trigger_count = 0, last_triggered_at = NULL, fires = NULL, fires_boot = NULL, fires_gap = NULL',
      )
      const taken: number[] = []
      for (const ms of given) {
        pass(ms)
        const within = taken.filter((at) => at > machine.elapsed - HOUR).length
        expect(fire()).toBe(within < 30)
        if (within < 30) taken.push(machine.elapsed)
        expect(countThisHour(row(), time)).toBe(Math.min(within + 1, 30))
        expect(findOpensAt(rig.db, seq)).toBe(taken.length < 30 ? 0 : taken.at(-30)! + HOUR)
      }
    }),
    { numRuns: 60 },
  )
})

test('continues exactly in another process of the same boot, whatever the clock', () => {
  for (let i = 0; i < 30; i++) fire()
  machine.wall += 30 * HOUR
  pass(HOUR - 1)
  startAgain()
  expect(waitMsOf(row(), time)).toBe(1)
  pass(1)
  expect(fire()).toBe(true)
})

test.each([
  ['ten minutes later', 10 * 60_000, 50 * 60_000],
  ['the next day', 24 * HOUR, 0],
  ['with the clock set back by a day', -24 * HOUR, HOUR],
])('keeps the rest of the hour if the machine starts %s', (_when, off, wait) => {
  for (let i = 0; i < 30; i++) fire()
  machine = { boot: 'second', elapsed: 20_000, wall: machine.wall + off }
  startAgain()
  expect(waitMsOf(row(), time)).toBe(wait)
  expect(countThisHour(row(), time)).toBe(wait === 0 ? 0 : 30)
  pass(wait)
  expect(fire()).toBe(true)
})

test('converts the times of a container that restarts on the same machine', () => {
  for (let i = 0; i < 30; i++) fire()
  machine = { boot: 'first', elapsed: 1000, wall: machine.wall + 20 * 60_000 }
  startAgain()
  expect(waitMsOf(row(), time)).toBe(40 * 60_000)
})
