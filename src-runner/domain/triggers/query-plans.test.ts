import { afterAll, beforeAll, expect, test } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { createMachineTime } from '../../platform/time/machine-time.ts'
import { plansOf } from '../../testing/query-plans.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { getDelivery, listDeliveries } from './deliveries.ts'
import { createDeliveryLog } from './delivery-log.ts'
import { acceptDeliveries } from './accept-deliveries.ts'
import { readIndexedTrigger, type IndexedTrigger } from './trigger-index.ts'
import { createTrigger, listTriggers } from './triggers.ts'
import { pruneSenderIds } from './triggers.sql.ts'

let rig: DomainRig
let agentId: string
let trigger: IndexedTrigger

beforeAll(() => {
  rig = openDomainRig()
  agentId = rig.addAgent('Ada').id
  const fields = {
    name: 'Builds',
    taskTemplate: 'Look.',
    notifyOnSuccess: false,
    notifyVia: 'auto',
    signature: null,
    dedupe: true,
    requirePlaceholders: false,
  } as const
  const { trigger: made } = transact(rig.db, (tx) => createTrigger(tx, { ...rig, time: timeOf() }, rig.ids.next(), { ...fields, agentId }))
  trigger = readIndexedTrigger(rig.db, made.id)!
})
afterAll(() => rig.close())

const timeOf = () => createMachineTime(rig.clock, null)

/** Also of statements in transactions. */
function stepsOf(act: () => void): string[] {
  const commits = rig.db.commits as Pick<typeof rig.db.commits, 'runNow'>
  const runNow = rig.db.commits.runNow.bind(rig.db.commits)
  commits.runNow = (work) => runNow((tx) => work({ ...tx, prepare: (sql) => rig.db.prepare(sql) }))
  try {
    return plansOf(rig.db, act).flatMap(({ plan }) => plan)
  } finally {
    commits.runNow = runNow
  }
}

const deliver = () =>
  transact(rig.db, (tx) =>
    acceptDeliveries(tx, { jobs: rig.store, ids: rig.ids, time: timeOf(), deliveryLog: createDeliveryLog(rig) }, [
      {
        trigger,
        delivery: {
          payload: Buffer.from('{}'),
          headers: null,
          senderId: rig.ids.next(),
          eventName: null,
          task: { text: 'Look.', wrapper: null },
          missing: [],
          receivedAt: 1,
        },
      },
    ]),
  )

test.each<[string, () => void]>([
  ['a delivery is taken', () => void deliver()],
  ['webhooks are listed', () => void listTriggers(rig.db, timeOf(), { limit: 50 })],
  ['the webhooks of an agent are listed', () => void listTriggers(rig.db, timeOf(), { agentId, limit: 50 })],
  ['an inbox is listed', () => void listDeliveries(rig.db, trigger.id, { limit: 50 })],
  [
    'a delivery is read',
    () => {
      const { deliveries } = listDeliveries(rig.db, trigger.id, { limit: 1 })
      getDelivery(rig.db, deliveries[0]!.id)
    },
  ],
  [
    'refusals are written and an inbox is cut back',
    () => {
      const deliveryLog = createDeliveryLog(rig)
      deliveryLog.addRefusal(trigger, { outcome: 'wrong_secret', status: 404, receivedAt: 1 })
      deliveryLog.trimLater(trigger.seq)
      deliveryLog.flush()
    },
  ],
  ['old ids are forgotten', () => void transact(rig.db, (tx) => pruneSenderIds(tx, 1))],
])('scans and sorts nothing when %s', (_what, act) => {
  deliver()
  const steps = stepsOf(act)
  expect(steps.length).toBeGreaterThan(0)
  // The chain of an inbox is read only as far as the inbox goes.
  expect(steps.filter((detail) => /^SCAN (?!chain)|TEMP B-TREE/.test(detail))).toEqual([])
})
