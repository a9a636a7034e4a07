import type { Message } from '../../../contract/messages.ts'
import { englishText, inEnglish } from '../../../lib/messages.ts'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound } from '../../../platform/net/outbound.ts'
import { startBotApiServer, type BotApiServer, type ServedFault, type ServedUser } from '../../../testing/bot-api-server/bot-api-server.ts'
import { describeChannelDriver, SLOW_DOWN_SECONDS, type ServiceFault } from '../../../testing/channel-conformance.ts'
import { createHandClock, type HandClock } from '../../../testing/hand-clock.ts'
import { messageMatching } from '../../../testing/message-matching.ts'
import type { Connection, Incoming } from '../channel.ts'
import { createTelegramDriver } from './telegram.ts'

const outbound = createOutbound()
afterAll(() => outbound.close())

const ANNA: ServedUser = { id: 4711, first_name: 'Anna', last_name: 'Berg', username: 'anna_berg' }
const BEN: ServedUser = { id: 4712, first_name: 'Ben' }

const FAULTS: Record<ServiceFault, ServedFault> = {
  reset: { kind: 'reset' },
  garbage: { kind: 'garbage' },
  error: { kind: 'error', code: 502, description: 'Bad Gateway' },
  stall: { kind: 'stall' },
  slow_down: { kind: 'error', code: 429, description: 'Too Many Requests: retry later', retryAfter: SLOW_DOWN_SECONDS },
}

describeChannelDriver('Telegram', async (clock) => {
  const server = await startBotApiServer()
  const driver = createTelegramDriver({ fetch: outbound.fetch, clock, speech: () => inEnglish, random: () => 0.5 })
  return {
    driver,
    service: {
      access: { channelId: 'channel', token: server.token, appToken: null, baseUrl: server.url },
      accountName: `@${server.botName}`,
      chatId: String(ANNA.id),
      say: (text, { replyTo, isForwarded } = {}) =>
        void server.say(ANNA, text, {
          ...(replyTo === undefined ? {} : { replyTo: Number(replyTo) }),
          ...(isForwarded === true ? { forwardedFrom: BEN } : {}),
        }),
      sayInGroup: (text) => void server.say(ANNA, text, { group: true }),
      sendFile: (name, bytes) => void server.sendFile(ANNA, { name, bytes }),
      press: (action) => void server.press(ANNA, action),
      sent: () =>
        server.sent.map(({ text, buttons, document }) => ({
          text,
          buttons: buttons.map((button) => button.callback_data),
          file: document,
        })),
      untilSent: server.untilSent,
      notes: () => server.notes.map((note) => note.text),
      isTyping: () => server.calls.some(({ method }) => method === 'sendChatAction'),
      untilListening: server.untilPolled,
      untilAsked: (times) => server.until(() => server.calls.length >= times),
      timesAsked: () => server.calls.length,
      fault: (fault) => server.fault('*', FAULTS[fault]),
      faultOnSending: (fault) => server.fault('sendMessage', FAULTS[fault]),
      faultOnFile: (fault) => server.fault('sendDocument', FAULTS[fault]),
      block: () => server.block(ANNA),
      revokeToken: server.revokeToken,
      close: server.close,
    },
  }
})

describe('Telegram itself', () => {
  let server: BotApiServer
  let clock: HandClock
  let heard: Incoming[]
  let statuses: string[]
  let connection: Connection | null

  beforeEach(async () => {
    server = await startBotApiServer()
    clock = createHandClock()
    heard = []
    statuses = []
    connection = null
  })
  afterEach(async () => {
    await connection?.close()
    await server.close()
  })

  function connect(position: string | null = null): Connection {
    const driver = createTelegramDriver({ fetch: outbound.fetch, clock, speech: () => inEnglish, random: () => 0.5 })
    const events = {
      incoming: async (incoming: Incoming) => void heard.push(incoming),
      status: (status: string, problem: Message | null) => void statuses.push(`${status}: ${problem === null ? '' : englishText(problem)}`),
      roundTrip() {},
      knownChats: () => [],
      readFile: async () => ({ problem: 'there are no files here' }),
    }
    const access = { channelId: 'channel', token: server.token, appToken: null, baseUrl: server.url }
    return (connection = driver.connect(access, position, events))
  }
  const texts = () => heard.flatMap((incoming) => (incoming.type === 'message' ? [incoming.message.text] : []))
  const polls = () => server.calls.filter(({ method }) => method === 'getUpdates')
  const send = (text: string, buttons: { label: string; action: string }[] = []) =>
    connection!.deliver(
      { id: 'm', channelId: 'c', chatId: String(ANNA.id), text, buttons, files: [], partsSent: 0 },
      new AbortController().signal,
      () => true,
    )

  test('reports another program that reads the messages, with the two solutions', async () => {
    connect()
    await server.untilPolled()
    const thief = fetch(`${server.url}/bot${server.token}/getUpdates`, { method: 'POST', body: '{"timeout":0}' })
    await expect.poll(() => statuses.at(-1)).toMatch(/^failing: Another program reads.*\/revoke/)
    await thief
    clock.advance(await clock.untilSleeping((ms) => ms <= 1000))
    await expect.poll(() => statuses.at(-1)).toBe('open: ')
  })

  test('waits longer each time another reader interrupts', async () => {
    connect()
    await server.untilPolled()
    const pauses: number[] = []
    for (let i = 0; i < 5; i++) {
      const thief = fetch(`${server.url}/bot${server.token}/getUpdates`, { method: 'POST', body: '{"timeout":0}' })
      pauses.push(await clock.untilSleeping((ms) => ms <= 14_000))
      await thief
      clock.advance(pauses.at(-1)!)
      await server.untilPolled()
    }
    expect(pauses).toEqual([750, 1500, 3000, 6000, 12_000])
    // A request that was held to its end shows that there is no other reader.
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    await server.untilPolled()
    server.fault('getUpdates', { kind: 'error', code: 502, description: 'Bad Gateway' })
    server.say(ANNA, 'Hello again')
    expect(await clock.untilSleeping((ms) => ms <= 14_000)).toBe(750)
  })

  test.each([
    ['at once', 0, 1000],
    ['in a month', 30 * 24 * 3600, 3_600_000],
  ])('limits the pause that the service asks for: %s', async (_name, retryAfter, pause) => {
    server.fault('getUpdates', { kind: 'error', code: 429, description: 'Too Many Requests', retryAfter })
    connect()
    expect(await clock.untilSleeping((ms) => ms === pause)).toBe(pause)
  })

  test('polls once a minute without a network, and then receives what was written', async () => {
    server.fault('getUpdates', { kind: 'reset' }, 1000)
    connect()
    server.say(ANNA, 'Are you there?')
    const pauses: number[] = []
    for (let i = 0; i < 120; i++) {
      // Each request has a limit of fifteen seconds, which is not a pause.
      pauses.push(await clock.untilSleeping((ms) => ms !== 15_000))
      clock.advance(pauses.at(-1)!)
    }
    expect(pauses.slice(6).every((pause) => pause === 45_000)).toBe(true)
    await clock.untilSleeping((ms) => ms === 45_000)
    server.clearFaults()
    clock.advance(60_000)
    await expect.poll(texts).toEqual(['Are you there?'])
    expect(statuses.at(-1)).toBe('open: ')
  })

  /** Breaks the request that waits for messages, and its repetition on a new connection. Returns the pause that follows. */
  async function breakPolls(): Promise<number> {
    await expect.poll(() => statuses.at(-1), { interval: 5 }).toBe('open: ')
    await server.untilPolled()
    await expect
      .poll(
        () => {
          server.breakPoll()
          return statuses.at(-1)
        },
        { interval: 5 },
      )
      .toMatch(/^failing/)
    return clock.untilSleeping(() => true)
  }

  test('survives an hour of broken connections with few requests, and receives each message once', async () => {
    connect()
    const start = clock.now()
    const written: string[] = []
    while (clock.now() < start + 3_600_000) {
      const pause = await breakPolls()
      written.push(`message ${written.length}`)
      server.say(ANNA, written.at(-1)!)
      clock.advance(pause)
      await expect.poll(() => texts().length, { interval: 5 }).toBe(written.length)
    }
    expect(texts()).toEqual(written)
    expect(polls().length).toBeLessThan(300)
  })

  test('does not wait longer behind a proxy that ends quiet requests early', async () => {
    connect()
    for (let i = 0; i < 5; i++) {
      await server.untilPolled()
      clock.advance(20_000)
      const pause = await breakPolls()
      expect(pause).toBe(750)
      clock.advance(pause)
    }
  })

  test('sets the menu later if it fails, without delaying messages', async () => {
    server.fault('setMyCommands', { kind: 'error', code: 500, description: 'Internal Server Error' })
    connect()
    server.say(ANNA, 'one')
    await server.untilPolled()
    expect(texts()).toEqual(['one'])
    expect(server.menu()).toEqual([])
    server.say(ANNA, 'two')
    await server.until(() => server.menu().length > 0)
    await server.untilPolled()
    server.say(ANNA, 'three')
    await expect.poll(texts).toEqual(['one', 'two', 'three'])
    expect(server.calls.filter(({ method }) => method === 'setMyCommands')).toHaveLength(2)
  })

  test('does not retry the menu on a server without menus', async () => {
    server.fault('setMyCommands', { kind: 'error', code: 400, description: 'Bad Request: unsupported' }, 10)
    connect()
    for (const text of ['one', 'two', 'three']) {
      server.say(ANNA, text)
      await expect.poll(() => texts().at(-1)).toBe(text)
    }
    await server.untilPolled()
    expect(server.calls.filter(({ method }) => method === 'setMyCommands')).toHaveLength(1)
  })

  test('removes a webhook that was set for the bot', async () => {
    server.setWebhook('https://elsewhere.example/hook')
    connect()
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    expect(server.calls.map(({ method }) => method)).toContain('deleteWebhook')
  })

  test('requests only messages and button presses, and confirms stored updates', async () => {
    connect()
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    await server.untilPolled()
    expect(server.waitingUpdates()).toBe(0)
    expect(polls().at(-1)!.fields).toMatchObject({ allowed_updates: ['message', 'callback_query'], timeout: 30 })
  })

  test('does not continue from a position that is days old, because the service restarts its numbers after a week', async () => {
    const at = clock.now()
    connect(`999999999@${at - 4 * 24 * 3_600_000}`)
    server.say(ANNA, 'Long time no see')
    await expect.poll(texts).toEqual(['Long time no see'])
    expect(polls()[0]!.fields).not.toHaveProperty('offset')
  })

  test('ignores a position from the future', async () => {
    connect(`999999999@${clock.now() + 400 * 24 * 3_600_000}`)
    server.say(ANNA, 'Back in time')
    await expect.poll(texts).toEqual(['Back in time'])
  })

  test.each([null, '', 'x', '1@', '-1@1', '99999999999999999999@1'])('ignores an invalid position: %j', async (position) => {
    connect(position)
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    expect(polls()[0]!.fields).not.toHaveProperty('offset')
  })

  test('continues from a position of today', async () => {
    connect(`500000002@${clock.now()}`)
    server.say(ANNA, 'one')
    server.say(ANNA, 'two')
    await expect.poll(texts).toEqual(['two'])
  })

  test('joins the pictures of an album that arrive separately', async () => {
    connect()
    await server.untilPolled()
    server.sendFile(ANNA, { name: 'a', bytes: Buffer.from('a'), as: 'photo', album: 'trip', caption: 'The trip' })
    const pause = await clock.untilSleeping((ms) => ms < 1000)
    server.sendFile(ANNA, { name: 'b', bytes: Buffer.from('b'), as: 'photo', album: 'trip' })
    clock.advance(pause)
    await expect.poll(() => heard.length).toBe(1)
    expect(heard).toMatchObject([{ type: 'message', message: { text: 'The trip', files: [{ size: 1 }, { size: 1 }] } }])
  })

  test('polls a server that repeats itself less often, and reads nothing twice', async () => {
    connect()
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    await server.untilPolled()
    server.fault('getUpdates', { kind: 'repeat' }, 2)
    server.say(ANNA, 'Once')
    for (const pause of [750, 1500]) clock.advance(await clock.untilSleeping((ms) => ms === pause))
    await server.untilPolled()
    expect(texts()).toEqual(['Hello', 'Once'])
    expect(statuses).toContain('failing: The server repeats messages that were already confirmed.')
  })

  test('refuses a response of more than 8 MB and retries', async () => {
    server.fault('getUpdates', { kind: 'garbage', body: `{"ok":true,"result":["${'x'.repeat(8_000_001)}"]}` }, 2)
    connect()
    server.say(ANNA, 'Hello')
    for (const pause of [750, 1500]) clock.advance(await clock.untilSleeping((ms) => ms === pause))
    await expect.poll(texts).toEqual(['Hello'])
  })

  test('sorts and deduplicates messages', async () => {
    const message = (id: number, text: string) => ({
      update_id: 500_000_000 + id,
      message: { message_id: id, from: ANNA, chat: { id: ANNA.id, type: 'private' }, text },
    })
    const result = [message(3, 'three'), message(1, 'one'), 'noise', message(2, 'two'), message(1, 'one')]
    server.fault('getUpdates', { kind: 'garbage', body: JSON.stringify({ ok: true, result }) })
    connect()
    await expect.poll(texts).toEqual(['one', 'two', 'three'])
    expect(heard.map(({ position }) => position.split('@')[0])).toEqual(['500000002', '500000003', '500000004'])
  })

  test('hears what is written after an update whose number is too high', async () => {
    const high = { update_id: 2 ** 31 - 1, message: { message_id: 1, from: ANNA, chat: { id: ANNA.id, type: 'private' }, text: 'high' } }
    server.fault('getUpdates', { kind: 'garbage', body: JSON.stringify({ ok: true, result: [high] }) })
    connect()
    await expect.poll(texts).toEqual(['high'])
    // The poll that confirms it is not answered with anything lower.
    await server.untilPolled()
    server.answerPoll()
    clock.advance(await clock.untilSleeping((ms) => ms === 1000))
    await server.untilPolled()
    server.say(ANNA, 'Can you hear me?')
    await expect.poll(texts).toEqual(['high', 'Can you hear me?'])
  })

  test('takes no more messages at once than it has asked for', async () => {
    const result = Array.from({ length: 150 }, (_, i) => ({
      update_id: 500_000_001 + i,
      message: { message_id: i, from: ANNA, chat: { id: ANNA.id, type: 'private' }, text: `${i}` },
    }))
    server.fault('getUpdates', { kind: 'garbage', body: JSON.stringify({ ok: true, result }) })
    connect()
    await server.untilPolled()
    expect(texts()).toHaveLength(100)
    expect(polls()[1]!.fields['offset']).toBe(500_000_101)
  })

  test('pauses between polls if the server does not hold the request', async () => {
    server.fault('getUpdates', { kind: 'garbage', body: '{"ok":true,"result":[]}' }, 3)
    connect()
    for (let i = 0; i < 2; i++) clock.advance(await clock.untilSleeping((ms) => ms === 1000))
    await server.untilPolled()
    expect(polls()).toHaveLength(4)
  })

  test('skips unknown updates and those of bots and channels', async () => {
    const from = { is_bot: false, ...ANNA }
    const chat = { id: ANNA.id, type: 'private' }
    connect()
    server.sendRaw({ edited_message: { message_id: 1, from, chat, text: 'edited' } })
    server.sendRaw({ message: { message_id: 2, from: { ...from, is_bot: true }, chat, text: 'a bot' } })
    server.sendRaw({ message: { message_id: 3, chat: { id: -100, type: 'channel' }, text: 'a channel' } })
    server.sendRaw({ message: { message_id: 'four', from, chat, text: 'not a number' } })
    server.sendRaw({ message: { message_id: 5, from, chat, pinned_message: {} } })
    server.sendRaw({ callback_query: { id: 'x', from, chat_instance: 'y', game_short_name: 'z' } })
    server.sendRaw({ something_new: { deep: [1] } })
    server.sendRaw({ message: { message_id: 8, from, chat, poll: {} } })
    server.say(ANNA, 'me')
    await expect.poll(texts).toEqual(['', 'me'])
    expect(heard).toMatchObject([{ message: { unreadable: 'poll' } }, { message: { unreadable: null } }])
    await server.untilPolled()
    expect(server.waitingUpdates()).toBe(0)
  })

  test('sends the text without formatting if the formatting is refused', async () => {
    connect()
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    server.fault('sendMessage', { kind: 'error', code: 400, description: "Bad Request: can't parse entities: unsupported" })
    expect(await send('**bold** words')).toMatchObject({ state: 'sent' })
    expect(server.sent).toMatchObject([{ text: 'bold words', entities: [] }])
  })

  test.each(['Bad Request: BUTTON_DATA_INVALID', "Bad Request: can't parse inline keyboard button", 'Bad Request: REPLY_MARKUP_TOO_LONG'])(
    'sends the text without buttons if the buttons are refused (%s)',
    async (description) => {
      connect()
      server.say(ANNA, 'Hello')
      await expect.poll(texts).toEqual(['Hello'])
      server.fault('sendMessage', { kind: 'error', code: 400, description })
      expect(await send('**May I?** Write `approve 7F3K`.', [{ label: 'Yes', action: 'approve:1' }])).toMatchObject({ state: 'sent' })
      expect(server.sent).toMatchObject([{ text: 'May I? Write approve 7F3K.', buttons: [] }])
    },
  )

  test('finds the reason of a refusal behind the words that are shown', async () => {
    connect()
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    server.fault('sendMessage', { kind: 'error', code: 400, description: `Bad Request: ${'very '.repeat(60)}wrong BUTTON_DATA` })
    expect(await send('May I?', [{ label: 'Yes', action: 'approve:1' }])).toMatchObject({ state: 'sent' })
    expect(server.sent).toMatchObject([{ text: 'May I?', buttons: [] }])
  })

  test('replaces half a character and sends the rest', async () => {
    connect()
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    expect(await send('one \ud83d **two** \ude00', [{ label: 'Yes \ud83d', action: 'y' }])).toMatchObject({ state: 'sent' })
    expect(server.sent).toMatchObject([{ text: 'one \ufffd two \ufffd', buttons: [{ text: 'Yes \ufffd' }] }])
  })

  test.each([
    [403, 'Forbidden: bot was blocked by the user'],
    [403, 'Forbidden: user is deactivated'],
    [403, "Forbidden: bot can't initiate conversation with a user"],
    [400, 'Bad Request: chat not found'],
    [400, 'Bad Request: group chat was upgraded to a supergroup chat'],
  ])('fails permanently: %i %s', async (code, description) => {
    connect()
    await server.untilPolled()
    server.fault('sendMessage', { kind: 'error', code, description })
    expect(await send('Hello')).toMatchObject({ state: 'failed', permanent: true, problem: messageMatching(/\.$/) })
    expect(server.calls.filter(({ method }) => method === 'sendMessage')).toHaveLength(1)
    expect(statuses.at(-1)).toBe('open: ')
  })

  test('logs the channel out if sending refuses the token', async () => {
    connect()
    await server.untilPolled()
    server.fault('sendMessage', { kind: 'error', code: 401, description: 'Unauthorized' })
    expect(await send('Hello')).toMatchObject({ state: 'failed', permanent: false })
    expect(statuses.at(-1)).toMatch(/^logged_out: .*@BotFather/)
  })

  test('ignores errors about deleted messages and old presses', async () => {
    connect()
    await server.untilPolled()
    await connection!.removeButtons(String(ANNA.id), '999')
    await connection!.removeButtons(String(ANNA.id), '')
    server.fault('answerCallbackQuery', {
      kind: 'error',
      code: 400,
      description: 'Bad Request: query is too old and response timeout expired',
    })
    await connection!.answerPress('old', `${'x'.repeat(199)}😀`)
    expect((server.calls.at(-1)!.fields['text'] as string).isWellFormed()).toBe(true)
    expect(statuses).toEqual(['open: '])
  })

  test('survives a refusal without a reason', async () => {
    const refusal = { kind: 'error', code: 400, description: undefined as unknown as string } as const
    server.fault('getUpdates', refusal)
    connect()
    await expect.poll(() => statuses.at(-1)).toMatch(/^failing: Telegram|^failing: .*127/)
    clock.advance(await clock.untilSleeping((ms) => ms <= 10_000))
    server.say(ANNA, 'still there?')
    await expect.poll(texts).toEqual(['still there?'])
    server.fault('sendChatAction', refusal)
    await expect(connection!.showTyping(String(ANNA.id))).resolves.toBeUndefined()
    server.fault('sendMessage', refusal)
    expect(await send('Hello')).toMatchObject({ state: 'failed', permanent: true })
  })

  test('reports a file that is too large to download', async () => {
    connect()
    server.sendFile(ANNA, { name: 'huge.zip', bytes: Buffer.alloc(21 * 1024 * 1024), size: 1 })
    await expect.poll(() => heard.length).toBe(1)
    const [file] = (heard[0] as Extract<Incoming, { type: 'message' }>).message.files
    expect(await file!.download(new AbortController().signal)).toEqual({ problem: expect.stringContaining('file is too big') as string })
    server.fault('getFile', { kind: 'garbage', body: JSON.stringify({ ok: true, result: { file_path: 'documents/file-1' } }) })
    expect(await file!.download(new AbortController().signal)).toEqual({
      problem: expect.stringContaining('sent more data than is accepted') as string,
    })
  })

  test('disables link previews', async () => {
    connect()
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    await send('See https://a.example/?secret=1')
    const message = server.calls.findLast(({ method }) => method === 'sendMessage')
    expect(message!.fields).toMatchObject({ link_preview_options: { is_disabled: true } })
  })

  test('truncates a file at 50 MB and says so in it', async () => {
    connect()
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    expect(await send('€'.repeat(17_000_000))).toMatchObject({ state: 'sent' })
    const [beginning, whole] = server.sent
    expect(beginning!.text).toMatch(/€\n\n📄 This is the beginning\. More of it is in answer\.md, and the full text in Deckhand\.$/)
    const { bytes } = whole!.document!
    expect(bytes.length).toBeLessThanOrEqual(50_000_000)
    expect(bytes.length).toBeGreaterThan(49_999_990)
    expect(bytes.subarray(-100).toString('utf8')).toMatch(
      /€\n\n\[Cut off here: [\d,]+ of 51,000,000 bytes\. Deckhand has the full text\.\]\n$/,
    )
  })

  test.each([
    ['the service', { kind: 'error', code: 413, description: 'Request Entity Too Large' }],
    ['a proxy in front of it', { kind: 'garbage', status: 413, body: '<html><h1>413 Request Entity Too Large</h1></html>' }],
  ] as const)('says that a file is too large for %s, and does not retry it', async (_name, fault) => {
    connect()
    server.say(ANNA, 'Hello')
    await expect.poll(texts).toEqual(['Hello'])
    server.fault('sendDocument', fault)
    expect(await send('long\n'.repeat(20_000))).toMatchObject({ state: 'sent' })
    expect(server.sent.map(({ text }) => text)).toEqual([
      expect.stringContaining('This is the beginning') as string,
      expect.stringMatching(/^The file answer\.md was not sent: The server at \S+ does not accept anything that large\.$/) as string,
    ])
  })

  test('refuses a file path that leaves the folder of files', async () => {
    connect()
    server.sendFile(ANNA, { name: 'a', bytes: Buffer.from('a') })
    await expect.poll(() => heard.length).toBe(1)
    const [file] = (heard[0] as Extract<Incoming, { type: 'message' }>).message.files
    server.fault('getFile', { kind: 'garbage', body: JSON.stringify({ ok: true, result: { file_path: '../../bot1:x/getMe' } }) })
    expect(await file!.download(new AbortController().signal)).toEqual({ problem: 'the service does not say where it is' })
  })
})
