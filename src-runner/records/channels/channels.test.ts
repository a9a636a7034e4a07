import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { transact, type Tx } from '../../base/db/transact.ts'
import type { ChannelKind, ChannelRole } from '../../contract/channels.ts'
import { openRecordsRig, type RecordsRig } from '../../testing/records-rig.ts'
import { deleteAgent } from '../agents/agents.ts'
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
  MOST_REQUESTS,
  nameForPeople,
  noteMessage,
  PLACE_KEPT_MS,
  setPersonConversation,
  setPersonRole,
} from './people.ts'
import { isRequestCode } from './request-code.ts'

let rig: RecordsRig
let agentId: string
beforeEach(() => {
  rig = openRecordsRig()
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
const sender = (id: number) => ({ externalId: String(id), chatId: String(id), displayName: `Person ${id}`, handle: null })
const meet = (channel: { id: string; agentId: string }, id: number, role?: Exclude<ChannelRole, 'asked'>) =>
  write((tx) => {
    const person = addRequest(tx, rig, channel, sender(id))
    return person === null || role === undefined ? person : setPersonRole(tx, channel, person.id, role)
  })
const talk = (personId: string, agent = agentId) =>
  write((tx) => {
    const { conversationId } = rig.store.enqueue(tx, { agentId: agent, channel: 'telegram', task: 'x', conversation: 'new' })
    setPersonConversation(tx, personId, conversationId)
    return conversationId!
  })

describe('an account', () => {
  test('speaks for one agent', () => {
    connect('telegram', agentId, '42')
    expect(() => connect('telegram', rig.addAgent('Bob').id, '42')).toThrow(
      expect.objectContaining({ code: 'channel_exists', message: '@bot_42 is connected already, to the agent “Ada”.' }),
    )
    expect(connect('discord', agentId, '42')).toMatchObject({ kind: 'discord' })
  })

  test('is listed the newest first, for all agents or one', () => {
    const [first, second] = [connect(), connect('telegram', rig.addAgent('Bob').id)]
    expect(listChannels(rig.db).map(({ id }) => id)).toEqual([second.id, first.id])
    expect(listChannels(rig.db, { agentId }).map(({ id }) => id)).toEqual([first.id])
  })

  test('tells of a state once, of none after it is gone, and of round trips not at all', () => {
    const { id } = connect()
    const heard: string[] = []
    rig.db.onEvents((event) => void heard.push(event.type))
    write((tx) => setChannelStatus(tx, id, 'open', ''))
    write((tx) => setChannelStatus(tx, id, 'open', ''))
    write((tx) => setChannelStatus(tx, id, 'failing', 'No answer.'))
    write((tx) => noteRoundTrip(tx, id, 1000))
    write((tx) => noteRoundTrip(tx, id, 900))
    expect(getChannel(rig.db, id)).toMatchObject({ status: 'failing', problem: 'No answer.', lastRoundTripAt: 1000 })
    write((tx) => setChannelEnabled(tx, id, false))
    expect(getChannel(rig.db, id)).toMatchObject({ status: 'off', problem: '', enabled: false })
    write((tx) => deleteChannel(tx, id))
    write((tx) => setChannelStatus(tx, id, 'open', ''))
    expect(heard).toEqual(['channel.changed', 'channel.changed', 'channel.changed', 'channel.deleted'])
  })

  test('keeps its place in the transaction that keeps what stood before it, or not at all', () => {
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

  test('goes with its agent, and what was said stays', () => {
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
  test('a channel has one owner; the one before stays as a guest', () => {
    const channel = connect()
    const [first, second] = [meet(channel, 1, 'owner')!, meet(channel, 2, 'owner')!]
    expect(findOwner(rig.db, channel.id)).toMatchObject({ id: second.id })
    expect(listPeople(rig.db, channel.id).map(({ id, role }) => [id, role])).toEqual([
      [first.id, 'allowed'],
      [second.id, 'owner'],
    ])
  })

  describe('so many who ask that there is no room', () => {
    const asking = (channel: { id: string }) => listPeople(rig.db, channel.id).map(({ externalId }) => Number(externalId))
    /** As quickly as accounts that somebody made for it can write. */
    const flood = (channel: { id: string; agentId: string }, from: number, count: number) => {
      for (let i = 0; i < count; i++) {
        meet(channel, from + i)
        rig.clock.advance(1000)
      }
    }

    test('each has their place for ten minutes, and then gives it to somebody new', () => {
      const channel = connect()
      for (let i = 0; i < MOST_REQUESTS; i++) expect(meet(channel, i)).not.toBeNull()
      expect(meet(channel, 1000)).toBeNull()
      rig.clock.advance(PLACE_KEPT_MS - 1)
      expect(meet(channel, 1000)).toBeNull()
      rig.clock.advance(1)
      expect(meet(channel, 1000)).not.toBeNull()
      expect(asking(channel)).toHaveLength(MOST_REQUESTS)
      expect(asking(channel)).toContain(1000)
    })

    test('a flood pushes itself out, and nobody who asked at another time', () => {
      const channel = connect()
      meet(channel, 1)
      rig.clock.advance(3 * 3_600_000)
      flood(channel, 10_000, 100)
      rig.clock.advance(3 * 3_600_000)
      meet(channel, 2)
      rig.clock.advance(3 * 3_600_000)
      for (let wave = 2; wave < 8; wave++) {
        flood(channel, wave * 10_000, 100)
        rig.clock.advance(PLACE_KEPT_MS)
      }
      expect(asking(channel)).toHaveLength(MOST_REQUESTS)
      expect(asking(channel)).toEqual(expect.arrayContaining([1, 2]))
    })

    test('somebody who is heard in the middle of a long flood keeps their place for as long as everybody', () => {
      const channel = connect()
      for (let i = 0; i < 60; i++) {
        flood(channel, 1000 + i * 30, 30)
        rig.clock.advance(30_000)
      }
      expect(meet(channel, 1)).not.toBeNull()
      for (let i = 0; i < 9; i++) {
        flood(channel, 100_000 + i * 30, 30)
        rig.clock.advance(30_000)
      }
      expect(asking(channel)).toContain(1)
    })

    test('writing again holds no place for longer', () => {
      const channel = connect()
      flood(channel, 0, MOST_REQUESTS)
      rig.clock.advance(PLACE_KEPT_MS)
      for (const person of listPeople(rig.db, channel.id)) {
        const { externalId } = person
        write((tx) => noteMessage(tx, person.id, sender(Number(externalId)), rig.clock.now()))
      }
      expect(meet(channel, 1000)).not.toBeNull()
    })

    test('whoever knows the code is among them at once, and whoever gave way may ask again later', () => {
      const channel = connect()
      flood(channel, 0, MOST_REQUESTS)
      const before = asking(channel)
      const person = write((tx) => addRequest(tx, rig, channel, sender(1000), { hasCode: true }))
      expect(person).toMatchObject({ role: 'asked', externalId: '1000' })
      expect(asking(channel)).toHaveLength(MOST_REQUESTS)
      const [displaced] = before.filter((id) => !asking(channel).includes(id))
      expect(meet(channel, displaced!)).toBeNull()
      rig.clock.advance(PLACE_KEPT_MS)
      expect(meet(channel, displaced!)).not.toBeNull()
    })

    test('a clock that was set back gives nobody their place for good', () => {
      const channel = connect()
      rig.clock.jump(400 * 24 * 3_600_000)
      for (let i = 0; i < MOST_REQUESTS; i++) meet(channel, i)
      rig.clock.jump(-400 * 24 * 3_600_000)
      expect(meet(channel, 1000)).not.toBeNull()
    })

    test('a request that nobody answered for a week is forgotten', () => {
      const channel = connect()
      for (let i = 0; i < 3; i++) meet(channel, i)
      rig.clock.advance(7 * 24 * 3_600_000 + 1)
      meet(channel, 1000)
      expect(asking(channel)).toEqual([1000])
    })

    test('no request is forgotten by a clock that nobody believes yet', () => {
      const channel = connect()
      for (let i = 0; i < 3; i++) meet(channel, i)
      const age = { now: () => rig.clock.now() - 400 * 24 * 3_600_000 }
      rig.clock.jump(400 * 24 * 3_600_000)
      write((tx) => addRequest(tx, { ...rig, age }, channel, sender(1000)))
      expect(asking(channel)).toEqual([0, 1, 2, 1000])
    })
  })

  test('the code of a channel is its own, and is known with and without the command of a link', () => {
    const [one, other] = [connect(), connect()]
    const code = getChannel(rig.db, one.id).requestCode
    expect(code).toMatch(/^[2-9A-HJKMNP-TV-Z]{8}$/)
    expect(getChannel(rig.db, other.id).requestCode).not.toBe(code)
    for (const text of [code, ` ${code.toLowerCase()}\n`, `/start ${code}`, `/start@ada_bot ${code}`])
      expect(isRequestCode(one.id, text)).toBe(true)
    for (const text of ['', '/start', code.slice(1), `${code}2`, `It is ${code}`]) expect(isRequestCode(one.id, text)).toBe(false)
    expect(isRequestCode(other.id, code)).toBe(false)
  })

  test('those who were answered take no place of a request', () => {
    const channel = connect()
    for (let i = 0; i < MOST_REQUESTS; i++) meet(channel, i, 'refused')
    expect(meet(channel, 1000)).toMatchObject({ role: 'asked' })
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
  ])('the name %j is shown as %j', (given, shown) => expect(nameForPeople(given)).toBe(shown))
})

describe('where the owner is told something', () => {
  const chatOf = (via: Parameters<typeof findOwnerConversation>[2]) => {
    const found = findOwnerConversation(rig.db, agentId, via)
    return 'nowhere' in found ? found.nowhere : found.chatId
  }

  test('Auto: Telegram, Discord, Slack, whatever was connected first, and never WhatsApp', () => {
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

  test('Auto passes over what is off, logged out, or nobody’s', () => {
    const [telegram, discord] = [connect('telegram'), connect('discord')]
    meet(connect('slack'), 3, 'owner')
    meet(telegram, 1)
    expect(chatOf('auto')).toBe('3')
    meet(discord, 2, 'owner')
    expect(chatOf('auto')).toBe('2')
    write((tx) => setChannelStatus(tx, discord.id, 'logged_out', ''))
    expect(chatOf('auto')).toBe('3')
    write((tx) => setChannelStatus(tx, discord.id, 'failing', ''))
    expect(chatOf('auto')).toBe('2')
    write((tx) => setChannelEnabled(tx, discord.id, false))
    expect(chatOf('auto')).toBe('3')
  })

  test('a pick is that channel and no other', () => {
    expect(chatOf('telegram')).toBe('not_on_that_channel')
    const telegram = connect('telegram')
    meet(connect('slack'), 3, 'owner')
    expect(chatOf('telegram')).toBe('no_owner')
    meet(telegram, 5, 'allowed')
    expect(chatOf('telegram')).toBe('no_owner')
    meet(telegram, 1, 'owner')
    write((tx) => setChannelStatus(tx, telegram.id, 'logged_out', ''))
    expect(chatOf('telegram')).toBe('1')
    expect(chatOf('slack')).toBe('3')
    expect(chatOf('discord')).toBe('not_on_that_channel')
  })

  test('a channel of another agent is none of this one', () => {
    const bob = rig.addAgent('Bob').id
    meet(connect('telegram', bob), 1, 'owner')
    expect(chatOf('auto')).toBe('no_channel')
  })

  test('a conversation that was left for a newer one still has its person, until it is deleted', () => {
    const channel = connect()
    const person = meet(channel, 1, 'owner')!
    const [old, present] = [talk(person.id), talk(person.id)]
    const who = { channelId: channel.id, personId: person.id, chatId: '1', role: 'owner' }
    expect([old, present].map((id) => findChannelPersonOfConversation(rig.db, id))).toEqual([who, who])
    write((tx) => deleteConversation(tx, { jobs: rig.store }, present))
    expect(findChannelPersonOfConversation(rig.db, present)).toBeNull()
    expect(listPeople(rig.db, channel.id)).toMatchObject([{ conversationId: null }])
    expect(findChannelPersonOfConversation(rig.db, old)).toEqual(who)
  })
})
