import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { messageMatching } from '../../testing/message-matching.ts'
import { inEnglish } from '../../lib/messages.ts'
import { transact, type Tx } from '../../platform/db/database.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { listKnownChats, listPeople } from './people.ts'
import { insertChannel } from './channels.ts'
import {
  decideOnPerson,
  isHeard,
  MAX_IDS_WITHOUT_JOB,
  receiveMessage,
  wasReceived,
  type ReceivedMessage,
  type ReceivingDeps,
} from './receive-message.ts'
import { outbox } from '../outbox/outbox-table.ts'
import { pairingCodeOf } from './pairing-code.ts'

let rig: DomainRig
let agentId: string
let channel: { id: string; agentId: string; kind: 'slack' }
let number: number
beforeEach(() => {
  rig = openDomainRig()
  number = 0
  agentId = rig.addAgent('Ada').id
  const account = { accountId: '1', name: 'ada', link: null }
  channel = { id: rig.ids.next(), agentId, kind: 'slack' }
  write((tx) => insertChannel(tx, rig, { ...channel, account, baseUrl: null }))
})
afterEach(() => rig.close())

const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
const deps = () => ({ ...rig, jobs: rig.store, approvals: noApprovals, speech: () => inEnglish })
const noApprovals = { answer: () => expect.unreachable(), findApproval: () => null }
const GENERAL = { externalId: 'C1', name: 'general' }
const ANNA = { externalId: 'U1', chatId: 'D1', displayName: 'Anna\nBerg', handle: null }
const BEN = { externalId: 'U2', chatId: 'D2', displayName: 'Ben', handle: null }

function receive(fields: Partial<ReceivedMessage>, clocks: Partial<ReceivingDeps> = {}): ReceivedMessage {
  const message = {
    externalId: `m${++number}`,
    sender: ANNA,
    room: null,
    sentAt: null,
    text: 'Hello',
    replyTo: null,
    forwardedFrom: null,
    unreadable: null,
    files: [],
    missingFiles: [],
    ...fields,
  }
  write((tx) => receiveMessage(tx, { ...deps(), ...clocks }, channel, message, String(number)))
  return message
}
const inRoom = (chatId: string, text = 'Hello', who = ANNA) => receive({ room: GENERAL, sender: { ...who, chatId }, text })
const roomNow = () => listPeople(rig.db, channel.id).find(({ isRoom }) => isRoom)!
const decide = (personId: string, role: 'owner' | 'allowed' | 'refused') =>
  write((tx) => decideOnPerson(tx, deps(), channel, personId, role))
const jobs = () =>
  rig.store
    .listJobs(rig.db, { limit: 50 })
    .jobs.map(({ id }) => rig.store.findJob(rig.db, id)!)
    .reverse()
const outbound = () => rig.db.prepare<{ chatId: string; text: string }>('SELECT chat_id AS chatId, text FROM outbox ORDER BY rowid').all()

test('the chats that are read again after an outage are those of the 100 people who wrote last', () => {
  for (let i = 0; i < 101; i++) {
    receive({ sender: { ...ANNA, externalId: `U${i}`, chatId: `D${i}` } })
    decide(listPeople(rig.db, channel.id).find(({ role }) => role === 'requested')!.id, 'allowed')
    rig.clock.advance(1000)
  }
  receive({ sender: { ...ANNA, externalId: 'U0', chatId: 'D0' } })
  expect(listKnownChats(rig.db, channel.id)).toEqual(['D0', ...Array.from({ length: 99 }, (_, i) => `D${100 - i}`)])
})

test('what stands behind /new begins the new conversation', () => {
  receive({})
  decide(listPeople(rig.db, channel.id)[0]!.id, 'owner')
  receive({ text: 'Hello' })
  receive({ text: '/new plan my week' })
  receive({ text: '/new', files: ['notes/Received/a.txt'] })
  const notes = outbound().length
  receive({ text: '/new' })
  const [hello, plan, file] = jobs()
  expect(jobs()).toHaveLength(3)
  expect(plan!.task).toBe('plan my week')
  expect(file!.task).toBe('Files that came with this message:\n- notes/Received/a.txt')
  expect(new Set([hello, plan, file].map((one) => one!.conversationId)).size).toBe(3)
  expect(outbound().slice(notes)).toMatchObject([{ text: expect.stringContaining('starts a new conversation') }])
})

describe('a room', () => {
  test('is listed once when it mentions the account, and reaches no agent before it is allowed', () => {
    inRoom('C1/1')
    inRoom('C1/2', 'Answer me', BEN)
    expect(roomNow()).toMatchObject({ role: 'requested', displayName: 'general', isRoom: true })
    expect(listPeople(rig.db, channel.id)).toHaveLength(1)
    expect(outbound()).toEqual([{ chatId: 'C1/1', text: expect.stringMatching(/told my owner/) }])
    expect(jobs()).toEqual([])
  })

  test('cannot become the owner', () => {
    inRoom('C1/1')
    expect(() => decide(roomNow().id, 'owner')).toThrow(
      expect.objectContaining({ code: 'invalid_request', detail: messageMatching(/cannot be the owner/) }),
    )
  })

  test('gets each reply where it was asked, with one conversation for each chat', () => {
    inRoom('C1/1')
    decide(roomNow().id, 'allowed')
    inRoom('C1/1', 'one')
    inRoom('C1/2', 'two', BEN)
    inRoom('C1/1', 'three', BEN)
    const [one, two, three] = jobs()
    expect(three!.conversationId).toBe(one!.conversationId)
    expect(two!.conversationId).not.toBe(one!.conversationId)
    expect(one!.task).toBe('Anna Berg writes in “general”:\n\none')
    expect(three!.task).toBe('Ben writes in “general”:\n\nthree')
    expect(listKnownChats(rig.db, channel.id).sort()).toEqual(['C1/1', 'C1/2'])
  })

  test('with many threads hides no other chat from those that are read again after an outage', () => {
    receive({ sender: BEN })
    decide(listPeople(rig.db, channel.id)[0]!.id, 'allowed')
    rig.clock.advance(1000)
    const threads = Array.from({ length: 120 }, (_, i) => `C1/${1_700_000_000 + i}.000100`)
    inRoom(threads[0]!)
    decide(roomNow().id, 'allowed')
    for (const thread of threads) {
      inRoom(thread)
      // So that there are never too many turns to take another one.
      inRoom(thread, '/stop')
    }
    expect(listKnownChats(rig.db, channel.id)).toEqual([...threads.slice(-20).reverse(), 'D2'])
  })

  test('gives everybody the rights of a guest, also the owner, whose private chat stays their own', () => {
    receive({ text: 'Hello' })
    decide(listPeople(rig.db, channel.id)[0]!.id, 'owner')
    inRoom('C1/1')
    decide(roomNow().id, 'allowed')
    inRoom('C1/1', 'Read my files')
    receive({ text: 'Only between us' })
    receive({ text: 'Contact: Ben', quotesOthers: true })
    const [shared, own, card] = jobs()
    expect(shared!.context).toMatchObject({ fromOwner: false, isGuest: true, personName: 'general' })
    expect(own!.context).toMatchObject({ fromOwner: true, isGuest: false })
    expect(card!.context).toMatchObject({ fromOwner: false, isGuest: false })
    expect(own!.conversationId).not.toBe(shared!.conversationId)
  })

  test('begins a new conversation and stops turns only in the chat that asks for it', () => {
    inRoom('C1/1')
    decide(roomNow().id, 'allowed')
    for (const chat of ['C1/1', 'C1/2']) inRoom(chat)
    inRoom('C1/1', '/stop')
    expect(jobs().map(({ status }) => status)).toEqual(['cancelled', 'pending'])
    inRoom('C1/2', '/new')
    inRoom('C1/2')
    inRoom('C1/1')
    const [one, two, three, four] = jobs()
    expect(three!.conversationId).not.toBe(two!.conversationId)
    expect(four!.conversationId).toBe(one!.conversationId)
  })

  test('is not listed by the pairing code, which all of it can read', () => {
    inRoom('C1/1', pairingCodeOf(channel.id))
    expect(outbound().map(({ text }) => text)).toEqual([expect.stringMatching(/told my owner/)])
  })

  test('that is refused is silent, and its files are not downloaded', () => {
    const message = inRoom('C1/1')
    decide(roomNow().id, 'allowed')
    expect(isHeard(rig.db, channel.id, message)).toBe(true)
    decide(roomNow().id, 'refused')
    expect(isHeard(rig.db, channel.id, message)).toBe(false)
    inRoom('C1/1')
    expect(jobs()).toEqual([])
  })
})

describe('messages that arrive more than a day after they were sent', () => {
  const DAY = 24 * 3_600_000
  beforeEach(() => {
    receive({ text: 'Hello' })
    decide(listPeople(rig.db, channel.id)[0]!.id, 'owner')
    write((tx) => tx.delete(outbox).run())
  })

  test('are not run, also commands, and summed up in one note', () => {
    const sentAt = rig.clock.now() - DAY - 1
    for (const text of ['Buy milk', '/stop', 'approve AB12', 'x'.repeat(500)]) receive({ text, sentAt })
    expect(jobs()).toEqual([])
    const [note, ...others] = outbound()
    expect(others).toEqual([])
    expect(note!.text.split('\n').slice(1)).toEqual(['• Buy milk', '• /stop', '• approve AB12', `• ${'x'.repeat(120)}`])
  })

  test('stay a message of limited length, however many there are', () => {
    for (let i = 0; i < 500; i++) receive({ text: `Message ${i} ${'y'.repeat(200)}`, sentAt: rig.clock.now() - 2 * DAY })
    expect(outbound()).toHaveLength(1)
    expect(outbound()[0]!.text.length).toBeLessThan(3000)
    expect(outbound()[0]!.text).toMatch(/…$/)
  })

  test('get a second note if the first may have been sent', () => {
    receive({ text: 'one', sentAt: rig.clock.now() - 2 * DAY })
    rig.clock.advance(10_000)
    receive({ text: 'two', sentAt: rig.clock.now() - 2 * DAY })
    expect(outbound()).toHaveLength(2)
  })

  test('are run if only one of two clocks takes them for late', () => {
    const [wall, trusted] = [{ ...rig.clock, now: () => rig.clock.now() + 2 * DAY }, rig.clock]
    receive({ text: 'one', sentAt: rig.clock.now() }, { clock: wall, money: trusted })
    receive({ text: 'two', sentAt: rig.clock.now() }, { clock: trusted, money: wall })
    expect(jobs().map(({ task }) => task)).toEqual(['one', 'two'])
    receive({ text: 'three', sentAt: rig.clock.now() }, { clock: wall, money: wall })
    expect(jobs()).toHaveLength(2)
  })

  test('that are younger are run in order', () => {
    receive({ text: 'one', sentAt: rig.clock.now() - DAY + 1000 })
    receive({ text: 'two', sentAt: rig.clock.now() - 1000 })
    expect(jobs().map(({ task }) => task)).toEqual(['one', 'two'])
  })
})

test('/agents lists the agents for the owner, and only this one for a guest', () => {
  rig.addAgent('Bob')
  receive({ text: 'Hello' })
  receive({ text: 'Hello', sender: BEN })
  const [anna, ben] = listPeople(rig.db, channel.id)
  decide(anna!.id, 'owner')
  decide(ben!.id, 'allowed')
  receive({ text: '/agents' })
  receive({ text: '/agents', sender: BEN })
  const [forOwner, forGuest] = outbound().slice(-2)
  expect(forOwner!.text).toBe('Your agents:\n• Ada: this chat\n• Bob: only in the app')
  expect(forGuest!.text).not.toContain('Bob')
})

test('a stranger who floods costs a bounded number of rows, and nobody with access a message', () => {
  const [STRANGER, OWNER] = [BEN, ANNA]
  receive({ sender: OWNER })
  decide(listPeople(rig.db, channel.id)[0]!.id, 'owner')
  const rows = () => rig.db.prepare<{ n: number }>('SELECT count(*) AS n FROM channel_messages').get()!.n
  const code = pairingCodeOf(channel.id)
  for (let i = 0; i < MAX_IDS_WITHOUT_JOB + 100; i++) receive({ sender: STRANGER, text: i % 2 === 0 ? code : 'Hello' })
  expect(rows()).toBe(MAX_IDS_WITHOUT_JOB)
  expect(outbound().length).toBeLessThan(MAX_IDS_WITHOUT_JOB)
  const message = receive({ sender: OWNER, text: '/help' })
  expect(wasReceived(rig.db, channel.id, message.externalId)).toBe(true)
  receive({ sender: OWNER, text: 'Do this' })
  expect(jobs()).toHaveLength(1)
})
