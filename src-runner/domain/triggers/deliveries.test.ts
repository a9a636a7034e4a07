import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitSoon, transact, type Tx } from '../../platform/db/database.ts'
import { createMachineTime } from '../../platform/time/machine-time.ts'
import { INBOX_KEEPS, type DeliveryOutcome } from '../../contract/triggers.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { getDelivery, getReplayable, listDeliveries } from './deliveries.ts'
import { createDeliveryLog, type DeliveryLog, type Refusal } from './delivery-log.ts'
import { acceptManualDelivery } from './accept-deliveries.ts'
import { readIndexedTrigger, type IndexedTrigger } from './trigger-index.ts'
import { createTrigger, deleteTrigger, getTrigger } from './triggers.ts'

let rig: DomainRig
let deliveryLog: DeliveryLog
let trigger: IndexedTrigger
beforeEach(() => {
  rig = openDomainRig()
  deliveryLog = createDeliveryLog(rig)
  trigger = addTrigger('Builds')
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
  const agentId = rig.addAgent(`Agent of ${name}`).id
  const made = transact(rig.db, (tx) => createTrigger(tx, { ...rig, time: time() }, rig.ids.next(), { ...fields, name, agentId }))
  return readIndexedTrigger(rig.db, made.trigger.id)!
}

/** A manual delivery, which does not count. Returns the id of the job. */
function take(to = trigger, more: { replayOfId?: string; senderId?: string } = {}): string {
  const taken = transact(rig.db, (tx) => takeIn(tx, to, more))
  deliveryLog.trimLater(to.seq)
  return 'jobId' in taken ? taken.jobId : ''
}

function takeIn(
  tx: Tx,
  to = trigger,
  { replayOfId = null, senderId = null }: { replayOfId?: string | null; senderId?: string | null } = {},
) {
  return acceptManualDelivery(tx, { jobs: rig.store, ids: rig.ids, time: time(), deliveryLog }, to, {
    kind: replayOfId === null ? 'test' : 'replay',
    replayOfId,
    senderId,
    eventName: null,
    receivedAt: rig.clock.now(),
    payload: Buffer.from('{"n":1}'),
    headers: { 'user-agent': 'Shop' },
    task: { text: 'Look at 1.', wrapper: null },
    missing: [],
  })
}

function refuse(outcome: Refusal['outcome'], more: Partial<Refusal> = {}): void {
  deliveryLog.addRefusal(trigger, { outcome, status: 404, receivedAt: rig.clock.now(), ...more })
}

const list = (more: { cursor?: string; limit?: number } = {}, of = trigger) => listDeliveries(rig.db, of.id, { limit: 300, ...more })
const outcomes = (): [DeliveryOutcome, number][] => list().deliveries.map(({ outcome, times }) => [outcome, times])
const lastOutcome = () => getTrigger(rig.db, time(), trigger.id).lastOutcome

test('lists refusals between deliveries in order of arrival, with equal ones counted', () => {
  expect(lastOutcome()).toBeNull()
  refuse('paused')
  deliveryLog.flush()
  expect(lastOutcome()).toBe('paused')
  take()
  expect(lastOutcome()).toBe('accepted')
  refuse('wrong_secret')
  deliveryLog.flush()
  refuse('wrong_secret')
  refuse('rate_limited')
  take()
  refuse('rate_limited')
  deliveryLog.flush()
  refuse('rate_limited')
  deliveryLog.flush()
  expect(outcomes()).toEqual([
    ['rate_limited', 2],
    ['accepted', 1],
    ['rate_limited', 1],
    ['wrong_secret', 2],
    ['accepted', 1],
    ['paused', 1],
  ])
  expect(lastOutcome()).toBe('rate_limited')
})

test('lists each delivery once in the same order for pages of any size', () => {
  for (let i = 0; i < 40; i++) {
    if (i % 3 === 0) take()
    else refuse(i % 2 === 0 ? 'wrong_secret' : 'invalid_json')
    if (i % 5 !== 0) deliveryLog.flush()
  }
  deliveryLog.flush()
  const whole = list().deliveries
  expect(whole.length).toBeGreaterThan(25)
  for (const limit of [1, 2, 3, 7, whole.length]) {
    const read: typeof whole = []
    for (let cursor: string | undefined; ;) {
      const page = list({ limit, cursor })
      read.push(...page.deliveries)
      if (page.nextCursor === null) break
      cursor = page.nextCursor
    }
    expect(read).toEqual(whole)
  }
})

test('keeps positions when a delivery arrives between two pages', () => {
  const [a, b, c] = [take(), take(), take()]
  const first = list({ limit: 1 })
  take()
  refuse('paused')
  deliveryLog.flush()
  const rest = list({ cursor: first.nextCursor! })
  expect([...first.deliveries, ...rest.deliveries].map(({ id }) => id)).toEqual([c, b, a])
})

test('does not list retries, nor deliveries of another webhook', () => {
  const other = addTrigger('Shop')
  const [mine, theirs] = [take(), take(other)]
  transact(rig.db, (tx) => void rig.store.cancel(tx, mine))
  const retry = transact(rig.db, (tx) => rig.store.retry(tx, mine))
  expect(retry).toMatchObject({ plainTask: 'Look at 1.', triggerId: trigger.id, retryOfJobId: mine })
  expect(list().deliveries.map(({ id }) => id)).toEqual([mine])
  expect(list({}, other).deliveries.map(({ id }) => id)).toEqual([theirs])
  expect(() => getDelivery(rig.db, retry.id)).toThrow(expect.objectContaining({ code: 'delivery_not_found' }))
})

test('returns a delivery with its payload, headers and original', () => {
  const first = take(trigger, { senderId: 's1' })
  const again = take(trigger, { replayOfId: first })
  expect(getDelivery(rig.db, first)).toMatchObject({
    delivery: {
      id: first,
      jobId: first,
      outcome: 'accepted',
      status: 202,
      times: 1,
      kind: 'test',
      senderId: 's1',
      bytes: 7,
      replayOfId: null,
    },
    payload: '{"n":1}',
    headers: { 'user-agent': 'Shop' },
    prompt: expect.stringMatching(/^A webhook started this job[^]*Look at 1\.$/),
    plainPrompt: 'Look at 1.',
  })
  expect(getDelivery(rig.db, again).delivery).toMatchObject({ kind: 'replay', replayOfId: first })
  refuse('invalid_json', { payload: Buffer.from('{'), headers: { 'user-agent': 'Odd' }, bytes: 1 })
  refuse('duplicate', { status: 202, jobId: first })
  deliveryLog.flush()
  const [repeat, odd] = list().deliveries
  expect(repeat).toMatchObject({ outcome: 'duplicate', jobId: first })
  expect(getDelivery(rig.db, odd!.id)).toMatchObject({ payload: '{', headers: { 'user-agent': 'Odd' }, prompt: null, plainPrompt: null })
  expect(getReplayable(rig.db, odd!.id)).toMatchObject({ triggerId: trigger.id, payload: Buffer.from('{') })
  expect(() => getReplayable(rig.db, repeat!.id)).toThrow(expect.objectContaining({ code: 'delivery_has_no_payload' }))
})

test('does not note what repeats a delivery whose job is deleted, and goes on', () => {
  const deleted = rig.ids.next()
  refuse('duplicate', { status: 202, jobId: deleted })
  refuse('wrong_secret')
  deliveryLog.flush()
  refuse('duplicate', { status: 202, jobId: deleted })
  take()
  expect(outcomes()).toEqual([
    ['accepted', 1],
    ['wrong_secret', 1],
  ])
  expect(rig.logged).toEqual([])
})

test('deletes the bodies of old deliveries, whose jobs stay', () => {
  const jobs = Array.from({ length: INBOX_KEEPS + 30 }, (_, i) => {
    if (i % 40 === 0) deliveryLog.flush()
    return take()
  })
  deliveryLog.flush()
  const kept = list().deliveries.map(({ id }) => id)
  expect(kept).toEqual(jobs.slice(-INBOX_KEEPS).toReversed())
  expect(rig.db.prepare('SELECT count(*) AS n FROM job_texts WHERE payload IS NOT NULL').get()).toEqual({ n: INBOX_KEEPS })
  expect(() => getDelivery(rig.db, jobs[29]!)).toThrow(expect.objectContaining({ code: 'delivery_not_found' }))
  expect(getDelivery(rig.db, jobs[30]!).payload).toBe('{"n":1}')
  expect(rig.store.getJob(rig.db, jobs[0]!).plainTask).toBe('Look at 1.')
})

test('keeps deliveries during a flood of refusals', () => {
  const job = take()
  for (let i = 0; i < 200; i++) {
    refuse(i % 2 === 0 ? 'wrong_secret' : 'paused')
    deliveryLog.flush()
  }
  const { deliveries } = list()
  expect(deliveries).toHaveLength(51)
  expect(deliveries.at(-1)!.id).toBe(job)
})

const payloadsOf = (outcome: DeliveryOutcome) =>
  list()
    .deliveries.filter((delivery) => delivery.outcome === outcome)
    .map(({ id, times }) => `${getDelivery(rig.db, id).payload} ${times}`)

test.each([
  ['at once', () => {}],
  ['one after the other', () => deliveryLog.flush()],
])('lists each payload of refused deliveries once that came %s', (_how, flush) => {
  for (const payload of ['A', 'A', 'B', 'C']) {
    refuse('placeholder_missing', { payload: Buffer.from(payload), bytes: 1 })
    flush()
  }
  deliveryLog.flush()
  expect(payloadsOf('placeholder_missing')).toEqual(['C 1', 'B 1', 'A 2'])
  for (const { id } of list().deliveries) expect(getReplayable(rig.db, id).payload).toHaveLength(1)
})

test('keeps the last 200 refused deliveries with a payload, whatever strangers send', () => {
  for (let i = 0; i < INBOX_KEEPS + 30; i++) refuse('job_creation_failed', { payload: Buffer.from(String(i)) })
  for (let i = 0; i < 100; i++) {
    refuse(i % 2 === 0 ? 'wrong_secret' : 'bad_signature')
    deliveryLog.flush()
  }
  expect(payloadsOf('job_creation_failed')).toEqual(Array.from({ length: INBOX_KEEPS }, (_, i) => `${INBOX_KEEPS + 29 - i} 1`))
  expect(list().deliveries).toHaveLength(INBOX_KEEPS + 50)
})

test('holds few payloads in memory that cannot be written', () => {
  rig.db.connection.exec("CREATE TRIGGER full BEFORE INSERT ON webhook_refusals BEGIN SELECT raise(ABORT, 'no room'); END")
  for (let i = 0; i < 40; i++) refuse('job_creation_failed', { payload: Buffer.alloc(1_000_000, String(i)) })
  rig.db.connection.exec('DROP TRIGGER full')
  deliveryLog.flush()
  const { deliveries } = list()
  expect(deliveries).toHaveLength(17)
  expect(deliveries.reduce((sum, { times }) => sum + times, 0)).toBe(40)
})

test('deletes the inbox with the webhook, and keeps the jobs', () => {
  const other = addTrigger('Shop')
  const [mine, theirs] = [take(), take(other)]
  refuse('paused')
  deliveryLog.flush()
  transact(rig.db, (tx) => deleteTrigger(tx, trigger.id))
  expect(() => list()).toThrow(expect.objectContaining({ code: 'trigger_not_found' }))
  expect(() => getDelivery(rig.db, mine)).toThrow(expect.objectContaining({ code: 'delivery_not_found' }))
  expect(rig.store.getJob(rig.db, mine)).toMatchObject({ plainTask: 'Look at 1.', triggerId: trigger.id })
  expect(getDelivery(rig.db, theirs).payload).toBe('{"n":1}')
  expect(rig.db.prepare('SELECT count(*) AS n FROM webhook_refusals').get()).toEqual({ n: 0 })
})

test('writes a refusal once before the deliveries of a shared commit', async () => {
  refuse('wrong_secret')
  await Promise.all([1, 2, 3].map(() => commitSoon(rig.db, (tx) => void takeIn(tx))))
  deliveryLog.flush()
  expect(outcomes()).toEqual([...Array.from({ length: 3 }, () => ['accepted', 1]), ['wrong_secret', 1]])
})

test('trims an inbox after many deliveries at once', () => {
  // This does not test a power cut.
  rig.db.connection.pragma('synchronous = OFF')
  const bodies = () => rig.db.prepare<{ n: number }>('SELECT count(*) AS n FROM job_texts WHERE payload IS NOT NULL').get()!.n
  for (let i = 0; i < 2; i++) {
    for (let j = 0; j < 2 * INBOX_KEEPS; j++) take()
    deliveryLog.flush()
    expect(bodies()).toBe(INBOX_KEEPS)
    expect(outcomes()).toHaveLength(INBOX_KEEPS)
  }
  for (let j = 0; j < 2 * INBOX_KEEPS; j++) take()
  transact(rig.db, (tx) => deleteTrigger(tx, trigger.id))
  expect(bodies()).toBe(0)
})

test('writes no refusal for a deleted webhook', () => {
  refuse('wrong_secret')
  transact(rig.db, (tx) => deleteTrigger(tx, trigger.id))
  deliveryLog.flush()
  expect(rig.db.prepare('SELECT count(*) AS n FROM webhook_refusals').get()).toEqual({ n: 0 })
})
