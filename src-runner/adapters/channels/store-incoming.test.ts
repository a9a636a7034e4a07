import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import { createApprovals } from '../../domain/approvals/approvals.ts'
import { findConnectable, insertChannel } from '../../domain/channels/channels.ts'
import { listPeople } from '../../domain/channels/people.ts'
import { decideOnPerson } from '../../domain/channels/receive-message.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import type { IncomingFile, IncomingMessage } from './channel.ts'
import { storeIncoming } from './store-incoming.ts'

const HOUR_MS = 3_600_000

let rig: DomainRig
let take: (message: Partial<IncomingMessage>, ...rest: Partial<IncomingMessage>[]) => Promise<void>
beforeEach(async () => {
  rig = openDomainRig()
  const channel = { id: rig.ids.next(), agentId: rig.addAgent('Ada').id, kind: 'telegram' } as const
  const account = { accountId: '1', name: 'ada', link: null }
  write((tx) => insertChannel(tx, rig, { ...channel, account, baseUrl: null }))
  const folder = join(rig.folder, 'notes')
  mkdirSync(folder)
  const log = { error: () => expect.unreachable(), warn() {}, info() {}, debug() {} }
  const deps = { ...rig, log, jobs: rig.store, approvals: createApprovals({ ...rig, jobs: rig.store }) }
  const folders = () => ({ folders: [folder], closedFolders: [] })
  const around = { signal: new AbortController().signal, folders, answerPress() {} }
  const store = storeIncoming(deps, findConnectable(rig.db, channel.id)!, around)
  let number = 0
  take = (...given) => {
    const sender = { externalId: 'U1', chatId: 'D1', displayName: 'Anna', handle: null }
    const nothing = { room: null, sentAt: null, replyTo: null, forwardedFrom: null, unreadable: null, files: [] }
    const [message, ...rest] = given.map((fields) => ({ externalId: `m${++number}`, sender, text: 'Hello', ...nothing, ...fields }))
    return store({ type: 'message', message: message!, rest, position: String(number) })
  }
  await take({})
  write((tx) => decideOnPerson(tx, deps, channel, listPeople(rig.db, channel.id)[0]!.id, 'owner'))
})
afterEach(() => rig.close())

const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
const tasks = () => rig.store.listJobs(rig.db, { limit: 50 }).jobs.map(({ id }) => rig.store.findJob(rig.db, id)!.task)

const fileOf = (name: string, download: IncomingFile['download']): IncomingFile => ({ name, size: null, download })
const small = (name: string) => fileOf(name, async () => ({ bytes: Buffer.from(name) }))

test.each([
  ['rejects', (signal: AbortSignal) => signal.throwIfAborted()],
  ['says so', () => {}],
])('a message waits for its files for a minute at most, also if a download that is aborted %s', async (_how, onAbort) => {
  const begun = Promise.withResolvers<void>()
  const endless = fileOf('b.mp4', async (signal) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    onAbort(signal)
    return { problem: 'it was given up' }
  })
  const taken = take({ text: 'Look', files: [small('a.txt'), endless, fileOf('c.mp4', () => expect.unreachable())] })
  await begun.promise
  rig.clock.advance(60_000)
  await taken
  expect(tasks()).toEqual([
    'Look\n\nFiles that came with this message:\n- notes/Received/a.txt\n\n(The file “b.mp4” did not arrive: it took too long.)\n\n' +
      '(The file “c.mp4” did not arrive: it took too long.)',
  ])
})

test('the files of a message that is too late to be run are not downloaded', async () => {
  await take({ sentAt: rig.clock.now() - 25 * HOUR_MS, files: [fileOf('a.txt', () => expect.unreachable())] })
  expect(tasks()).toEqual([])
  await take({ sentAt: rig.clock.now() - 23 * HOUR_MS, files: [small('a.txt')] })
  expect(tasks()).toEqual([expect.stringContaining('notes/Received/a.txt')])
})

test('what was sent together is one message, and what comes again of it is not run again', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ externalId: name, text: name === 'b' ? 'Look' : '', files: [small(`${name}.txt`)] }))
  await take(a!, b!)
  await take(b!)
  await take(a!, b!, c!)
  expect(tasks().toReversed()).toEqual([
    'Look\n\nFiles that came with this message:\n- notes/Received/a.txt\n- notes/Received/b.txt',
    'Files that came with this message:\n- notes/Received/c.txt',
  ])
})
