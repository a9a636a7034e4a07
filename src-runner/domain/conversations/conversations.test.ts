import { afterEach, beforeEach, expect, test } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import { Conversation } from '../../contract/conversations.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { deleteConversation, getConversation, listConversations, listMessages } from './conversations.ts'

let rig: DomainRig
let agentId: string
beforeEach(() => {
  rig = openDomainRig()
  agentId = rig.addAgent('Ada').id
})
afterEach(() => rig.close())

const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
function chat(task: string, more: { conversation?: string; agentId?: string } = {}): string {
  rig.clock.advance(1000)
  return write((tx) => rig.store.enqueue(tx, { agentId, channel: 'chat', task, ...more })).conversationId!
}
const titles = (query: { q?: string; agentId?: string } = {}) =>
  listConversations(rig.db, { limit: 50, ...query }).conversations.map((one) => one.title)

test('lists the last used conversation first, with the state of its newest turn', () => {
  const first = chat('first')
  chat('second')
  chat('more', { conversation: first })
  const { claim } = write((tx) => rig.store.claimNext(tx, 1))!
  const { conversations } = listConversations(rig.db, { limit: 10 })
  expect(conversations.map((one) => [one.title, one.lastJobStatus])).toEqual([
    ['first', 'pending'],
    ['second', 'pending'],
  ])
  expect(Conversation.parse(conversations[0])).toEqual(conversations[0])
  write((tx) => rig.store.settle(tx, claim, { kind: 'completed', text: 'hi' }))
  expect(getConversation(rig.db, first).lastJobStatus).toBe('pending')
})

test('lists each conversation once over all pages, also if several were used in the same millisecond', () => {
  const made = Array.from(
    { length: 7 },
    (_, i) => write((tx) => rig.store.enqueue(tx, { agentId, channel: 'chat', task: `c${i}` })).conversationId!,
  )
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = listConversations(rig.db, { limit: 2, cursor })
    seen.push(...page.conversations.map((one) => one.id))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  expect(seen.toSorted()).toEqual(made.toSorted())
})

test('finds conversations by a literal part of the title, and by agent', () => {
  const bob = rig.addAgent('Bob').id
  chat('Plan the trip to Oslo')
  chat('100% sure_thing', { agentId: bob })
  chat('100 things')
  expect(titles({ q: 'TRIP' })).toEqual(['Plan the trip to Oslo'])
  expect(titles({ q: '0%' })).toEqual(['100% sure_thing'])
  expect(titles({ q: 'e_t' })).toEqual(['100% sure_thing'])
  expect(titles({ q: '100' })).toEqual(['100 things', '100% sure_thing'])
  expect(titles({ agentId: bob, q: '100' })).toEqual(['100% sure_thing'])
  expect(titles({ agentId: rig.ids.next() })).toEqual([])
})

test('finds conversations by messages of either side, until they are deleted', () => {
  const id = chat('Plan the week')
  chat('Something else')
  chat('Water the ferns too', { conversation: id })
  const { claim } = write((tx) => rig.store.claimNext(tx, 1))!
  write((tx) => rig.store.settle(tx, claim, { kind: 'completed', text: 'Monday: the greenhouse.' }))
  expect(titles({ q: 'FERNS' })).toEqual(['Plan the week'])
  expect(titles({ q: 'greenhouse' })).toEqual(['Plan the week'])
  expect(titles({ q: 'green_ouse' })).toEqual([])
  write((tx) => deleteConversation(tx, { jobs: rig.store }, id))
  expect(titles({ q: 'ferns' })).toEqual([])
})

test('lists the newest messages, oldest first', () => {
  const id = chat('m0')
  for (let i = 1; i < 5; i++) chat(`m${i}`, { conversation: id })
  expect(listMessages(rig.db, id, 3).map((one) => one.text)).toEqual(['m2', 'm3', 'm4'])
  expect(rig.store.listJobsOfConversation(rig.db, id, 3).map((one) => one.title)).toEqual(['m2', 'm3', 'm4'])
})

test('deletes a conversation with its messages, and rejects deleting it again', () => {
  const id = chat('bye')
  write((tx) => deleteConversation(tx, { jobs: rig.store }, id))
  expect(() => getConversation(rig.db, id)).toThrow(expect.objectContaining({ code: 'conversation_not_found' }))
  expect(listMessages(rig.db, id)).toEqual([])
  expect(rig.store.listJobs(rig.db, { limit: 5 }).jobs.map((job) => [job.title, job.status])).toEqual([['bye', 'cancelled']])
  expect(() => write((tx) => deleteConversation(tx, { jobs: rig.store }, id))).toThrow(
    expect.objectContaining({ code: 'conversation_not_found' }),
  )
})
