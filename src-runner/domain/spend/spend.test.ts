import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import { SpendRow, type SpendBy } from '../../contract/spend.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { openDomainRig, replyOf, type DomainRig } from '../../testing/domain-rig.ts'
import type { Claim } from '../jobs/claim-job.ts'
import { readSpend } from './spend.sql.ts'

let rig: DomainRig
let agents: { ada: string; bob: string }
const START = Date.UTC(2026, 2, 28, 12)

beforeEach(() => {
  rig = openDomainRig(createHandClock(START))
  agents = { ada: rig.addAgent('Ada').id, bob: rig.addAgent('Bob').id }
})
afterEach(() => rig.close())

const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
function claimOf(agentId: string, channel: 'api' | 'chat' = 'api'): Claim {
  const { id } = write((tx) => rig.store.enqueue(tx, { agentId, channel, task: 'x' }))
  return write((tx) => rig.store.claim(tx, id, 1000))!.claim
}
const spend = (held: Claim, usd: number, more = {}) =>
  void write((tx) => rig.store.recordReply(tx, held, replyOf('x', { costMicros: Math.round(usd * 1e6), ...more })))
const read = (by: SpendBy, more: { from?: number; to?: number; timezone?: string } = {}) =>
  readSpend(rig.db, { by, timezone: 'UTC', ...more })
const table = (by: SpendBy, more = {}) => read(by, more).rows.map((row) => [row.label, row.costUsd, row.jobs])

test('returns no rows without spend', () => {
  expect(read('day')).toEqual({ rows: [], totalUsd: 0, unpricedCalls: 0 })
})

test('groups the same spend by agent, channel, model or day', () => {
  const first = claimOf(agents.ada)
  spend(first, 1)
  rig.clock.advance(13 * 3_600_000)
  spend(first, 0.5, { model: { providerId: 'p', model: 'big' } })
  spend(claimOf(agents.bob, 'chat'), 0.25, { priced: false })
  expect(table('agent')).toEqual([
    ['Ada', 1.5, 1],
    ['Bob', 0.25, 1],
  ])
  expect(table('channel')).toEqual([
    ['api', 1.5, 1],
    ['chat', 0.25, 1],
  ])
  expect(table('model')).toEqual([
    ['demo', 1.25, 2],
    ['big', 0.5, 1],
  ])
  expect(table('day')).toEqual([
    ['2026-03-28', 1, 1],
    ['2026-03-29', 0.75, 1],
  ])
  expect(read('model').rows.map((row) => row.key)).toEqual(['demo/demo', 'p/big'])
  expect(read('day')).toMatchObject({ totalUsd: 1.75, unpricedCalls: 1 })
  expect(read('agent').rows[1]).toEqual({
    key: agents.bob,
    label: 'Bob',
    costUsd: 0.25,
    inputTokens: 100,
    outputTokens: 20,
    cachedTokens: 10,
    jobs: 1,
    unpricedCalls: 1,
  })
  for (const row of read('agent').rows) expect(SpendRow.parse(row)).toEqual(row)
})

test('includes `from` and excludes `to`, to the millisecond', () => {
  const held = claimOf(agents.ada)
  for (let i = 0; i < 4; i++) {
    rig.clock.advance(700_001)
    spend(held, 1)
  }
  const at = (n: number) => START + n * 700_001
  expect(read('day', { from: at(2) }).totalUsd).toBe(3)
  expect(read('day', { from: at(2) + 1 }).totalUsd).toBe(2)
  expect(read('day', { from: at(2), to: at(4) }).totalUsd).toBe(2)
  expect(read('day', { from: at(2), to: at(4) + 1 }).totalUsd).toBe(3)
  expect(read('day', { from: at(2), to: at(2) }).totalUsd).toBe(0)
  expect(read('day', { from: at(2), to: at(2) + 1 }).rows[0]).toMatchObject({ costUsd: 1, jobs: 0 })
})

test('equals the sum of the single replies for any span', () => {
  const replies: { at: number; agentId: string; model: string; micros: number }[] = []
  const held = [claimOf(agents.ada), claimOf(agents.bob)]
  for (let i = 0; i < 120; i++) {
    rig.clock.advance(((i * 7919) % 50) * 60_000 + i)
    const agentId = i % 3 === 0 ? agents.bob : agents.ada
    const model = i % 5 === 0 ? 'b' : 'demo'
    spend(held[i % 3 === 0 ? 1 : 0]!, i / 1e6, { model: { providerId: 'demo', model } })
    replies.push({ at: rig.clock.now(), agentId, model, micros: i })
  }
  const end = rig.clock.now()
  const moment = fc.integer({ min: START - 1_000_000, max: end + 1_000_000 })
  fc.assert(
    fc.property(
      moment,
      moment,
      fc.constantFrom('agent', 'model', 'day' as SpendBy),
      fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/New_York'),
      (from, to, by, timezone) => {
        const expected = new Map<string, number>()
        for (const reply of replies) {
          if (reply.at < from || reply.at >= to) continue
          const key = by === 'agent' ? reply.agentId : by === 'model' ? `demo/${reply.model}` : dayIn(timezone, reply.at)
          expected.set(key, (expected.get(key) ?? 0) + reply.micros)
        }
        const found = new Map(readSpend(rig.db, { by, from, to, timezone }).rows.map((row) => [row.key, Math.round(row.costUsd * 1e6)]))
        expect(found).toEqual(expected)
      },
    ),
    { numRuns: 300 },
  )
})

const dayIn = (timeZone: string, at: number) => new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(at)

test('rejects an unknown time zone', () => {
  expect(() => read('day', { timezone: 'Mars/Olympus' })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
})
