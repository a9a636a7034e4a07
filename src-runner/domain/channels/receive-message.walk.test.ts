import fc from 'fast-check'
import { expect, test } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { findEventBounds, listEventsAfter } from '../../platform/events/event-log.sql.ts'
import { openDomainRig } from '../../testing/domain-rig.ts'
import { walkRuns } from '../../testing/walk-runs.ts'
import { createApprovals } from '../approvals/approvals.ts'
import { findConnectable, insertChannel } from './channels.ts'
import { findPersonByExternalId, listPeople, MAX_REQUESTS, MAX_REQUESTS_WITH_CODE } from './people.ts'
import { decideOnPerson, receiveMessage } from './receive-message.ts'
import { pairingCodeOf } from './pairing-code.ts'

type Role = 'owner' | 'allowed' | 'refused'
type Step =
  | { do: 'write'; who: number; forwarded: boolean; replyTo: string | null }
  | { do: 'command'; who: number; text: string }
  | { do: 'again' }
  | { do: 'decide'; who: number; role: Role }
  | { do: 'work' }
  | { do: 'wait'; days: number }
  | { do: 'wait_minutes'; minutes: number }
  | { do: 'flood'; from: number; count: number; seconds: number }
  | { do: 'code'; who: number; form: (code: string) => string }

const PEOPLE = 2
const who = fc.nat(PEOPLE - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('write' as const), who, forwarded: fc.boolean(), replyTo: fc.constantFrom(null, '1', 'x') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('command' as const),
      who,
      text: fc.constantFrom('/new', '/stop', '/help', '/start x', 'approve 7F3K'),
    }),
  },
  { weight: 5, arbitrary: fc.constant({ do: 'again' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('decide' as const), who, role: fc.constantFrom<Role>('owner', 'allowed', 'refused') }),
  },
  { weight: 3, arbitrary: fc.constant({ do: 'work' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), days: fc.constantFrom(1, 8) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait_minutes' as const), minutes: fc.constantFrom(1, 11) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('flood' as const),
      from: fc.constantFrom(100, 120, 200),
      count: fc.constantFrom(10, 60),
      seconds: fc.constantFrom(0, 20, 90),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('code' as const),
      who,
      form: fc.constantFrom<(code: string) => string>(
        (code) => code,
        (code) => ` ${code.toLowerCase()}`,
        (code) => `/start ${code}`,
      ),
    }),
  },
)

/**
 * Each message of a person with access makes one job with their role at that moment. Text of other people is stored nowhere. There is
 * at most one owner. The request list has each account once, includes senders of the code, and decisions are kept.
 */
test('keeps every promise in a random walk of messages, roles and crashes', () => {
  const rig = openDomainRig()
  let runs = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
      const run = ++runs
      const agent = rig.addAgent('Ada')
      const firstEvent = findEventBounds(rig.db).newest
      try {
        const deps = { ...rig, jobs: rig.store, approvals: createApprovals({ ...rig, jobs: rig.store }) }
        const channel = { id: rig.ids.next(), agentId: agent.id, kind: 'telegram' as const }
        const account = { accountId: String(run), name: '@bot', link: null }
        transact(rig.db, (tx) => insertChannel(tx, rig, { ...channel, account, baseUrl: null }))
        let position = 0
        let last: Parameters<typeof receiveMessage>[3] | null = null
        const expected: { token: string; fromOwner: boolean }[] = []
        const silenced: string[] = []
        /** The last decision about each person. */
        const decided = new Map<string, Role>()

        const receive = (message: Parameters<typeof receiveMessage>[3]) => {
          last = message
          transact(rig.db, (tx) => receiveMessage(tx, deps, channel, message, String(++position)))
        }
        const messageFrom = (person: number, text: string, forwardedFrom: string | null, replyTo: string | null) => ({
          externalId: `m${position + 1}`,
          sender: { externalId: String(person), chatId: String(person), displayName: `P${person}`, handle: null },
          room: null,
          sentAt: null,
          text,
          replyTo,
          forwardedFrom,
          unreadable: null,
          files: [],
          missingFiles: [],
        })
        const roleOf = (person: number) => findPersonByExternalId(rig.db, channel.id, String(person))?.role
        /** All conversations of each person, because a new one does not make room. */
        const spokenIn = Array.from({ length: PEOPLE }, () => new Set<string>())
        const waitingOf = (person: number) =>
          [...spokenIn[person]!]
            .flatMap((conversationId) => rig.store.listJobsOfConversation(rig.db, conversationId))
            .filter(({ status }) => status === 'pending').length

        for (const one of steps) {
          if (one.do === 'write') {
            const token = `token-${run}-${position + 1}-x`
            const role = roleOf(one.who)
            const isFull = waitingOf(one.who) >= (role === 'owner' ? 50 : 5)
            receive(messageFrom(one.who, token, one.forwarded ? 'Eve' : null, one.replyTo))
            if ((role === 'owner' || role === 'allowed') && !isFull) expected.push({ token, fromOwner: role === 'owner' && !one.forwarded })
            else silenced.push(token)
          }
          if (one.do === 'command') {
            const role = roleOf(one.who)
            receive(messageFrom(one.who, one.text, null, null))
            // A guest cannot answer approvals, so this is ordinary text.
            if (role === 'allowed' && !one.text.startsWith('/')) {
              const taken = rig.store.listJobs(rig.db, { agentId: agent.id, limit: 1 }).jobs[0]?.title === one.text
              if (taken) expected.push({ token: one.text, fromOwner: false })
            }
          }
          if (one.do === 'again' && last !== null) transact(rig.db, (tx) => receiveMessage(tx, deps, channel, last!, String(++position)))
          if (one.do === 'decide') {
            const person = findPersonByExternalId(rig.db, channel.id, String(one.who))
            if (person === null) continue
            transact(rig.db, (tx) => decideOnPerson(tx, deps, channel, person.id, one.role))
            if (one.role === 'owner') for (const [id, role] of decided) if (role === 'owner') decided.set(id, 'allowed')
            decided.set(person.externalId, one.role)
          }
          if (one.do === 'work') {
            const claimed = transact(rig.db, (tx) => rig.store.claimNext(tx, 4))
            if (claimed !== null) transact(rig.db, (tx) => rig.store.settle(tx, claimed.claim, { kind: 'completed', text: 'ok' }))
          }
          if (one.do === 'flood') {
            for (let i = 0; i < one.count; i++) {
              const token = `token-${run}-${position + 1}-x`
              receive(messageFrom(one.from + i, token, null, null))
              silenced.push(token)
              rig.clock.advance(one.seconds * 1000)
            }
          }
          if (one.do === 'code') {
            const role = roleOf(one.who)
            const isKnown = role === 'owner' || role === 'allowed'
            // For people with access, a code is ordinary text.
            const text = isKnown ? `/start ${pairingCodeOf(channel.id)}` : one.form(pairingCodeOf(channel.id))
            receive(messageFrom(one.who, text, null, null))
            expect(roleOf(one.who)).toBe(role ?? 'requested')
            const told = rig.db
              .prepare<{ n: number }>('SELECT count(*) AS n FROM outbox WHERE key = ?')
              .get(`answer:${channel.id}:m${position}`)
            expect(told).toEqual({ n: role === 'refused' ? 0 : 1 })
          }
          if (one.do === 'wait_minutes') rig.clock.advance(one.minutes * 60_000)
          if (one.do === 'wait') rig.clock.advance(one.days * 24 * 3_600_000)

          for (const spoken of spokenIn.keys()) {
            const conversationId = findPersonByExternalId(rig.db, channel.id, String(spoken))?.conversationId
            if (conversationId) spokenIn[spoken]!.add(conversationId)
          }
          const people = listPeople(rig.db, channel.id)
          expect(new Set(people.map(({ externalId }) => externalId)).size).toBe(people.length)
          expect(people.filter(({ role }) => role !== 'requested').map(({ externalId, role }) => [externalId, role])).toEqual(
            expect.arrayContaining([...decided]),
          )
          expect(people.filter(({ role }) => role === 'owner').length).toBeLessThanOrEqual(1)
          expect(people.filter(({ role }) => role === 'requested').length).toBeLessThanOrEqual(MAX_REQUESTS + MAX_REQUESTS_WITH_CODE)
          expect(findConnectable(rig.db, channel.id)!.position).toBe(position === 0 ? null : String(position))
        }

        const jobs = rig.db
          .prepare<{ task: string; from_owner: number }>(
            "SELECT texts.task, json_extract(texts.context, '$.fromOwner') AS from_owner FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq WHERE job.agent_id = ? ORDER BY job.seq",
          )
          .all(agent.id)
        expect(jobs.map(({ task, from_owner }) => [task.split('\n').at(-1), from_owner === 1])).toEqual(
          expected.map(({ token, fromOwner }) => [token, fromOwner]),
        )
        const everything = JSON.stringify([
          jobs,
          rig.db.prepare('SELECT * FROM agent_jobs WHERE agent_id = ?').all(agent.id),
          rig.db.prepare('SELECT * FROM conversations WHERE agent_id = ?').all(agent.id),
          rig.db
            .prepare('SELECT message.* FROM messages AS message JOIN agent_jobs AS job ON job.id = message.job_id WHERE job.agent_id = ?')
            .all(agent.id),
          rig.db.prepare('SELECT * FROM outbox WHERE agent_id = ?').all(agent.id),
          listEventsAfter(rig.db, firstEvent, 10_000),
        ])
        for (const token of silenced) expect(everything).not.toContain(token)
      } finally {
        transact(rig.db, (tx) => rig.store.cancelAllOf(tx, { agentId: agent.id }))
      }
    }),
    { numRuns: walkRuns(100) },
  )
  rig.close()
})
