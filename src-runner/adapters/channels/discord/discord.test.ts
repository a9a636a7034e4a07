import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../../contract/messages.ts'
import type { OutgoingMessage } from '../../../domain/outbox/outgoing.ts'
import { englishText, inEnglish } from '../../../lib/messages.ts'
import { createOutbound } from '../../../platform/net/outbound.ts'
import { describeChannelDriver, SLOW_DOWN_SECONDS, type ServiceFault } from '../../../testing/channel-conformance.ts'
import {
  startDiscordServer,
  type DiscordFault,
  type DiscordServer,
  type DiscordUser,
} from '../../../testing/discord-server/discord-server.ts'
import { createHandClock, type HandClock } from '../../../testing/hand-clock.ts'
import type { Connection, Incoming } from '../channel.ts'
import { createDiscordDriver } from './discord.ts'

const outbound = createOutbound()
afterAll(() => outbound.close())

const ANNA: DiscordUser = { id: '4711000000000000001', username: 'anna_berg', global_name: 'Anna Berg' }

const FAULTS: Record<ServiceFault, DiscordFault> = {
  reset: { kind: 'reset' },
  garbage: { kind: 'garbage' },
  error: { kind: 'error', status: 502, message: '502: Bad Gateway' },
  stall: { kind: 'stall' },
  slow_down: { kind: 'error', status: 429, message: 'You are being rate limited.', retryAfter: SLOW_DOWN_SECONDS },
}
const SENDING = /^POST \/channels\/\d+\/messages$/

describeChannelDriver('Discord', async (clock) => {
  const server = await startDiscordServer({ now: clock.now })
  const driver = createDiscordDriver({ fetch: outbound.fetch, clock, speech: () => inEnglish, random: () => 0.5 })
  return {
    driver,
    service: {
      access: { channelId: 'channel', token: server.token, appToken: null, baseUrl: server.url },
      accountName: `@${server.bot.username}`,
      chatId: server.chatOf(ANNA),
      say: (text, { replyTo, isForwarded } = {}) =>
        void server.say(ANNA, isForwarded === true ? '' : text, {
          ...(replyTo === undefined ? {} : { replyTo }),
          ...(isForwarded === true ? { forwarded: { content: text } } : {}),
        }),
      sayInGroup: (text) => void server.say(ANNA, text, { channelId: server.roomId }),
      sendFile: (name, bytes) => void server.say(ANNA, '', { files: [{ name, bytes }] }),
      press: (action) => void server.press(ANNA, action),
      sent: () => server.sent.map(({ text, buttons, file }) => ({ text, buttons: buttons.map((button) => button.custom_id), file })),
      untilSent: server.untilSent,
      notes: () => server.notes.map((note) => note.text),
      isTyping: () => server.calls.some(({ call }) => call.endsWith('/typing')),
      untilListening: server.untilListening,
      untilAsked: (times) => server.until(() => server.calls.length >= times),
      timesAsked: () => server.calls.length,
      fault: (fault) => server.fault(/./, FAULTS[fault]),
      faultOnSending: (fault) => server.fault(SENDING, FAULTS[fault]),
      faultOnFile: (fault) => server.fault(/messages with a file$/, FAULTS[fault]),
      block: () => server.block(ANNA),
      revokeToken: server.revokeToken,
      close: server.close,
    },
  }
})

const BEN: DiscordUser = { id: '4712000000000000001', username: 'ben', global_name: null }
const MESSAGE_CONTENT = 1 << 15

describe('Discord itself', () => {
  let server: DiscordServer
  let clock: HandClock
  let heard: Incoming[]
  let statuses: string[]
  let roundTrips: number
  let known: string[]
  let connection: Connection | null

  beforeEach(async () => {
    clock = createHandClock()
    server = await startDiscordServer({ now: clock.now })
    heard = []
    statuses = []
    roundTrips = 0
    known = [server.chatOf(ANNA)]
    connection = null
  })
  afterEach(async () => {
    await connection?.close()
    await server.close()
  })

  function connect(position: string | null = null, incoming = async (one: Incoming) => void heard.push(one)): Connection {
    const driver = createDiscordDriver({ fetch: outbound.fetch, clock, speech: () => inEnglish, random: () => 0.5 })
    const access = { channelId: 'channel', token: server.token, appToken: null, baseUrl: server.url }
    return (connection = driver.connect(access, position, {
      incoming,
      status: (status, problem) => void statuses.push(`${status}: ${problem === null ? '' : englishText(problem)}`),
      roundTrip: () => void roundTrips++,
      knownChats: () => known,
      readFile: async () => ({ problem: 'there are no files here' }),
    }))
  }
  const messages = () => heard.flatMap((incoming) => (incoming.type === 'message' ? [incoming.message] : []))
  const texts = () => messages().map(({ text }) => text)
  const send = (text: string, more: Partial<OutgoingMessage> = {}) =>
    connection!.deliver(
      { id: 'm', channelId: 'c', chatId: server.chatOf(ANNA), text, buttons: [], files: [], partsSent: 0, ...more },
      new AbortController().signal,
      () => true,
    )
  const listening = async () => {
    connect()
    await server.untilListening()
  }
  const passPause = async (ms: number) => clock.advance(await clock.untilSleeping((left) => left === ms))
  const IDENTIFY_MS = 5500

  describe('a message', () => {
    test('shows names instead of ids', async () => {
      await listening()
      const fields = { mentions: [BEN] }
      server.say(ANNA, `Ask <@${BEN.id}> in <#${server.roomId}> at <t:1763630000:R>, <:wave:12> </new:7> <@5>`, { fields })
      await expect.poll(texts).toEqual(['Ask @ben in #general at 2025-11-20T09:13:20.000Z, :wave: /new @somebody'])
      expect(messages()[0]).toMatchObject({
        sender: { externalId: ANNA.id, displayName: 'Anna Berg', handle: '@anna_berg' },
        room: null,
        sentAt: clock.now(),
      })
    })

    test('of a stranger makes it ask for no names of channels and roles', async () => {
      await listening()
      server.say(BEN, `In <#${server.roomId}> or <#77>`)
      server.say(BEN, `<@${server.bot.id}> ask <@&78> in <#79>`, { channelId: server.roomId })
      await expect.poll(texts).toEqual(['In #channel or #channel', 'ask @role in #channel'])
      const channels = server.calls.flatMap(({ call }) => /^GET \/channels\/(\d+)$/.exec(call)?.[1] ?? [])
      // To read what was missed.
      expect(channels).toEqual([server.chatOf(ANNA)])
    })

    test('in a server is heard only if it mentions the account, with the server as its room', async () => {
      await listening()
      server.say(ANNA, 'Everybody!', { channelId: server.roomId })
      server.say(BEN, `<@${server.bot.id}>, what is up?`, { channelId: server.roomId })
      await expect.poll(texts).toEqual(['what is up?'])
      expect(messages()[0]).toMatchObject({
        room: { externalId: server.guild.id, name: 'The crew' },
        sender: { externalId: BEN.id, chatId: server.roomId, displayName: 'ben' },
      })
    })

    test('in a server quotes what it answers', async () => {
      await listening()
      const asked = server.say(BEN, 'Tea\nor coffee?', { channelId: server.roomId })
      server.say(ANNA, `<@${server.bot.id}> decide`, { channelId: server.roomId, replyTo: asked })
      await expect.poll(texts).toEqual(['ben wrote:\n> Tea\n> or coffee?\n\ndecide'])
      expect(messages()[0]!.replyTo).toBeNull()
    })

    test('that is forwarded has the text and the files of the first one', async () => {
      await listening()
      server.say(ANNA, '', { forwarded: { content: 'Look', files: [{ name: 'a.txt', bytes: Buffer.from('alpha') }] } })
      await expect.poll(texts).toEqual(['Look'])
      expect(messages()[0]).toMatchObject({ forwardedFrom: 'somebody', replyTo: null, files: [{ name: 'a.txt', size: 5 }] })
    })

    test('without text and files says what it is', async () => {
      await listening()
      server.say(ANNA, '', { fields: { sticker_items: [{ id: '1', name: 'Wave', format_type: 1 }] } })
      server.say(ANNA, '', { fields: { poll: { question: { text: 'Tea?' } } } })
      server.say(ANNA, '', { fields: { type: 7 } })
      server.say(ANNA, 'me')
      await expect.poll(texts).toEqual(['', '', 'me'])
      expect(messages().map(({ unreadable }) => unreadable)).toEqual(['sticker', 'poll', null])
    })

    test('of bots, of webhooks and in an unknown form is skipped', async () => {
      await listening()
      server.say({ ...ANNA, bot: true } as DiscordUser, 'a bot')
      server.say(ANNA, 'a webhook', { fields: { webhook_id: '1' } })
      server.say(ANNA, 'no text', { fields: { content: 5 } })
      server.gateway.dispatch('MESSAGE_CREATE', { id: 'x' })
      server.gateway.dispatch('SOMETHING_NEW', { deep: [1] })
      server.say(ANNA, 'me')
      await expect.poll(texts).toEqual(['me'])
    })

    test.each(['http://10.0.0.1/secret', 'file:///etc/passwd', 'http://127.0.0.1@evil.example/x', 'nothing'])(
      'names a file elsewhere (%s), which is not fetched',
      async (url) => {
        await listening()
        server.say(ANNA, 'Read this', { fields: { attachments: [{ id: '1', filename: 'a', size: 1, url }] } })
        await expect.poll(texts).toEqual(['Read this'])
        expect(messages()[0]).toHaveProperty('quotesOthers', true)
        const [file] = messages()[0]!.files
        expect(await file!.download(new AbortController().signal)).toEqual({
          problem: expect.stringContaining('cannot be opened') as string,
        })
      },
    )

    test('of more than 20 MB has a file that is not fetched', async () => {
      await listening()
      server.say(ANNA, 'Big', { files: [{ name: 'big.zip', bytes: Buffer.from('x'), size: 20_000_001 }] })
      await expect.poll(texts).toEqual(['Big'])
      const problem = 'it is larger than the 20 MB that Deckhand fetches'
      expect(await messages()[0]!.files[0]!.download(new AbortController().signal)).toEqual({ problem })
    })
  })

  describe('a command or a press', () => {
    test('is offered in the menu, and read like a text', async () => {
      await listening()
      expect(server.commands.map(({ name }) => name)).toEqual(['new', 'stop', 'agents', 'help'])
      server.command(ANNA, 'stop')
      await expect.poll(texts).toEqual(['/stop'])
      await server.until(() => server.notes.length === 1)
      server.command(BEN, 'help', server.roomId)
      await expect.poll(texts).toEqual(['/stop', '/help'])
      expect(messages()[1]!.room?.name).toBe('The crew')
    })

    test('is acknowledged at once, even if earlier messages cannot be stored', async () => {
      let isFull = true
      connect(null, async (incoming) => {
        if (isFull) throw new Error('the disk is full')
        heard.push(incoming)
      })
      await server.until(server.gateway.isReady)
      server.say(ANNA, 'one')
      await expect.poll(() => statuses.at(-1)).toMatch(/^failing: Messages cannot be saved/)
      const pressId = server.press(ANNA, 'approve:1')
      await server.until(() => server.calls.some(({ call }) => call.startsWith(`POST /interactions/${pressId}/`)))
      isFull = false
      await passPause(750)
      await expect.poll(() => heard.map(({ type }) => type)).toEqual(['message', 'press'])
      expect(statuses.at(-1)).toBe('open: ')
    })

    test('gets its note even if the acknowledgement was lost', async () => {
      await listening()
      server.fault(/^POST \/interactions/, { kind: 'reset' })
      const pressId = server.press(ANNA, 'approve:1')
      await expect.poll(() => heard.length).toBe(1)
      await connection!.answerPress(pressId, 'Approved.')
      expect(server.notes).toEqual([{ interactionId: pressId, text: 'Approved.' }])
    })
  })

  describe('the gateway', () => {
    test('beats, and counts acknowledgements as round trips', async () => {
      await listening()
      await passPause(41_250 / 2)
      await server.until(() => server.gateway.heartbeats === 1)
      await expect.poll(() => roundTrips).toBeGreaterThan(3)
      const before = roundTrips
      clock.advance(41_250)
      await server.until(() => server.gateway.heartbeats === 2)
      await expect.poll(() => roundTrips).toBe(before + 1)
    })

    test('is left when it no longer acknowledges, and resumed with what was missed', async () => {
      await listening()
      server.gateway.acknowledge(false)
      await passPause(41_250 / 2)
      await server.until(() => server.gateway.heartbeats === 1)
      clock.advance(41_250)
      server.say(ANNA, 'missed')
      await server.until(() => server.gateway.resumes.length === 1)
      await expect.poll(texts).toEqual(['missed'])
      expect(server.gateway.identifies).toHaveLength(1)
    })

    test.each([
      ['is asked to reconnect', () => server.gateway.askToReconnect()],
      ['is cut off', () => server.gateway.cut()],
      ['is closed for a passing reason', () => server.gateway.disconnect(4000)],
      ['has an invalid session that can be resumed', () => server.gateway.invalidate(true)],
    ])('resumes at once if it %s, and hears each message once', async (_name, end) => {
      await listening()
      server.say(ANNA, 'one')
      await expect.poll(texts).toEqual(['one'])
      end()
      server.say(ANNA, 'two')
      await server.until(() => server.gateway.resumes.length === 1)
      server.say(ANNA, 'three')
      await expect.poll(texts).toEqual(['one', 'two', 'three'])
      expect(server.gateway.identifies).toHaveLength(1)
      expect(statuses.filter((status) => status.startsWith('failing'))).toEqual([])
    })

    test.each([
      ['its session is invalid', () => server.gateway.invalidate(false)],
      ['its session has timed out', () => server.gateway.disconnect(4009)],
      ['it sends too fast', () => (server.gateway.invalidate(false), server.gateway.disconnect(4008))],
    ])('begins a new session if %s, not sooner than allowed, and reads what was missed', async (_name, end) => {
      await listening()
      server.say(ANNA, 'one')
      await expect.poll(texts).toEqual(['one'])
      end()
      server.say(ANNA, 'two')
      await passPause(IDENTIFY_MS)
      await expect.poll(texts).toEqual(['one', 'two'])
      expect(server.gateway.identifies.map(({ at }) => at - server.gateway.identifies[0]!.at)).toEqual([0, IDENTIFY_MS])
    })

    test.each(['{"op":10}', '{"op":10,"d":{"heartbeat_interval":0}}', '{"op":0,"t":"READY","d":{}}', 'x', 'null', '[]'])(
      'that sends %s is left, and tried again later and later',
      async (frame) => {
        server.gateway.greetWith(frame)
        connect()
        for (const pause of [IDENTIFY_MS, 750, IDENTIFY_MS - 750, 1500]) await passPause(pause)
        expect(statuses.at(-1)).toMatch(/^failing: .* does not understand\.$/)
        server.gateway.greetWith(null)
        server.say(ANNA, 'still there?')
        clock.advance(IDENTIFY_MS)
        await expect.poll(texts).toEqual(['still there?'])
        expect(statuses.at(-1)).toBe('open: ')
      },
    )

    test('that never greets is left in time', async () => {
      server.gateway.greetWith('{"op":11}')
      connect()
      for (const pause of [20_000, 20_000, 750]) await passPause(pause)
      expect(statuses).toEqual([expect.stringMatching(/^failing: .* did not answer in time\.$/)])
    })

    test('that greets late is given the next session as late', async () => {
      server.gateway.greetWith('{"op":11}')
      connect()
      await server.until(() => server.gateway.connections.length === 1)
      server.gateway.greetWith(null)
      clock.advance(4000)
      server.gateway.sendText('{"op":10,"d":{"heartbeat_interval":41250}}')
      await server.until(server.gateway.isReady)
      server.gateway.invalidate(false)
      await passPause(IDENTIFY_MS)
      await server.until(() => server.gateway.identifies.length === 2)
      const [first, second] = server.gateway.identifies
      expect(second!.at - first!.at).toBe(IDENTIFY_MS)
    })

    test('is given fewer sessions than the service allows', async () => {
      server.sessionsLeft = { remaining: 0, resetAfterMs: 1_234_567 }
      connect()
      await passPause(1_234_567)
      expect(statuses).toEqual([
        'failing: The server at 127.0.0.1:PORT limits how many messages can be sent. Deckhand waits.'.replace(
          'PORT',
          new URL(server.url).port,
        ),
      ])
      await server.until(() => server.calls.filter(({ call }) => call === 'GET /gateway/bot').length === 2)
      expect(server.gateway.identifies).toEqual([])
    })

    test.each([
      ['requests to reconnect', () => server.gateway.askToReconnect(), 0],
      ['invalid sessions', () => server.gateway.invalidate(false), IDENTIFY_MS],
    ])('survives an hour of %s with few connections', async (_name, ask, leastMs) => {
      await listening()
      const start = clock.now()
      for (let storms = 0; clock.now() < start + 3_600_000; storms++) {
        await server.until(server.gateway.isReady)
        ask()
        await server.until(() => !server.gateway.isReady())
        // The first connection may be replaced at once.
        const pause = storms === 0 ? 0 : Math.min(45_000, 750 * 2 ** (storms - 1))
        if (pause > 0) await passPause(pause)
        if (pause < leastMs) await passPause(leastMs - pause)
      }
      expect(server.gateway.connections.length).toBeLessThan(100)
      const { identifies } = server.gateway
      expect(identifies.every(({ at }, i) => i === 0 || at - identifies[i - 1]!.at >= 5000)).toBe(true)
    })

    test('may not be sent to another address', async () => {
      server.fault(/gateway/, { kind: 'garbage', body: JSON.stringify({ url: 'ws://10.0.0.1', session_start_limit: { remaining: 1 } }) })
      connect()
      await expect.poll(() => statuses.at(-1)).toMatch(/^failing: .* does not understand\.$/)
      expect(server.gateway.connections).toEqual([])
    })

    test('is asked for less if the text of all messages is not allowed, and the person learns where to allow it', async () => {
      server.allowMessageContent(false)
      connect()
      await passPause(IDENTIFY_MS)
      await server.untilListening()
      expect(server.gateway.identifies.map(({ intents }) => intents & MESSAGE_CONTENT)).toEqual([MESSAGE_CONTENT, 0])
      const link = `https://discord.com/developers/applications/${server.applicationId}/bot`
      expect(statuses.at(-1)).toMatch(new RegExp(`^open: .*“Message Content Intent”.*${link}$`))
      server.say(ANNA, 'private')
      server.say(BEN, `<@${server.bot.id}> mentioned`, { channelId: server.roomId })
      await expect.poll(texts).toEqual(['private', 'mentioned'])
    })
  })

  describe('what was missed', () => {
    test('is read from all known chats in the order in which it was written', async () => {
      known = [server.chatOf(ANNA), server.roomId, server.chatOf(BEN), '999']
      await listening()
      server.say(ANNA, 'one')
      await expect.poll(texts).toEqual(['one'])
      await connection!.close()
      server.say(BEN, 'two')
      server.say(ANNA, 'three')
      server.say(BEN, 'not for the account', { channelId: server.roomId })
      server.say(BEN, `<@${server.bot.id}> four`, { channelId: server.roomId })
      for (let i = 0; i < 250; i++) server.say(ANNA, `more ${i}`)
      connect(heard.at(-1)!.position)
      await expect.poll(() => texts().length).toBe(254)
      expect(texts().slice(0, 5)).toEqual(['one', 'two', 'three', 'four', 'more 0'])
      expect(messages()[3]!.room?.name).toBe('The crew')
      expect(texts().at(-1)).toBe('more 249')
    })

    test('is read before what is said meanwhile, and each once', async () => {
      server.fault(/^GET \/channels\/\d+\/messages/, { kind: 'error', status: 500, message: 'trouble' })
      connect()
      server.say(ANNA, 'one')
      await expect.poll(() => statuses.at(-1)).toMatch(/^failing: .*trouble/)
      server.say(ANNA, 'two')
      await passPause(750)
      await expect.poll(texts).toEqual(['one', 'two'])
      expect(statuses.at(-1)).toBe('open: ')
    })

    test('includes what came faster than it could be stored', async () => {
      const storing = Promise.withResolvers<void>()
      connect(null, async (incoming) => {
        await storing.promise
        heard.push(incoming)
      })
      await server.untilListening()
      await expect.poll(() => roundTrips).toBe(4)
      for (let i = 0; i < 2100; i++) server.say(ANNA, `message ${i}`)
      await passPause(41_250 / 2)
      // Frames arrive in order, so all have arrived with the acknowledgement.
      await expect.poll(() => roundTrips).toBe(5)
      storing.resolve()
      await expect.poll(() => texts().length).toBe(2100)
      expect(texts()).toEqual(Array.from({ length: 2100 }, (_, i) => `message ${i}`))
    })

    test('takes no message of a server for a private one', async () => {
      known = [server.roomId]
      server.fault(/^GET \/channels\/\d+$/, { kind: 'error', status: 403, code: 50_001, message: 'Missing Access' })
      connect()
      server.say(ANNA, 'delete everything', { channelId: server.roomId })
      await server.untilListening()
      expect(heard).toEqual([])
    })

    test.each([null, '', 'x', '1', '{}', '{"base":"x","chats":{"a":"b"}}'])('begins now at the position %j', async (position) => {
      server.say(ANNA, 'long ago')
      clock.advance(1000)
      connect(position)
      server.say(ANNA, 'now')
      await expect.poll(texts).toEqual(['now'])
    })
  })

  describe('a sent message', () => {
    test('arrives once if the responses to it were lost', async () => {
      await listening()
      server.fault(/^POST .*messages$/, { kind: 'lost_answer' })
      server.fault(/^POST .*messages$/, { kind: 'reset' })
      expect(await send('Hello')).toMatchObject({ state: 'failed', permanent: false, partsSent: 0 })
      expect(await send('Hello')).toEqual({ state: 'sent', externalId: server.sent[0]!.id })
      expect(server.sent).toHaveLength(1)
    })

    test('mentions nobody and shows no previews', async () => {
      await listening()
      await send(`Hello @everyone <@${BEN.id}> <#${server.roomId}>, see https://example.com/a_b_c`)
      expect(server.sent[0]!.text).toBe(`Hello @everyone <@${BEN.id}> <#${server.roomId}>, see https://example.com/a_b_c`)
      expect(server.sent[0]!.flags).toBe(4)
    })

    test('waits for its turn instead of being refused', async () => {
      server.limits.add(/^POST \/channels\/\d+\/messages$/, { limit: 2, windowMs: 5000 })
      await listening()
      const sending = send('x '.repeat(3500))
      await server.untilSent(2)
      await passPause(5000)
      expect(await sending).toMatchObject({ state: 'sent' })
      expect(server.sent.length).toBeGreaterThan(3)
      expect(server.limits.exceeded).toBe(0)
    })

    test('waits for a limit of all calls', async () => {
      await listening()
      server.fault(/messages$/, { kind: 'error', status: 429, message: 'slow', retryAfter: 3, isGlobal: true })
      expect(await send('one')).toMatchObject({ state: 'failed', retryAfterMs: 3000 })
      const typing = connection!.showTyping(server.chatOf(ANNA))
      await passPause(3000)
      await typing
      expect(server.calls.at(-1)!.call).toMatch(/typing$/)
    })

    test.each([true, false])('is tried again after an hour, however long the service wants (all calls: %s)', async (isGlobal) => {
      await listening()
      server.fault(/messages$/, { kind: 'error', status: 429, message: 'slow', retryAfter: 1e12, isGlobal })
      expect(await send('one')).toMatchObject({ state: 'failed' })
      clock.advance(3_600_000)
      expect(await send('one')).toMatchObject({ state: 'sent' })
    })

    test('that the bot may not send says with which link it may', async () => {
      await listening()
      server.forbid(server.roomId)
      const result = await send('Hello', { chatId: server.roomId })
      expect(result).toMatchObject({ state: 'failed', permanent: true })
      const problem = englishText((result as { problem: Message }).problem)
      expect(problem).toContain('Missing Permissions')
      expect(problem).toContain(`https://discord.com/oauth2/authorize?client_id=${server.applicationId}&scope=bot`)
    })

    test('is sent without buttons if the service refuses them', async () => {
      await listening()
      const errors = { components: { 0: { _errors: [{ code: 'BASE_TYPE_BAD_LENGTH', message: 'Must be between 1 and 5 in length.' }] } } }
      server.fault(/^POST .*messages$/, { kind: 'error', status: 400, code: 50_035, message: 'Invalid Form Body', errors })
      expect(await send('May I?', { buttons: [{ label: 'Yes', action: 'approve:1' }] })).toMatchObject({ state: 'sent' })
      expect(server.sent).toMatchObject([{ text: 'May I?', buttons: [] }])
    })

    test('has many buttons in rows, with short labels', async () => {
      await listening()
      const buttons = Array.from({ length: 30 }, (_, i) => ({ label: `${i} ${'😀'.repeat(50)}`, action: `choose:${i}` }))
      expect(await send('Which?', { buttons })).toMatchObject({ state: 'sent' })
      expect(server.sent[0]!.buttons).toHaveLength(25)
    })
  })

  test('names an account with the link that adds it to a server', async () => {
    const driver = createDiscordDriver({ fetch: outbound.fetch, clock, speech: () => inEnglish, random: () => 0.5 })
    const access = { channelId: 'channel', token: server.token, appToken: null, baseUrl: server.url }
    const link = `https://discord.com/oauth2/authorize?client_id=${server.applicationId}&scope=bot+applications.commands&permissions=274878008320`
    expect(await driver.identify(access, new AbortController().signal)).toEqual({
      state: 'known',
      account: { accountId: server.bot.id, name: '@deckhand_test', link },
    })
  })
})
