import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NO_TAINTS } from '../../contract/rules.ts'
import type { AskedQuestion } from '../../contract/approvals.ts'
import { inEnglish } from '../../lib/messages.ts'
import { transact, type Tx } from '../../platform/db/database.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { createApprovals } from '../approvals/approvals.ts'
import { shortCodeOf } from '../approvals/short-code.ts'
import { recordTry } from '../outbox/send-message.ts'
import { writeOutbound } from '../outbox/write-message.ts'
import { insertChannel } from './channels.ts'
import { listPeople } from './people.ts'
import { decideOnPerson, receiveMessage, type ReceivedMessage } from './receive-message.ts'

let rig: DomainRig
let channel: { id: string; agentId: string; kind: 'telegram' | 'messenger' }
let number: number
beforeEach(() => {
  rig = openDomainRig()
  number = 0
  channel = { id: rig.ids.next(), agentId: rig.addAgent('Ada').id, kind: 'telegram' }
  const account = { accountId: '1', name: 'ada', link: null }
  write((tx) => insertChannel(tx, rig, { ...channel, account, baseUrl: null }))
  receive({ text: 'Hello' })
  write((tx) => decideOnPerson(tx, deps(), channel, listPeople(rig.db, channel.id)[0]!.id, 'owner'))
})
afterEach(() => rig.close())

const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
const approvals = () => createApprovals({ clock: rig.clock, ids: rig.ids, jobs: rig.store })
const deps = () => ({ ...rig, jobs: rig.store, approvals: approvals() })
const jobs = () => rig.store.listJobs(rig.db, { limit: 50 }).jobs
const notes = () =>
  rig.db
    .prepare<{ text: string }>("SELECT text FROM outbox WHERE kind = 'notification'")
    .all()
    .map(({ text }) => text)
const answerTo = (approvalId: string) => approvals().get(rig.db, approvalId).answer

function receive(fields: Partial<ReceivedMessage>): void {
  const sender = { externalId: 'U1', chatId: 'D1', displayName: 'Anna', handle: null }
  const nothing = { room: null, sentAt: null, replyTo: null, forwardedFrom: null, unreadable: null, files: [], missingFiles: [] }
  const message = { externalId: `m${++number}`, sender, text: '', ...nothing, ...fields }
  write((tx) => receiveMessage(tx, deps(), channel, message, String(number)))
}

/** The agent asks the owner, whose next message is the answer. */
function ask(question: AskedQuestion): string {
  receive({ text: 'Book my trip' })
  return askIn(jobs()[0]!.id, question)
}

function askIn(jobId: string, question: AskedQuestion): string {
  const { claim } = write((tx) => rig.store.claim(tx, jobId, 4))!
  const call = { callId: 'c1', tool: 'ask_person', args: {}, taints: NO_TAINTS }
  const approvalId = write((tx) => approvals().ask(tx, claim, { kind: 'question', ...call, question }))
  write((tx) => rig.store.settle(tx, claim, { kind: 'waiting', status: 'awaiting_approval' }))
  return approvalId
}

/** Sends the question of an approval, as the message with this id. */
function send(approvalId: string, externalId: string): void {
  const { agentId, jobId } = approvals().get(rig.db, approvalId)
  const to = { channelId: channel.id, personId: listPeople(rig.db, channel.id)[0]!.id, chatId: 'D1' }
  const key = `approval:${approvalId}`
  write((tx) => writeOutbound(tx, rig, { key, kind: 'approval', agentId, jobId, approvalId, text: 'Which?', to }))
  const { id } = rig.db.prepare<{ id: string }>('SELECT id FROM outbox WHERE key = ?').get(key)!
  write((tx) => recordTry(tx, rig, id, { state: 'sent', externalId }))
}

describe('files that answer a question', () => {
  const files = ['Trips/Received/receipt.jpg']
  const named = 'Files that came with this message:\n- Trips/Received/receipt.jpg'

  test('are named in the answer', () => {
    const approvalId = ask({ text: 'Which receipt?', choices: [] })
    receive({ text: 'This one', files })
    expect(answerTo(approvalId)).toBe(`This one\n\n${named}`)
    expect(jobs()).toHaveLength(1)
  })

  test('answer it without a word, also if one did not arrive', () => {
    const approvalId = ask({ text: 'Which receipt?', choices: [] })
    receive({ files, missingFiles: [{ name: 'b.jpg', why: 'it is larger than 20 MB' }] })
    expect(answerTo(approvalId)).toBe(`${named}\n\n(The file “b.jpg” did not arrive: it is larger than 20 MB.)`)
    expect(jobs()).toHaveLength(1)
  })

  test('are named beside a choice', () => {
    channel = { ...channel, kind: 'messenger' }
    const chosen = ask({ text: 'Which?', choices: ['Train', 'Plane'] })
    receive({ text: '2', files })
    expect(answerTo(chosen)).toBe(`Plane\n\n${named}`)
  })

  test('are named after a code', () => {
    const approvalId = ask({ text: 'Which receipt?', choices: [] })
    receive({ text: `answer ${shortCodeOf(approvalId)} this`, files })
    expect(answerTo(approvalId)).toBe(`this\n\n${named}`)
  })

  test('are not told to a server', () => {
    const approvalId = ask({ text: 'Which?', choices: [], server: 'Trains' })
    receive({ text: `answer ${shortCodeOf(approvalId)} this`, files })
    expect(answerTo(approvalId)).toBe('this')
  })
})

test('a message that was written before the question does not answer it, and becomes a turn', () => {
  const approvalId = ask({ text: 'May I delete folder Old?', choices: [] })
  receive({ text: 'Yes, and the invoices too', sentAt: rig.clock.now() - 600_000 })
  expect(answerTo(approvalId)).toBeNull()
  expect(jobs()).toHaveLength(2)
  expect(notes()).toContain(inEnglish('outbound.note.answerFirst'))
  receive({ text: 'Yes', sentAt: rig.clock.now() - 30_000 })
  expect(answerTo(approvalId)).toBe('Yes')
  expect(jobs()).toHaveLength(2)
})

test('words that reply to an answered question become a turn, and answer no other question', () => {
  const first = ask({ text: 'Which colour?', choices: [] })
  send(first, 'q1')
  receive({ text: 'Green', replyTo: 'q1' })
  expect(answerTo(first)).toBe('Green')
  const second = askIn(jobs()[0]!.id, { text: 'Which size?', choices: [] })
  receive({ text: 'Light green, please', replyTo: 'q1' })
  expect(jobs()).toHaveLength(2)
  expect(notes()).not.toContain('This was already approved.')
  expect(answerTo(second)).toBeNull()
})

test('a message while a delegated job asks is told to wait for the answer', () => {
  receive({ text: 'Book my trip' })
  const parent = jobs()[0]!
  const { claim } = write((tx) => rig.store.claim(tx, parent.id, 4))!
  const helper = rig.addAgent('Ben').id
  const below = { channel: 'delegation', parentJobId: parent.id, parentCallId: 'c0' } as const
  const child = write((tx) => rig.store.enqueue(tx, { agentId: helper, task: 'Compare trains', ...below }))
  write((tx) => rig.store.settle(tx, claim, { kind: 'waiting', status: 'awaiting_child' }))
  askIn(child.id, { text: 'Which class?', choices: [] })
  receive({ text: 'And a hotel' })
  expect(notes().filter((text) => text === inEnglish('outbound.note.answerFirst'))).toHaveLength(1)
})

describe('a number', () => {
  const LONG = 'Plane, although it is expensive and bad'
  test.each([
    ['a choice of numbers on buttons', 'telegram', ['2', '3', '4'], '1', '1'],
    ['a choice of numbers without buttons', 'messenger', ['2', '3', '4'], '1', '1'],
    ['a choice on buttons, which have no numbers', 'telegram', ['Train', 'Plane'], '2', '2'],
    ['a choice without buttons', 'messenger', ['Train', 'Plane'], '2', 'Plane'],
    ['a choice with a long label', 'telegram', ['Train', LONG], '2', LONG],
  ] as const)('answers %s', (_name, kind, choices, text, expected) => {
    channel = { ...channel, kind }
    const approvalId = ask({ text: 'Which?', choices: [...choices] })
    receive({ text })
    expect(answerTo(approvalId)).toBe(expected)
  })
})
