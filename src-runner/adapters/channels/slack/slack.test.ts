import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound } from '../../../platform/net/outbound.ts'
import type { Button } from '../../../domain/outbox/outgoing.ts'
import { describeChannelDriver, SLOW_DOWN_SECONDS, type ServiceFault } from '../../../testing/channel-conformance.ts'
import { createHandClock, type HandClock } from '../../../testing/hand-clock.ts'
import { messageMatching } from '../../../testing/message-matching.ts'
import { startSlackServer, type SlackFault, type SlackServer, type SlackUser } from '../../../testing/slack-server/slack-server.ts'
import { englishText, inEnglish } from '../../../lib/messages.ts'
import type { Connection, Incoming } from '../channel.ts'
import { createSlackDriver } from './slack.ts'

const outbound = createOutbound()
afterAll(() => outbound.close())

const ANNA: SlackUser = { id: 'U0ANNA00001', name: 'anna', realName: 'Anna Berg' }
const BEN: SlackUser = { id: 'U0BEN000001', name: 'ben', realName: 'Ben' }
const GENERAL = { id: 'C0GENERAL01', name: 'general' }

const FAULTS: Record<ServiceFault, SlackFault> = {
  reset: { kind: 'reset' },
  garbage: { kind: 'garbage' },
  error: { kind: 'status', status: 503 },
  stall: { kind: 'stall' },
  slow_down: { kind: 'rate_limited', retryAfter: SLOW_DOWN_SECONDS },
}

describeChannelDriver('Slack', async (clock) => {
  const server = await startSlackServer({ now: () => clock.now() })
  const driver = createSlackDriver({ fetch: outbound.fetch, clock, speech: () => inEnglish, random: () => 0.5 })
  const chatId = server.directOf(ANNA)
  return {
    driver,
    service: {
      access: { channelId: 'channel', token: server.botToken, appToken: server.appToken, baseUrl: server.url },
      accountName: server.accountName,
      chatId,
      say: (text, { replyTo, isForwarded } = {}) =>
        void server.say(ANNA, text, {
          ...(replyTo === undefined ? {} : { threadTs: replyTo.split(':')[1]! }),
          ...(isForwarded === true ? { forwardedFrom: BEN } : {}),
        }),
      sayInGroup: (text) => void server.sayInChannel(ANNA, GENERAL, text),
      sendFile: (name, bytes) => void server.sendFile(ANNA, { name, bytes }),
      press: (action) => server.press(ANNA, action),
      sent: () => server.sent.map(({ text, buttons, file }) => ({ text, buttons: buttons.map(({ value }) => value), file })),
      untilSent: server.untilSent,
      notes: () => server.ephemerals.map(({ text }) => text),
      isTyping: null,
      untilListening: server.untilConnected,
      untilAsked: (times) => server.until(() => server.calls.length >= times),
      timesAsked: () => server.calls.length,
      fault: (fault) => server.fault('*', FAULTS[fault]),
      faultOnSending: (fault) => server.fault('chat.postMessage', FAULTS[fault]),
      faultOnFile: (fault) => server.fault('files.getUploadURLExternal', FAULTS[fault]),
      block: () => server.block(ANNA),
      revokeToken: server.revokeTokens,
      close: server.close,
    },
  }
})

describe('Slack itself', () => {
  let server: SlackServer
  let clock: HandClock
  let heard: Incoming[]
  let statuses: string[]
  let known: string[]
  let connection: Connection | null
  let keep: () => void

  beforeEach(async () => {
    clock = createHandClock()
    server = await startSlackServer({ now: () => clock.now() })
    heard = []
    statuses = []
    known = []
    connection = null
    keep = () => {}
  })
  afterEach(async () => {
    await connection?.close()
    await server.close()
  })

  const driver = () => createSlackDriver({ fetch: outbound.fetch, clock, speech: () => inEnglish, random: () => 0.5 })
  const access = () => ({ channelId: 'channel', token: server.botToken, appToken: server.appToken, baseUrl: server.url })
  let roundTrips = 0
  function connect(position: string | null = null): Connection {
    return (connection = driver().connect(access(), position, {
      incoming: async (incoming) => {
        keep()
        heard.push(incoming)
      },
      status: (status, problem) => void statuses.push(`${status}: ${problem === null ? '' : englishText(problem)}`),
      roundTrip: () => roundTrips++,
      knownChats: () => known,
      readFile: async () => ({ problem: 'there are no files here' }),
    }))
  }
  async function connected(): Promise<Connection> {
    const made = connect()
    await expect.poll(() => statuses.at(-1)).toBe('open: ')
    return made
  }
  const messages = () => heard.flatMap((incoming) => (incoming.type === 'message' ? [incoming.message] : []))
  const texts = () => messages().map(({ text }) => text)
  const send = (text: string, chatId = server.directOf(ANNA), buttons: Button[] = [], id = text) =>
    connection!.deliver({ id, channelId: 'c', chatId, text, buttons, files: [], partsSent: 0 }, new AbortController().signal, () => true)
  const callsOf = (method: string) => server.calls.filter((call) => call.method === method)

  test.each(['warning', 'refresh_requested'] as const)(
    'opens another connection when Slack asks for it (%s), and loses nothing',
    async (reason) => {
      await connected()
      clock.advance(3_600_000)
      await server.until(() => server.connections() === 1)
      server.disconnect(reason)
      await server.until(() => server.opened() === 2)
      server.say(ANNA, 'one')
      await expect.poll(texts).toEqual(['one'])
      expect(statuses.filter((status) => status !== 'open: ')).toEqual([])
    },
  )

  test('names Socket Mode if it was turned off, and comes back when it is on', async () => {
    await connected()
    server.disconnect('link_disabled')
    await expect
      .poll(() => statuses.at(-1))
      .toBe(`failing: Socket Mode is off in the Slack app. Turn it on at https://api.slack.com/apps/${server.appId}/socket-mode.`)
    clock.advance(await clock.untilSleeping((ms) => ms <= 2000))
    await expect.poll(() => statuses.at(-1)).toBe('open: ')
  })

  test('opens at most 90 connections in an hour, however often they break', async () => {
    connect()
    const until = clock.now() + 3_600_000
    let last = 0
    while (clock.now() < until) {
      await server.until(() => server.opened() > last)
      last = server.opened()
      server.drop()
      // A ping is due every 30 s only while a connection is open.
      clock.advance(await clock.untilSleeping((ms) => ms === pauseOf(last)))
    }
    expect(callsOf('apps.connections.open').length).toBeGreaterThan(20)
    expect(callsOf('apps.connections.open').length).toBeLessThanOrEqual(90)
    expect(callsOf('auth.test')).toHaveLength(1)

    function pauseOf(attempt: number): number {
      return Math.min(60_000, 1000 * 2 ** (attempt - 1)) * 0.75 * 2
    }
  })

  test('replaces a connection that does not answer pings', async () => {
    await connected()
    const before = roundTrips
    clock.advance(30_000)
    await expect.poll(() => roundTrips).toBe(before + 1)
    server.silence()
    clock.advance(30_000)
    clock.advance(15_000)
    expect(statuses.filter((status) => status.startsWith('failing'))).toEqual([])
    await server.until(() => server.opened() === 2)
  })

  test('gives up a connection that is not greeted', async () => {
    server.setHello(false)
    connect()
    await server.until(() => server.connections() === 1)
    clock.advance(20_000)
    await expect.poll(() => statuses.at(-1)).toMatch(/^failing: The server at \S+ did not answer in time\.$/)
  })

  test('opens no socket outside of Slack', async () => {
    server.fault('apps.connections.open', { kind: 'garbage', body: '{"ok":true,"url":"wss://slack.com.evil.example/link/?ticket=1"}' })
    connect()
    await expect.poll(() => statuses.at(-1)).toMatch(/^failing: .* named an address outside of Slack/)
  })

  test('acknowledges what is on disk, and nothing else', async () => {
    await connected()
    keep = () => {
      throw new Error('the disk is full')
    }
    server.say(ANNA, 'one')
    await expect.poll(() => statuses.at(-1)).toMatch(/^failing: Messages cannot be saved/)
    expect(server.waiting()).toBe(1)
    // Slack repeats it meanwhile.
    server.retry()
    keep = () => {}
    clock.advance(await clock.untilSleeping((ms) => ms <= 1000))
    await server.untilIdle()
    expect(texts()).toEqual(['one'])
    expect(statuses.at(-1)).toBe('open: ')
  })

  test('acknowledges a command and a press at once, and stores them even if the connection ends', async () => {
    await connected()
    keep = () => {
      throw new Error('the disk is full')
    }
    server.say(ANNA, 'one')
    await expect.poll(() => statuses.at(-1)).toMatch(/^failing: Messages cannot be saved/)
    server.slash(ANNA, 'two')
    server.press(ANNA, 'three')
    await expect.poll(() => server.failed()).toEqual([])
    server.disconnect('warning')
    await server.until(() => server.connections() === 0)
    keep = () => {}
    clock.advance(await clock.untilSleeping((ms) => ms <= 1000))
    await expect.poll(() => heard.flatMap((one) => (one.type === 'press' ? [one.press.action] : []))).toEqual(['three'])
    // Slack repeats the other message.
    expect(texts()).toEqual(['two'])
  })

  test('skips what is not for it, and what it cannot read', async () => {
    await connected()
    const channel = server.directOf(ANNA)
    const message = { type: 'message', channel, channel_type: 'im', user: ANNA.id, text: 'x', ts: '1795000000.000100' }
    for (const frame of [
      'nonsense',
      '[]',
      'null',
      '{"type":"events_api"}',
      '{"type":"events_api","envelope_id":"1"}',
      '{"type":"new","envelope_id":"2","payload":{}}',
    ]) {
      server.sendFrame(frame)
    }
    for (const event of [
      { ...message, bot_id: 'B1' },
      { ...message, subtype: 'message_changed' },
      { ...message, subtype: 'channel_join' },
      { ...message, ts: 'now' },
      { ...message, channel_type: 'channel', channel: GENERAL.id },
      { ...message, text: '' },
      { type: 'reaction_added' },
    ])
      server.sendEvent(event)
    server.sendEvent(message, { authorizations: [{ team_id: 'T0OTHER' }] })
    server.say(ANNA, 'me')
    await server.untilIdle()
    expect(texts()).toEqual(['me'])
  })

  test('reads a message with a file, whose bot is null, and none of its own files', async () => {
    await connected()
    const event = {
      type: 'message',
      subtype: 'file_share',
      channel: server.directOf(ANNA),
      channel_type: 'im',
      text: '',
      ts: '1795000000.000100',
      files: [{ id: 'F0PLAN', name: 'plan.pdf', size: 3, url_private_download: `${server.url}/plan.pdf` }],
    }
    server.sendEvent({ ...event, user: server.botUserId, text: 'own' })
    server.sendEvent({ ...event, user: ANNA.id, bot_id: null })
    server.sendEvent({ ...event, user: ANNA.id, ts: '1795000000.000200', files: [{ ...event.files[0], name: 'image.png' }] })
    await server.untilIdle()
    expect(messages().map(({ sender, files, quotesOthers }) => [sender.externalId, files[0]?.name, quotesOthers])).toEqual([
      [ANNA.id, 'plan.pdf', true],
      [ANNA.id, 'image.png', undefined],
    ])
  })

  test('survives a flood of a stranger, and asks for their name once', async () => {
    await connected()
    for (let i = 0; i < 900; i++) server.say(BEN, `spam ${i} <@U0ANNA00001> <@U0NOBODY${i}>`)
    server.say(ANNA, 'me')
    await server.untilIdle()
    expect(texts().at(-1)).toBe('me')
    expect(callsOf('users.info').map(({ fields }) => fields['user'])).toEqual([BEN.id, ANNA.id])
    known = [server.directOf(ANNA)]
    server.say(ANNA, `Ask <@${BEN.id}>`)
    await server.untilIdle()
    expect(texts().at(-1)).toBe('Ask @ben')
  })

  test('leaves what it cannot keep to the next connection, in order', async () => {
    known = [server.directOf(ANNA)]
    await connected()
    server.fault('users.info', { kind: 'stall' })
    for (let i = 0; i < 1100; i++) server.say(ANNA, `${i}`)
    await server.until(() => callsOf('users.info').length === 1)
    clock.advance(5000)
    clock.advance(await clock.untilSleeping((ms) => ms <= 2000))
    await server.untilIdle()
    expect(texts()).toEqual(Array.from({ length: 1100 }, (_, i) => `${i}`))
  })

  test('sends a message once although the response was lost', async () => {
    await connected()
    server.directOf(ANNA)
    server.fault('chat.postMessage', { kind: 'lost_answer' })
    // The first try may repeat the call by itself, if the connection had served others.
    await send('Hello')
    expect(await send('Hello')).toMatchObject({ state: 'sent' })
    expect(callsOf('chat.postMessage').length).toBeGreaterThanOrEqual(2)
    expect(server.sent.map(({ text }) => text)).toEqual(['Hello'])
  })

  test('sends the words alone if Slack refuses the blocks', async () => {
    await connected()
    server.fault('chat.postMessage', { kind: 'refused', error: 'invalid_blocks' })
    expect(await send('**May I?** 1 < 2 & <!channel>', undefined, [{ label: 'Yes', action: 'approve:1' }])).toMatchObject({ state: 'sent' })
    expect(server.sent).toMatchObject([{ text: 'May I? 1 < 2 & <!channel>', buttons: [], mentions: [] }])
  })

  test.each([
    ['not_in_channel', /^The app is not a member of this Slack channel\. Invite it there with \/invite\.$/, true],
    ['is_archived', /does not deliver to this chat: is_archived\.$/, true],
    ['internal_error', /has a problem \(internal_error\)/, false],
    ['ratelimited', /limits how many messages/, false],
    ['something_new', /refused the request: something_new\.$/, true],
  ])('names why a message was not sent: %s', async (error, sentence, permanent) => {
    await connected()
    server.fault('chat.postMessage', { kind: 'refused', error })
    const result = await send('Hello')
    expect(result).toMatchObject({ state: 'failed', permanent, problem: messageMatching(sentence) })
  })

  test('names a missing permission, with the page that adds it', async () => {
    await connected()
    server.setScopes(['users:read'])
    expect(await send('Hello')).toMatchObject({
      state: 'failed',
      permanent: true,
      problem: messageMatching(
        new RegExp(`lacks permissions: chat:write\\. Add them .* at https://api\\.slack\\.com/apps/${server.appId}/oauth,`),
      ),
    })
  })

  test('sends the token to Slack alone', async () => {
    await connected()
    server.sendFile(ANNA, { name: 'a.txt', bytes: Buffer.from('alpha') })
    await expect.poll(() => messages().length).toBe(1)
    const never = new AbortController().signal
    expect(await messages()[0]!.files[0]!.download(never)).toEqual({ bytes: new Uint8Array(Buffer.from('alpha')) })
    expect(server.fileHeaders()).toEqual([{ authorization: `Bearer ${server.botToken}` }])
    const elsewhere = await startSlackServer()
    const file = { id: 'F1', name: 'x', url_private: `${elsewhere.url}/files-pri/T-F1/x` }
    server.sendEvent({
      type: 'message',
      channel: server.directOf(ANNA),
      channel_type: 'im',
      user: ANNA.id,
      ts: '1795600000.000100',
      files: [file],
    })
    await expect.poll(() => messages().length).toBe(2)
    expect(await messages()[1]!.files[0]!.download(never)).toEqual({
      problem: expect.stringContaining('named an address outside of Slack') as string,
    })
    expect(elsewhere.fileHeaders()).toEqual([])
    await elsewhere.close()
  })

  test('says that a file cannot be read without its permission', async () => {
    await connected()
    server.sendFile(ANNA, { name: 'a.txt', bytes: Buffer.from('alpha') })
    await expect.poll(() => messages().length).toBe(1)
    server.setScopes([])
    const result = await messages()[0]!.files[0]!.download(new AbortController().signal)
    expect(result).toEqual({ problem: expect.stringContaining('files:read') as string })
  })

  test('reads mentions and replies in threads that were missed', async () => {
    await connected()
    const me = `<@${server.botUserId}>`
    const first = server.mention(ANNA, GENERAL, `${me} first`)
    await expect.poll(texts).toEqual(['first'])
    expect(messages()[0]).toMatchObject({
      room: { externalId: GENERAL.id, name: '#general' },
      sender: { chatId: `${GENERAL.id}/${first}` },
    })
    const { position } = heard.at(-1)!
    await connection!.close()
    clock.advance(60_000)
    server.mention(ANNA, GENERAL, 'not for the app')
    server.mention(BEN, GENERAL, `${me} in the thread`, { threadTs: first })
    server.mention(BEN, GENERAL, `${me} on top`)
    server.forgetEvents()
    heard = []
    known = [`${GENERAL.id}/${first}`]
    connect(position)
    await expect.poll(texts).toEqual(['in the thread', 'on top'])
    expect(messages()[0]!.sender.chatId).toBe(`${GENERAL.id}/${first}`)
  })

  test.each(['ratelimited', 'rate_limited', 'message_limit_exceeded'])('sends a message later after the error %s', async (error) => {
    await connected()
    server.fault('chat.postMessage', { kind: 'refused', error })
    expect(await send('Hello')).toMatchObject({ state: 'failed', permanent: false, retryAfterMs: 60_000 })
  })

  test('waits as long as Slack asks for when it reads what was missed', async () => {
    known = [server.directOf(ANNA)]
    server.sayUnheard(ANNA, 'missed')
    server.fault('conversations.history', { kind: 'rate_limited', retryAfter: 7 })
    connect()
    clock.advance(await clock.untilSleeping((ms) => ms === 7000))
    await expect.poll(texts).toEqual(['missed'])
  })

  test('leaves out a conversation that it may not read', async () => {
    known = ['C0SECRET001/1.000000', server.directOf(ANNA)]
    server.sayUnheard(ANNA, 'missed')
    connect()
    await expect.poll(texts).toEqual(['missed'])
  })

  test('reads all that was missed in a thread below an old message', async () => {
    await connected()
    const me = `<@${server.botUserId}>`
    const first = server.mention(ANNA, GENERAL, `${me} first`)
    await expect.poll(texts).toEqual(['first'])
    for (let i = 0; i < 101; i++) server.mention(ANNA, GENERAL, `Talk ${i}`)
    server.mention(ANNA, GENERAL, `${me} last`)
    await expect.poll(() => texts().at(-1)).toBe('last')
    const { position } = heard.at(-1)!
    await connection!.close()
    clock.advance(60_000)
    const missed = Array.from({ length: 120 }, (_, i) => `reply ${i}`)
    for (const text of missed) server.mention(BEN, GENERAL, `${me} ${text}`, { threadTs: first })
    server.forgetEvents()
    heard = []
    known = [`${GENERAL.id}/${first}`, `${GENERAL.id}/1700000000.000100`]
    connect(position)
    await expect.poll(texts).toEqual(missed)
  })

  test('reads a thread with news however many threads are known, and asks no thread twice', async () => {
    await connected()
    const me = `<@${server.botUserId}>`
    const threads = Array.from({ length: 30 }, (_, i) => server.mention(ANNA, GENERAL, `${me} ${i}`))
    await expect.poll(() => texts().length).toBe(30)
    const { position } = heard.at(-1)!
    await connection!.close()
    clock.advance(60_000)
    server.mention(BEN, GENERAL, `${me} news`, { threadTs: threads.at(-1)! })
    server.forgetEvents()
    heard = []
    known = threads.map((ts) => `${GENERAL.id}/${ts}`)
    const before = callsOf('conversations.replies').length
    connect(position)
    await expect.poll(texts).toEqual(['news'])
    expect(callsOf('conversations.replies').length - before).toBe(1)
  })

  test('shows in a thread that a reply is being written, and not in a direct message', async () => {
    await connected()
    const ts = server.mention(ANNA, GENERAL, 'x')
    await connection!.showTyping(`${GENERAL.id}/${ts}`)
    await connection!.showTyping(server.directOf(ANNA))
    expect(callsOf('assistant.threads.setStatus').map(({ fields }) => fields['channel_id'])).toEqual([GENERAL.id])
  })

  test('takes a word alone for a command, and a sentence that begins with it for a message', async () => {
    await connected()
    server.slash(ANNA, 'stop')
    server.slash(ANNA, 'stop sending me the weather at night')
    await expect.poll(texts).toEqual(['/stop', 'stop sending me the weather at night'])
  })

  test('looks again for the chat of a command, but not for ever', async () => {
    await connected()
    const fail = () => server.fault('conversations.open', { kind: 'status', status: 503 })
    const passPause = async () => clock.advance(await clock.untilSleeping((ms) => ms <= 2000))
    fail()
    server.slash(ANNA, 'stop')
    await passPause()
    await expect.poll(texts).toEqual(['/stop'])
    for (let i = 0; i < 3; i++) fail()
    server.slash(ANNA, 'help')
    server.slash(ANNA, 'Stop')
    await passPause()
    await passPause()
    await expect.poll(texts).toEqual(['/stop', '/Stop'])
  })

  test('identifies an account by its workspace and its app', async () => {
    expect(await driver().identify(access(), new AbortController().signal)).toEqual({
      state: 'known',
      account: {
        accountId: 'T0TEAM00001:U0BOT000001',
        name: '@deckhand (Acme)',
        link: `https://slack.com/app_redirect?app=${server.appId}&team=T0TEAM00001`,
      },
    })
  })
})
