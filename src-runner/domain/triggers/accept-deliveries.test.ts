import { afterEach, beforeEach, expect, test } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { createMachineTime } from '../../platform/time/machine-time.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { listDeliveries } from './deliveries.ts'
import { createDeliveryLog } from './delivery-log.ts'
import { acceptDeliveries, type AcceptResult } from './accept-deliveries.ts'
import { readIndexedTrigger, type IndexedTrigger } from './trigger-index.ts'
import { createTrigger, getTrigger, rotateSecret, setTriggerStatus } from './triggers.ts'

let rig: DomainRig
let agentId: string
beforeEach(() => {
  rig = openDomainRig()
  agentId = rig.addAgent('Ada').id
})
afterEach(() => rig.close())

const time = () => createMachineTime(rig.clock, null)

function addTrigger(name: string): IndexedTrigger {
  const fields = {
    taskTemplate: 'Look.',
    notifyOnSuccess: false,
    notifyVia: 'auto',
    signature: null,
    dedupe: true,
    requirePlaceholders: false,
  } as const
  const { trigger } = transact(rig.db, (tx) => createTrigger(tx, { ...rig, time: time() }, rig.ids.next(), { ...fields, name, agentId }))
  return readIndexedTrigger(rig.db, trigger.id)!
}

/** All in one transaction. */
function take(...arrived: { trigger: IndexedTrigger; senderId?: string }[]): AcceptResult[] {
  const deps = { jobs: rig.store, ids: rig.ids, time: time(), deliveryLog: createDeliveryLog(rig) }
  return transact(rig.db, (tx) =>
    acceptDeliveries(
      tx,
      deps,
      arrived.map(({ trigger, senderId = null }, i) => ({
        trigger,
        delivery: {
          payload: Buffer.from(`{"n":${i}}`),
          headers: null,
          senderId,
          eventName: null,
          task: { text: `Look at ${i}.`, wrapper: null },
          missing: [],
          receivedAt: i + 1,
        },
      })),
    ),
  )
}

const outcomes = (taken: readonly AcceptResult[]) => taken.map(({ outcome }) => outcome)
const inboxOf = ({ id }: IndexedTrigger) => listDeliveries(rig.db, id, { limit: 100 }).deliveries

test('accepts deliveries together like one by one, in their order', () => {
  const [builds, shop] = [addTrigger('Builds'), addTrigger('Shop')]
  const arrived = Array.from({ length: 40 }, (_, i) => ({ trigger: i % 2 === 0 ? builds : shop, senderId: `s${i}` }))
  const taken = take(...arrived)
  expect(outcomes(taken)).toEqual(Array(40).fill('accepted'))
  expect(taken.map((one) => 'count' in one && one.count)).toEqual(arrived.map((_, i) => Math.floor(i / 2) + 1))
  const jobs = taken.map((one) => ('jobId' in one ? one.jobId : ''))
  for (const [i, jobId] of jobs.entries())
    expect(rig.store.getJob(rig.db, jobId)).toMatchObject({ plainTask: `Look at ${i}.`, status: 'pending' })
  expect(inboxOf(shop).map(({ jobId, id, bytes }) => [jobId, id, bytes])).toEqual(
    jobs.flatMap((jobId, i) => (i % 2 === 1 ? [[jobId, jobId, `{"n":${i}}`.length]] : [])).reverse(),
  )
  expect(getTrigger(rig.db, time(), shop.id)).toMatchObject({ triggerCount: 20, lastTriggeredAt: 40 })
})

test('applies the limit and finds duplicates within a batch', () => {
  const trigger = addTrigger('Builds')
  const taken = take(
    ...Array.from({ length: 28 }, () => ({ trigger })),
    { trigger, senderId: 'a' },
    { trigger, senderId: 'a' },
    { trigger },
  )
  expect(outcomes(taken.slice(28))).toEqual(['accepted', 'duplicate', 'accepted'])
  expect(taken[29]).toEqual({ outcome: 'duplicate', jobId: (taken[28] as { jobId: string }).jobId })
  expect(outcomes(take({ trigger, senderId: 'b' }, { trigger, senderId: 'a' }))).toEqual(['rate_limited', 'duplicate'])
  expect(inboxOf(trigger)).toHaveLength(30)
  expect(rig.store.countJobs(rig.db).pending).toBe(30)
})

test('checks the trigger again in the transaction', () => {
  const [rotated, paused] = [addTrigger('Rotated'), addTrigger('Paused')]
  transact(rig.db, (tx) => void rotateSecret(tx, time(), rotated.id))
  transact(rig.db, (tx) => void setTriggerStatus(tx, time(), paused.id, 'paused'))
  const gone = { ...rotated, seq: 99 }
  expect(outcomes(take({ trigger: rotated }, { trigger: paused }, { trigger: gone }))).toEqual(['wrong_secret', 'paused', 'wrong_secret'])
  expect(outcomes(take({ trigger: readIndexedTrigger(rig.db, rotated.id)! }, { trigger: rotated }))).toEqual(['accepted', 'wrong_secret'])
  expect(rig.store.countJobs(rig.db).pending).toBe(1)
})

test('accepts none if one job cannot be made', () => {
  const [trigger, other] = [addTrigger('Builds'), addTrigger('Shop')]
  rig.db.prepare('UPDATE agents SET deleted_at = 1, is_default = 0 WHERE id = ?').run(agentId)
  expect(() => take({ trigger, senderId: 'a' }, { trigger: other })).toThrow(expect.objectContaining({ code: 'agent_not_found' }))
  rig.db.prepare('UPDATE agents SET deleted_at = NULL WHERE id = ?').run(agentId)
  expect(outcomes(take({ trigger, senderId: 'a' }))).toEqual(['accepted'])
  expect(getTrigger(rig.db, time(), trigger.id).triggerCount).toBe(1)
})
