import { afterEach, beforeEach, expect, it } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
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
