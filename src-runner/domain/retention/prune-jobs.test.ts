import { afterEach, beforeEach, expect, test } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { plansOf } from '../../testing/query-plans.ts'
import { openDomainRig, replyOf, type DomainRig } from '../../testing/domain-rig.ts'
import type { NewJob } from '../jobs/enqueue-job.ts'
import { readSpend } from '../spend/spend.sql.ts'
import { measureRows } from './measure.sql.ts'
import { pruneConversation, pruneJobs, START, type Place } from './prune-jobs.sql.ts'

const DAY_MS = 86_400_000

let rig: DomainRig
let agentId: string
beforeEach(() => {
  rig = openDomainRig(createHandClock(Date.UTC(2026, 0, 10, 9, 7)))
  agentId = rig.addAgent('Ada').id
})
afterEach(() => rig.close())

const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
const enqueue = (more: Partial<NewJob> = {}) =>
  write((tx) => rig.store.enqueue(tx, { agentId, channel: 'api', task: 'Look at the lilies', ...more }))

/** A job that replied once and completed. */
function done(more: Partial<NewJob> = {}, costMicros = 2_000_000) {
  return finish(enqueue(more), costMicros)
}

function finish({ id, conversationId }: { id: string; conversationId: string | null }, costMicros = 2_000_000) {
  const { claim } = write((tx) => rig.store.claim(tx, id, 1000))!
  write((tx) => rig.store.recordReply(tx, claim, replyOf('Lilies seen', { costMicros })))
  write((tx) => rig.store.settle(tx, claim, { kind: 'completed', text: 'Lilies seen' }))
  return { id, conversationId }
}

const rows = (table: string) => rig.db.connection.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number
const ids = () => rig.store.listJobs(rig.db, { limit: 100 }).jobs.map(({ id }) => id)

/** One transaction after the other, as the maintenance does it, at most `most`. */
function prune(before: number, most = Infinity): number {
  let [left, deleted] = [most, 0]
  while (left-- > 0 && write((tx) => pruneConversation(tx, { jobs: rig.store, before })));
  let after: Place | null = START
  while (after !== null && left-- > 0) {
    const from: Place = after
    const pass: ReturnType<typeof pruneJobs> = write((tx) => pruneJobs(tx, { before, now: rig.clock.now(), after: from }))
    deleted += pass.deleted
    after = pass.next
  }
  expect(rig.db.connection.pragma('foreign_key_check')).toEqual([])
  return deleted
}

test('deletes old jobs with everything that belongs to them, and keeps what was spent', () => {
  const old = done()
  const retried = finish(write((tx) => rig.store.retry(tx, old.id)))
  rig.clock.advance(40 * DAY_MS)
  const young = done()
  const before = rig.clock.now() - 30 * DAY_MS
  // Odd spans and a time zone whose days begin in the middle of UTC days read the single replies.
  const spans = [{}, { from: Date.UTC(2026, 0, 9, 18, 15), to: Date.UTC(2026, 0, 11, 18, 15) }]
  const spent = () =>
    (['day', 'agent', 'model', 'channel'] as const).flatMap((by) =>
      spans.map((span) => readSpend(rig.db, { by, timezone: 'Asia/Kathmandu', ...span })),
    )
  const spentBefore = spent()
  rig.store.listJobs(rig.db, { limit: 5, q: 'lilies' })
  expect(prune(before)).toBe(2)
  expect(ids()).toEqual([young.id])
  expect([retried.id, old.id].map((id) => rig.store.listJobs(rig.db, { limit: 5, q: 'lilies' }).jobs.some((job) => job.id === id))).toEqual(
    [false, false],
  )
  expect([rows('job_steps'), rows('job_texts'), rows('messages')]).toEqual([1, 1, 0])
  expect(spent()).toEqual(spentBefore)
  expect(spentBefore[1]!.totalUsd).toBe(4)
})

test('keeps unfinished jobs, their parents and children, and the newest job', () => {
  const waiting = enqueue()
  const parent = enqueue()
  const { claim } = write((tx) => rig.store.claim(tx, parent.id, 1000))!
  const child = done({ channel: 'delegation', parentJobId: parent.id, parentCallId: 'c1' })
  rig.clock.advance(40 * DAY_MS)
  const before = rig.clock.now() - 30 * DAY_MS
  expect(prune(before)).toBe(0)
  expect(ids()).toEqual([child.id, parent.id, waiting.id])

  write((tx) => rig.store.settle(tx, claim, { kind: 'completed', text: 'ok' }))
  rig.clock.advance(40 * DAY_MS)
  const newest = done()
  rig.clock.advance(40 * DAY_MS)
  // The child goes first, so that no child is ever without its parent, whose taints it has.
  while (prune(rig.clock.now() - 30 * DAY_MS) > 0);
  expect(ids()).toEqual([newest.id, waiting.id])
})

test('deletes a parent after its child, and all deliveries of a webhook, in one pass', () => {
  const parent = enqueue()
  const { claim } = write((tx) => rig.store.claim(tx, parent.id, 1000))!
  done({ channel: 'delegation', parentJobId: parent.id, parentCallId: 'c1' })
  rig.clock.advance(1)
  write((tx) => rig.store.settle(tx, claim, { kind: 'completed', text: 'ok' }))
  let before: number | null = null
  for (let n = 0; n < 120; n++) {
    rig.clock.advance(1)
    const { id } = done({ channel: 'webhook', delivered: { payload: Buffer.from('{}'), headers: null, before } })
    before = rig.db.prepare<{ seq: number }>('SELECT seq FROM agent_jobs WHERE id = ?').get(id)!.seq
  }
  rig.clock.advance(40 * DAY_MS)
  const young = done({ channel: 'webhook', delivered: { payload: Buffer.from('{}'), headers: null, before } })
  expect(prune(rig.clock.now() - 30 * DAY_MS)).toBe(122)
  expect(ids()).toEqual([young.id])
})

test('keeps a delivery as long as the one before it', () => {
  const waiting = enqueue({ channel: 'webhook', delivered: { payload: Buffer.from('{}'), headers: null, before: null } })
  const { seq } = rig.db.prepare<{ seq: number }>('SELECT seq FROM agent_jobs WHERE id = ?').get(waiting.id)!
  const next = done({ channel: 'webhook', delivered: { payload: Buffer.from('{}'), headers: null, before: seq } })
  rig.clock.advance(40 * DAY_MS)
  const young = done()
  expect(prune(rig.clock.now() - 30 * DAY_MS)).toBe(0)
  expect(ids()).toEqual([young.id, next.id, waiting.id])
})

test('deletes a conversation that was not used, and keeps all turns of one in use', () => {
  const unused = done({ channel: 'chat' }).conversationId!
  done({ channel: 'chat', conversation: unused })
  const used = done({ channel: 'chat' }).conversationId!
  rig.clock.advance(40 * DAY_MS)
  done({ channel: 'chat', conversation: used })
  const before = rig.clock.now() - 30 * DAY_MS
  expect(prune(before)).toBe(2)
  expect([rows('conversations'), rows('messages'), rows('agent_jobs')]).toEqual([1, 4, 2])
  expect(rig.store.listJobsOfConversation(rig.db, used, 10)).toHaveLength(2)
})

test('may stop after any transaction, and the next pass deletes the rest', () => {
  for (let i = 0; i < 4; i++) done()
  done({ channel: 'chat', conversation: done({ channel: 'chat' }).conversationId! })
  rig.clock.advance(40 * DAY_MS)
  done()
  const before = rig.clock.now() - 30 * DAY_MS
  for (let most = 1; rows('agent_jobs') > 1 && most < 20; most++) {
    prune(before, 1)
    rig.reboot()
    expect(rig.db.connection.pragma('integrity_check', { simple: true })).toBe('ok')
  }
  prune(before)
  expect([rows('agent_jobs'), rows('conversations')]).toEqual([1, 0])
})

test('measures what a pass deletes', async () => {
  done()
  done({ channel: 'chat' })
  rig.clock.advance(40 * DAY_MS)
  done({ task: 'x'.repeat(5000) })
  const before = rig.clock.now() - 30 * DAY_MS
  const { all, due } = await measureRows(rig.db, 'jobs', before)
  expect([all.count, due.count]).toEqual([3, 2])
  expect(all.bytes - due.bytes).toBeGreaterThan(5000)
  expect(prune(before)).toBe(due.count)
  expect(await measureRows(rig.db, 'deliveries', before)).toEqual({ all: { count: 0, bytes: 0 }, due: { count: 0, bytes: 0 } })
})

test('reads no table from end to end', () => {
  done()
  done({ channel: 'chat' })
  rig.clock.advance(40 * DAY_MS)
  done()
  const plans = plansOf(rig.db, () => prune(rig.clock.now() - 30 * DAY_MS))
  expect(plans.length).toBeGreaterThan(8)
  // `max(seq)` reads the last row only, and full-text tables show every access as a scan of their index.
  const scans = plans.flatMap(({ sql, plan }) =>
    plan.filter((step) => /SCAN (?!.*USING|job_search|job )/.test(step) && !/max\(seq\)/.test(sql)).map((step) => `${step} in ${sql}`),
  )
  expect(scans).toEqual([])
})
