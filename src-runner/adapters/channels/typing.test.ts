import { afterEach, beforeEach, expect, test } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { createEventHub } from '../../platform/events/event-hub.ts'
import { insertChannel } from '../../domain/channels/channels.ts'
import { addRequest, setConversation, setPersonRole } from '../../domain/channels/people.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { createTyping, type Typing } from './typing.ts'

let rig: DomainRig
let typing: Typing
let shown: string[]

beforeEach(() => {
  rig = openDomainRig()
  shown = []
  typing = createTyping({ ...rig, jobs: rig.store, show: (_channelId, chatId) => void shown.push(chatId) })
  createEventHub({ db: rig.db }).subscribe(typing.onEvent)
})
afterEach(() => {
  typing.stop()
  rig.close()
})

/** A running job that a message from the chat 77 has started. */
function runTurn(channel: 'telegram' | 'chat' = 'telegram') {
  const agent = rig.addAgent('Ada')
  return transact(rig.db, (tx) => {
    const account = { accountId: '1', name: '@bot', link: null }
    const { id } = insertChannel(tx, rig, { id: rig.ids.next(), agentId: agent.id, kind: 'telegram', account, baseUrl: null })
    const sender = { externalId: '77', chatId: '77', displayName: 'Anna', handle: null, isRoom: false }
    const person = addRequest(tx, rig, { id, agentId: agent.id }, sender)!
    setPersonRole(tx, { id, agentId: agent.id }, person.id, 'owner')
    const job = rig.store.enqueue(tx, { agentId: agent.id, channel, task: 'x', conversation: 'new' })
    setConversation(tx, person, '77', job.conversationId)
    return rig.store.claimNext(tx, 4)!
  })
}

test('is shown at once, repeated while the job runs, and ends with it', () => {
  const others = rig.clock.sleepers()
  const claimed = runTurn()
  expect(shown).toEqual(['77'])
  for (let i = 0; i < 3; i++) rig.clock.advance(5000)
  expect(shown.length).toBeGreaterThanOrEqual(4)
  transact(rig.db, (tx) => rig.store.settle(tx, claimed.claim, { kind: 'completed', text: 'done' }))
  const before = shown.length
  rig.clock.advance(60_000)
  expect(shown).toHaveLength(before)
  expect(rig.clock.sleepers()).toBe(others)
})

test('is not shown while the job waits for a decision', () => {
  const claimed = runTurn()
  transact(rig.db, (tx) => rig.store.settle(tx, claimed.claim, { kind: 'waiting', status: 'awaiting_approval' }))
  rig.clock.advance(60_000)
  expect(shown).toEqual(['77'])
  transact(rig.db, (tx) => rig.store.wake(tx, claimed.claim.jobId))
  transact(rig.db, (tx) => void rig.store.claimNext(tx, 4))
  expect(shown).toEqual(['77', '77'])
})

test('is not shown for turns in the app', () => {
  runTurn('chat')
  rig.clock.advance(60_000)
  expect(shown).toEqual([])
})
