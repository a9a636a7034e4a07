import { afterEach, beforeEach, expect, it } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { changeSettings } from '../settings/settings.ts'
import { createReservations } from './reservations.ts'

let rig: DomainRig
beforeEach(() => {
  rig = openDomainRig()
})
afterEach(() => rig.close())

it('keeps what was spent but not recorded yet when a job releases the rest of its reservation', async () => {
  const agentId = rig.addAgent('Ada').id
  const { id } = transact(rig.db, (tx) => rig.store.enqueue(tx, { agentId, channel: 'chat', task: 'Go' }))
  const { signal } = new AbortController()
  const reservations = createReservations({ db: rig.db, money: rig.clock, timezone: () => 'UTC' })
  await reservations.reserve(id, { estimateMicros: 100, unrecordedMicros: 20 }, signal)
  reservations.release(id, 20)
  expect(reservations.held()).toBe(20)
  reservations.release(id)
  reservations.release(id, 20)
  expect(reservations.held()).toBe(0)
})

it('keeps it also while the job waits for money that another one holds', async () => {
  const agentId = rig.addAgent('Ada').id
  transact(rig.db, (tx) => changeSettings(tx, rig, { dayBudgetUsd: 1 }))
  const jobs = transact(rig.db, (tx) => [1, 2].map(() => rig.store.enqueue(tx, { agentId, channel: 'chat', task: 'Go' }).id))
  const stopped = new AbortController()
  const reservations = createReservations({ db: rig.db, money: rig.clock, timezone: () => 'UTC' })
  await reservations.reserve(jobs[0]!, { estimateMicros: 300_000, unrecordedMicros: 0 }, stopped.signal)
  await reservations.reserve(jobs[1]!, { estimateMicros: 600_000, unrecordedMicros: 0 }, stopped.signal)
  const waits = reservations.reserve(jobs[0]!, { estimateMicros: 300_000, unrecordedMicros: 200_000 }, stopped.signal)
  expect(reservations.held()).toBe(800_000)
  stopped.abort(new Error('stopped'))
  await expect(waits).rejects.toThrow('stopped')
})
