import { afterEach, beforeEach, expect, test, vi, type MockInstance } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import type { AppError } from '../../lib/errors.ts'
import { createMachineTime } from '../../platform/time/machine-time.ts'
import { listDeliveries } from '../../domain/triggers/deliveries.ts'
import { createDeliveryLog } from '../../domain/triggers/delivery-log.ts'
import { acceptDeliveries, type AcceptResult } from '../../domain/triggers/accept-deliveries.ts'
import { readIndexedTrigger, type IndexedTrigger } from '../../domain/triggers/trigger-index.ts'
import { createTrigger } from '../../domain/triggers/triggers.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { createGroupCommit } from './deliveries.ts'

let rig: DomainRig
let commit: ReturnType<typeof createGroupCommit>
let trigger: IndexedTrigger
let commits: MockInstance
beforeEach(() => {
  rig = openDomainRig()
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
  trigger = readIndexedTrigger(rig.db, made.trigger.id)!
  const taking = { jobs: rig.store, ids: rig.ids, time, deliveryLog: createDeliveryLog(rig) }
  commit = createGroupCommit(rig.db, (tx, arrived) => acceptDeliveries(tx, taking, arrived))
  commits = vi.spyOn(rig.db.commits, 'runSoon')
})
afterEach(() => rig.close())

function take(): Promise<AcceptResult> {
  const delivery = { payload: Buffer.from('{}'), headers: null, senderId: null, eventName: null, receivedAt: 1 }
  return commit({ trigger, delivery: { ...delivery, task: { text: 'Look.', wrapper: null }, missing: [] } })
}

const jobsOf = (taken: readonly AcceptResult[]) => taken.map((one) => ('jobId' in one ? one.jobId : one.outcome))
const inbox = () => listDeliveries(rig.db, trigger.id, { limit: 100 }).deliveries.map(({ id }) => id)

test('deliveries of one turn share a commit', async () => {
  const alone = [await take(), await take()]
  commits.mockClear()
  const together = await Promise.all([take(), take(), take()])
  expect(commits).toHaveBeenCalledTimes(1)
  expect(inbox()).toEqual(jobsOf([...alone, ...together]).reverse())
})

test('a delivery that fails rejects and stores nothing', async () => {
  const taken = [await take()]
  rig.db.prepare('UPDATE agents SET deleted_at = 1, is_default = 0').run()
  const failed = await Promise.allSettled([take(), take()])
  expect(failed.map((one) => (one.status === 'rejected' ? (one.reason as AppError).code : one.status))).toEqual([
    'agent_not_found',
    'agent_not_found',
  ])
  expect(inbox()).toEqual(jobsOf(taken))
  rig.db.prepare('UPDATE agents SET deleted_at = NULL').run()
  await expect(take()).resolves.toMatchObject({ outcome: 'accepted', count: 2 })
})
