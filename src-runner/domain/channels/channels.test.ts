import { quote } from '../../lib/messages.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import type { ChannelKind, ChannelRole } from '../../contract/channels.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { deleteAgent } from '../../execution/delete-agent.ts'
import { deleteConversation } from '../conversations/conversations.ts'
import {
  deleteChannel,
  findConnectable,
  getChannel,
  insertChannel,
  listChannels,
  moveChannelPosition,
  noteRoundTrip,
  setChannelEnabled,
  setChannelStatus,
} from './channels.ts'
import { findChannelPersonOfConversation, findOwnerConversation } from './owner-conversation.ts'
import {
  addRequest,
  findOwner,
  listPeople,
  MAX_REQUESTS,
  MAX_REQUESTS_WITH_CODE,
  nameForPeople,
  setConversation,
  setPersonRole,
} from './people.ts'
import { isPairingCode } from './pairing-code.ts'

let rig: DomainRig
let agentId: string
beforeEach(() => {
  rig = openDomainRig()
  agentId = rig.addAgent('Ada').id
})
afterEach(() => rig.close())

const write = <T>(work: (tx: Tx) => T) => transact<unknown>(rig.db, work) as T
let accounts = 0
const connect = (kind: ChannelKind = 'telegram', ofAgent = agentId, accountId = String(++accounts)) =>
  write((tx) => {
    const account = { accountId, name: `@bot_${accountId}`, link: null }
    return insertChannel(tx, rig, { id: rig.ids.next(), agentId: ofAgent, kind, account, baseUrl: null })
  })
const sender = (id: number) => ({ externalId: String(id), chatId: String(id), displayName: `Person ${id}`, handle: null, isRoom: false })
const meet = (channel: { id: string; agentId: string }, id: number, role?: Exclude<ChannelRole, 'requested'>) =>
  write((tx) => {
    const person = addRequest(tx, rig, channel, sender(id))
    return person === null || role === undefined ? person : setPersonRole(tx, channel, person.id, role)
  })
const talk = (personId: string, agent = agentId) =>
  write((tx) => {
    const { conversationId } = rig.store.enqueue(tx, { agentId: agent, channel: 'telegram', task: 'x', conversation: 'new' })
    setConversation(tx, { id: personId, isRoom: false, conversationId: null }, '1', conversationId)
    return conversationId!
  })

describe('a channel', () => {
  test('belongs to one agent', () => {
    connect('telegram', agentId, '42')
    expect(() => connect('telegram', rig.addAgent('Bob').id, '42')).toThrow(
      expect.objectContaining({ code: 'channel_exists', message: expect.any(String) }),
    )
    expect(connect('discord', agentId, '42')).toMatchObject({ kind: 'discord' })
  })

  test('is listed newest first, for all agents or one', () => {
    const [first, second] = [connect(), connect('telegram', rig.addAgent('Bob').id)]
    expect(listChannels(rig.db).map(({ id }) => id)).toEqual([second.id, first.id])
    expect(listChannels(rig.db, { agentId }).map(({ id }) => id)).toEqual([first.id])
  })

  test('emits one event for each new status, none after its deletion, and none for round trips', () => {
    const { id } = connect()
    const heard: string[] = []
    rig.db.onEvents((event) => void heard.push(event.type))
    write((tx) => setChannelStatus(tx, id, 'open', null))
    write((tx) => setChannelStatus(tx, id, 'open', null))
    write((tx) => setChannelStatus(tx, id, 'failing', quote('No answer.')))
    write((tx) => noteRoundTrip(tx, id, 1000))
    write((tx) => noteRoundTrip(tx, id, 900))
    expect(getChannel(rig.db, id)).toMatchObject({ status: 'failing', problem: quote('No answer.'), lastRoundTripAt: 1000 })
    write((tx) => setChannelEnabled(tx, id, false))
    expect(getChannel(rig.db, id)).toMatchObject({ status: 'off', problem: null, enabled: false })
    write((tx) => deleteChannel(tx, id))
    write((tx) => setChannelStatus(tx, id, 'open', null))
    expect(heard).toEqual(['channel.changed', 'channel.changed', 'channel.changed', 'channel.deleted'])
  })

  test('stores its position in the transaction of the messages before it', () => {
    const { id } = connect()
    write((tx) => moveChannelPosition(tx, id, '5'))
    expect(() =>
      write((tx) => {
        moveChannelPosition(tx, id, '6')
        throw new Error('no')
      }),
    ).toThrow('no')
    expect(findConnectable(rig.db, id)).toMatchObject({ position: '5' })
  })

  test('is deleted with its agent, and its conversations stay', () => {
    const channel = connect()
    const conversationId = talk(meet(channel, 1, 'owner')!.id)
    rig.addAgent('Bob')
    write((tx) => deleteAgent(tx, { ...rig, jobs: rig.store }, agentId))
    expect(listChannels(rig.db)).toEqual([])
    expect(findChannelPersonOfConversation(rig.db, conversationId)).toBeNull()
    expect(rig.store.listJobsOfConversation(rig.db, conversationId)).toHaveLength(1)
  })
})

describe('people', () => {
  test('have one owner, and the former owner becomes a guest', () => {
    const channel = connect()
    const [first, second] = [meet(channel, 1, 'owner')!, meet(channel, 2, 'owner')!]
    expect(findOwner(rig.db, channel.id)).toMatchObject({ id: second.id })
    expect(listPeople(rig.db, channel.id).map(({ id, role }) => [id, role])).toEqual([
      [first.id, 'allowed'],
      [second.id, 'owner'],
    ])
  })

  describe('the request list', () => {
    const listed = (channel: { id: string }) => listPeople(rig.db, channel.id).map(({ externalId }) => Number(externalId))
    const meetWithCode = (channel: { id: string; agentId: string }, number: number) =>
      write((tx) => addRequest(tx, rig, channel, sender(number), { hasCode: true }))

    test('takes at most 50 requests, however long they wait', () => {
      const channel = connect()
      for (let i = 0; i < MAX_REQUESTS; i++) expect(meet(channel, i)).not.toBeNull()
      const before = listed(channel)
      for (let hour = 0; hour < 24; hour++) {
        expect(meet(channel, 1000 + hour)).toBeNull()
        rig.clock.advance(3_600_000)
      }
      expect(listed(channel)).toEqual(before)
    })

    test('takes a sender of the pairing code although it is full, and removes nobody', () => {
      const channel = connect()
      for (let i = 0; i < MAX_REQUESTS; i++) meet(channel, i)
      const before = listed(channel)
      expect(meetWithCode(channel, 1000)).toMatchObject({ role: 'requested', externalId: '1000' })
      expect(listed(channel)).toEqual([...before, 1000])
      expect(meet(channel, 1001)).toBeNull()
    })

    test('stays limited if the pairing code leaks', () => {
      const channel = connect()
      for (let i = 0; i < 200; i++) meetWithCode(channel, i)
      expect(listed(channel)).toHaveLength(MAX_REQUESTS + MAX_REQUESTS_WITH_CODE)
    })

    test('has a free place after a request was answered', () => {
      const channel = connect()
      for (let i = 0; i < MAX_REQUESTS; i++) meet(channel, i)
      write((tx) => setPersonRole(tx, channel, listPeople(rig.db, channel.id)[0]!.id, 'refused'))
      expect(meet(channel, 1000)).not.toBeNull()
    })

    test('deletes a request that was not answered for a week', () => {
      const channel = connect()
      for (let i = 0; i < 3; i++) meet(channel, i)
      rig.clock.advance(7 * 24 * 3_600_000 + 1)
      meet(channel, 1000)
      expect(listed(channel)).toEqual([1000])
    })

    test('deletes no request by a clock that is not trusted yet', () => {
      const channel = connect()
      for (let i = 0; i < 3; i++) meet(channel, i)
      const age = { now: () => rig.clock.now() - 400 * 24 * 3_600_000 }
      rig.clock.jump(400 * 24 * 3_600_000)
      write((tx) => addRequest(tx, { ...rig, age }, channel, sender(1000)))
      expect(listed(channel)).toEqual([0, 1, 2, 1000])
    })
  })

  test('accepts only the pairing code of its own channel, with and without the command of a link', () => {
    const [one, other] = [connect(), connect()]
    const code = getChannel(rig.db, one.id).pairingCode!
    expect(code).toMatch(/^[2-9A-HJKMNP-TV-Z]{8}$/)
    expect(getChannel(rig.db, other.id).pairingCode).not.toBe(code)
    for (const text of [code, ` ${code.toLowerCase()}\n`, `/start ${code}`, `/start@ada_bot ${code}`])
      expect(isPairingCode(one.id, text)).toBe(true)
    for (const text of ['', '/start', code.slice(1), `${code}2`, `It is ${code}`]) expect(isPairingCode(one.id, text)).toBe(false)
    expect(isPairingCode(other.id, code)).toBe(false)
  })

  test('does not count people whose request was answered', () => {
    const channel = connect()
    for (let i = 0; i < MAX_REQUESTS; i++) meet(channel, i, 'refused')
    expect(meet(channel, 1000)).toMatchObject({ role: 'requested' })
  })

  test.each([
    ['Anna Berg', 'Anna Berg'],
    ['  Anna \n\t Berg ', 'Anna Berg'],
    ['\u202Egreb\u202C anna', 'greb anna'],
    ['\u200B\u2060', 'Somebody without a name'],
    ['', 'Somebody without a name'],
    ['x'.repeat(500), 'x'.repeat(64)],
    ['😀'.repeat(100), '😀'.repeat(64)],
    ['Zoe\u0308', 'Zoë'],
    ['\ud800x', 'x'],
  ])('shows the name %j as %j', (given, shown) => expect(nameForPeople(given)).toBe(shown))
})

describe('the address of the owner', () => {
  const chatOf = (via: Parameters<typeof findOwnerConversation>[2]) => {
    const found = findOwnerConversation(rig.db, agentId, via)
    return 'noAddress' in found ? found.noAddress : found.chatId
  }

  test('is on Telegram, Discord or Slack for Auto, in this order, and never on WhatsApp', () => {
    expect(chatOf('auto')).toBe('no_channel')
    meet(connect('messenger'), 4, 'owner')
    expect(chatOf('auto')).toBe('no_channel')
    meet(connect('slack'), 3, 'owner')
    expect(chatOf('auto')).toBe('3')
    meet(connect('discord'), 2, 'owner')
    expect(chatOf('auto')).toBe('2')
    meet(connect('telegram'), 1, 'owner')
    expect(chatOf('auto')).toBe('1')
  })

  test('skips channels that are off, logged out or without an owner for Auto', () => {
    const [telegram, discord] = [connect('telegram'), connect('discord')]
    meet(connect('slack'), 3, 'owner')
    meet(telegram, 1)
    expect(chatOf('auto')).toBe('3')
    meet(discord, 2, 'owner')
    expect(chatOf('auto')).toBe('2')
    write((tx) => setChannelStatus(tx, discord.id, 'logged_out', null))
    expect(chatOf('auto')).toBe('3')
    write((tx) => setChannelStatus(tx, discord.id, 'failing', null))
    expect(chatOf('auto')).toBe('2')
    write((tx) => setChannelEnabled(tx, discord.id, false))
    expect(chatOf('auto')).toBe('3')
  })

  test('is on the chosen channel only', () => {
    expect(chatOf('telegram')).toBe('not_on_that_channel')
    const telegram = connect('telegram')
    meet(connect('slack'), 3, 'owner')
    expect(chatOf('telegram')).toBe('no_owner')
    meet(telegram, 5, 'allowed')
    expect(chatOf('telegram')).toBe('no_owner')
    meet(telegram, 1, 'owner')
    write((tx) => setChannelStatus(tx, telegram.id, 'logged_out', null))
    expect(chatOf('telegram')).toBe('1')
    expect(chatOf('slack')).toBe('3')
    expect(chatOf('discord')).toBe('not_on_that_channel')
  })

  test('is never on a channel of another agent', () => {
    const bob = rig.addAgent('Bob').id
    meet(connect('telegram', bob), 1, 'owner')
    expect(chatOf('auto')).toBe('no_channel')
  })

  test('finds the person of a former conversation until it is deleted', () => {
    const channel = connect()
    const person = meet(channel, 1, 'owner')!
    const [old, present] = [talk(person.id), talk(person.id)]
    const who = { channelId: channel.id, kind: 'telegram', personId: person.id, chatId: '1', role: 'owner' }
    expect([old, present].map((id) => findChannelPersonOfConversation(rig.db, id))).toEqual([who, who])
    write((tx) => deleteConversation(tx, { jobs: rig.store }, present))
    expect(findChannelPersonOfConversation(rig.db, present)).toBeNull()
    expect(listPeople(rig.db, channel.id)).toMatchObject([{ conversationId: null }])
    expect(findChannelPersonOfConversation(rig.db, old)).toEqual(who)
  })
})
