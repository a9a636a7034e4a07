import { afterEach, beforeEach, expect, test, vi, type MockInstance } from 'vitest'
import { transact } from '../../base/db/transact.ts'
import { createMachineTime } from '../../base/time/machine-time.ts'
import { listDeliveries } from '../../records/triggers/deliveries.ts'
import { createInbox } from '../../records/triggers/inbox.ts'
import type { Taken } from '../../records/triggers/taking.ts'
import { readKnownTrigger, type KnownTrigger } from '../../records/triggers/trigger-index.ts'
import { createTrigger } from '../../records/triggers/triggers.ts'
import { openRecordsRig, type RecordsRig } from '../../testing/records-rig.ts'
import { createDeliveryBatches, type DeliveryBatches } from './delivery-batches.ts'

let rig: RecordsRig
let batches: DeliveryBatches
let trigger: KnownTrigger
/** What waits for the end of the turn, to share a commit. */
let shared: MockInstance
beforeEach(() => {
  rig = openRecordsRig()
  const time = createMachineTime(rig.clock, null)
  const { id: agentId } = rig.addAgent('Ada')
  const fields = {
    name: 'Builds',
    taskTemplate: 'Look.',
    notifyOnSuccess: false,
    notifyVia: 'auto',
    signature: null,
    dedupe: false,
    requirePlaceholders: false,
  } as const
  const made = transact(rig.db, (tx) => createTrigger(tx, { ...rig, time }, rig.ids.next(), { ...fields, agentId }))
  trigger = readKnownTrigger(rig.db, made.trigger.id)!
  batches = createDeliveryBatches({ db: rig.db, jobs: rig.store, ids: rig.ids, time, inbox: createInbox(rig) })
  shared = vi.spyOn(rig.db.commits, 'runSoon')
})
afterEach(() => rig.close())

function take(): Promise<Taken> {
  return new Promise((taken, failed) => {
    const delivery = { payload: Buffer.from('{}'), headers: null, senderId: null, eventName: null, receivedAt: 1 }
    batches.take(trigger, { ...delivery, task: { text: 'Look.', envelope: null }, missing: [] }, { taken, failed })
  })
}

/** Each in a turn of its own. */
async function takeOneByOne(count: number): Promise<Taken[]> {
  const taken: Taken[] = []
  for (let i = 0; i < count; i++) {
    taken.push(await take())
    await new Promise((resolve) => setImmediate(resolve))
  }
  return taken
}

const jobsOf = (taken: readonly Taken[]) => taken.map((one) => ('jobId' in one ? one.jobId : one.outcome))
const inbox = () => listDeliveries(rig.db, trigger.id, { limit: 100 }).deliveries.map(({ id }) => id)

test('while they come one by one, they stop waiting for company', async () => {
  const taken = await takeOneByOne(20)
  expect(shared).toHaveBeenCalledTimes(8)
  expect(inbox()).toEqual(jobsOf(taken).reverse())
})

test('those of one turn share a commit, also after many that came alone', async () => {
  const alone = await takeOneByOne(10)
  shared.mockClear()
  const together = await Promise.all([take(), take(), take()])
  expect(shared).toHaveBeenCalledTimes(1)
  expect(inbox()).toEqual([...jobsOf(alone), ...jobsOf(together)].reverse())
})

test('one that comes in the turn of one that was taken at once has the next ones wait again', async () => {
  await takeOneByOne(10)
  shared.mockClear()
  await take()
  expect(shared).not.toHaveBeenCalled()
  await take()
  await takeOneByOne(7)
  expect(shared).toHaveBeenCalledTimes(8)
  expect(new Set(inbox()).size).toBe(19)
})

test('one that is taken at once and fails says so, and nothing of it is there', async () => {
  const taken = await takeOneByOne(10)
  rig.db.prepare('UPDATE agents SET deleted_at = 1, is_default = 0').run()
  await expect(take()).rejects.toMatchObject({ code: 'agent_not_found' })
  expect(inbox()).toEqual(jobsOf(taken).reverse())
  rig.db.prepare('UPDATE agents SET deleted_at = NULL').run()
  await expect(take()).resolves.toMatchObject({ outcome: 'accepted', count: 11 })
})
