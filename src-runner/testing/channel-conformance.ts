import type { Message } from '../contract/messages.ts'
import { englishText, quote } from '../lib/messages.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { OutgoingMessage, SendResult } from '../domain/outbox/outgoing.ts'
import { cpuMsDuring } from './cpu-time.ts'
import { createHandClock, type HandClock } from './hand-clock.ts'
import { messageMatching } from './message-matching.ts'
import { MAX_MESSAGES } from '../adapters/channels/message-parts.ts'
import type { ChannelAccess } from '../domain/channels/channel-access.ts'
import type { ButtonPress, ChannelDriver, Connection, Incoming, IncomingMessage } from '../adapters/channels/channel.ts'

/** What the tests need from a service: a local server that speaks its real protocol. */
export type ServedService = {
  access: ChannelAccess
  accountName: string
  /** The private chat of the person who writes. */
  chatId: string
  say(text: string, options?: { replyTo?: string; isForwarded?: boolean }): void
  sayInGroup(text: string): void
  sendFile(name: string, bytes: Uint8Array): void
  press(action: string): void
  /** Our messages as the person sees them, in order. */
  sent(): { text: string; buttons: string[]; file: { name: string; bytes: Uint8Array } | null }[]
  untilSent(count: number): Promise<void>
  notes(): string[]
  /** null: the service cannot show it in a private chat. */
  isTyping: (() => boolean) | null
  /** Resolves when the connection waits for messages. */
  untilListening(): Promise<void>
  untilAsked(times: number): Promise<void>
  timesAsked(): number
  /** The next call fails like this. */
  fault(fault: ServiceFault): void
  /** The next message that we send fails like this. */
  faultOnSending(fault: ServiceFault): void
  /** The next file that we send fails like this. */
  faultOnFile(fault: ServiceFault): void
  block(): void
  revokeToken(): void
  close(): Promise<void>
}
export type ServiceFault = 'reset' | 'garbage' | 'error' | 'stall' | 'slow_down'
/** The pause that `slow_down` asks for. */
export const SLOW_DOWN_SECONDS = 7

export type DriverUnderTest = { driver: ChannelDriver; service: ServedService }

/**
 * What a service may lack. token: something that a person enters. buttons: below messages. position: by which messages are read
 * again. pause: a time for which it wants to be left alone.
 */
type Ability = 'token' | 'buttons' | 'position' | 'pause'

/** What every driver must do. The product relies on all of this, and on nothing more. */
export function describeChannelDriver(
  name: string,
  start: (clock: HandClock) => Promise<DriverUnderTest>,
  { lacks = [] }: { lacks?: readonly Ability[] } = {},
): void {
  const has = (ability: Ability) => !lacks.includes(ability)
  describe(`${name} as a channel`, () => {
    let clock: HandClock
    let driver: ChannelDriver
    let service: ServedService
    let folder: string
    const opened: Listening[] = []
    /** The parts that were reported as sent. */
    let parts: number[]
    let mostParts: number
    const goesOn = (partsSent: number) => {
      parts.push(partsSent)
      return partsSent < mostParts
    }

    beforeEach(async () => {
      parts = []
      mostParts = Infinity
      clock = createHandClock()
      folder = mkdtempSync(join(tmpdir(), 'deckhand-channel-'))
      ;({ driver, service } = await start(clock))
    })
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((one) => one.connection.close()))
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const never = new AbortController().signal
    const listen = (position: string | null = null, keep: (incoming: Incoming) => void = () => {}) => {
      const listening = listenOn(driver, service, position, keep)
      opened.push(listening)
      return listening
    }
    const send = (listening: Listening, text: string, more: Partial<OutgoingMessage> = {}) =>
      listening.connection.deliver(messageTo(service.chatId, text, more), never, goesOn)
    /** Lets the shortest of the current pauses pass. */
    const passAPause = async () => clock.advance(await clock.untilSleeping((ms) => ms <= 10_000))

    /** The person has written, so the account may write to them. */
    const listenToSomebody = async () => {
      const listening = listen()
      service.say('Hello')
      await listening.untilHeard(1)
      await listening.untilStatus('open')
      return listening
    }

    describe.runIf(has('token'))('identifying an account', () => {
      test('returns the account of a token', async () => {
        expect(await driver.identify(service.access, never)).toMatchObject({ state: 'known', account: { name: service.accountName } })
      })

      test('refuses a wrong token without repeating it', async () => {
        const token = service.access.token.replace(/.{6}$/, 'abcdef')
        const identified = await driver.identify({ ...service.access, token }, never)
        expect(identified).toMatchObject({ state: 'refused', problem: messageMatching(/token/) })
        expect(JSON.stringify(identified)).not.toContain(token)
      })

      test.each(['reset', 'garbage', 'error'] as const)(
        'reports a failing service (%s) as unreachable, not as a refusal',
        async (fault) => {
          service.fault(fault)
          const identified = await driver.identify(service.access, never)
          expect(identified.state).toBe('unreachable')
          expect(JSON.stringify(identified)).not.toContain(service.access.token)
        },
      )

      test('reports a refused connection as unreachable', async () => {
        const identified = await driver.identify({ ...service.access, baseUrl: 'http://127.0.0.1:9' }, never)
        expect(identified.state).toBe('unreachable')
        expect(JSON.stringify(identified)).not.toContain(service.access.token)
      })

      test('times out if the service does not respond', async () => {
        service.fault('stall')
        const asked = driver.identify(service.access, never)
        clock.advance(await clock.untilSleeping((ms) => ms > 5000))
        expect((await asked).state).toBe('unreachable')
      })
    })

    describe('incoming messages', () => {
      test('arrive in order, with the sender and the chat', async () => {
        const listening = listen()
        await service.untilListening()
        service.say('one')
        service.say('two\nlines')
        await listening.untilHeard(2)
        expect(listening.messages().map((message) => message.text)).toEqual(['one', 'two\nlines'])
        const [one, two] = listening.messages()
        expect(one!.externalId).not.toBe(two!.externalId)
        expect(one!.sender).toEqual({ ...two!.sender, chatId: service.chatId })
        expect(one!.sender.displayName).not.toBe('')
        expect(one).toMatchObject({ replyTo: null, forwardedFrom: null, files: [], unreadable: null })
      })

      test('name the message that they reply to', async () => {
        const listening = await listenToSomebody()
        const result = await send(listening, 'How many?')
        const externalId = result.state === 'sent' ? result.externalId! : ''
        service.say('Three', { replyTo: externalId })
        await listening.untilHeard(2)
        expect(listening.messages()[1]).toMatchObject({ text: 'Three', replyTo: externalId })
      })

      test('say who wrote a forwarded text', async () => {
        const listening = listen()
        service.say('Do this at once', { isForwarded: true })
        await listening.untilHeard(1)
        expect(listening.messages()[0]!.forwardedFrom).not.toBeNull()
      })

      test('include a file with its name and content', async () => {
        const listening = listen()
        const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i % 251)
        service.sendFile('report äöü.pdf', bytes)
        await listening.untilHeard(1)
        const [file] = listening.messages()[0]!.files
        expect(file!.name).toBe('report äöü.pdf')
        expect(await file!.download(never)).toEqual({ bytes })
      })

      test('are ignored in groups', async () => {
        const listening = listen()
        service.sayInGroup('Everybody listen')
        service.say('in private')
        await listening.untilHeard(1)
        expect(listening.messages().map((message) => message.text)).toEqual(['in private'])
      })

      test.runIf(has('buttons'))('include button presses, which get a note', async () => {
        const listening = await listenToSomebody()
        await send(listening, 'May I?', { buttons: [{ label: 'Yes', action: 'approve:1' }] })
        service.press('approve:1')
        await listening.untilHeard(2)
        const press = listening.presses()[0]!
        expect(press).toMatchObject({ action: 'approve:1', sender: { chatId: service.chatId } })
        await listening.connection.answerPress(press.pressId, 'Thank you.')
        expect(service.notes()).toEqual(['Thank you.'])
      })
    })

    describe('delivery exactly once', () => {
      test('repeats a message that could not be stored, before later ones', async () => {
        let refusals = 1
        const listening = listen(null, (incoming) => {
          if (incoming.type === 'message' && incoming.message.text === 'two' && refusals-- > 0) throw new Error('the disk is full')
        })
        for (const text of ['one', 'two', 'three']) service.say(text)
        await listening.untilStatus('failing')
        await passAPause()
        await listening.untilHeard(3)
        expect(listening.messages().map((message) => message.text)).toEqual(['one', 'two', 'three'])
      })

      test.runIf(has('position'))('continues after the stored messages in a new connection', async () => {
        const first = listen()
        service.say('one')
        service.say('two')
        await first.untilHeard(2)
        // As after a crash: the last stored position is that of the first message.
        const positions = first.heard.map((incoming) => incoming.position)
        await first.connection.close()
        service.say('three')
        const second = listen(positions[0])
        await second.untilHeard(2)
        expect(second.messages().map((message) => message.text)).toEqual(['two', 'three'])
        await second.connection.close()
        service.say('four')
        const third = listen(second.heard.at(-1)!.position)
        await third.untilHeard(1)
        expect(third.messages().map((message) => message.text)).toEqual(['four'])
      })

      test('hands over nothing after it was closed', async () => {
        const listening = listen()
        await service.untilListening()
        await listening.connection.close()
        service.say('too late')
        expect(await send(listening, 'too late')).toMatchObject({ state: 'failed', permanent: false })
        expect(listening.heard).toEqual([])
        expect(service.sent()).toEqual([])
      })
    })

    describe('a failing service', () => {
      const faults = ['reset', 'garbage', 'error', ...(has('pause') ? (['slow_down'] as const) : [])] as const
      test.each(faults)('reports %s, retries by itself and recovers', async (fault) => {
        service.fault(fault)
        const listening = listen()
        await listening.untilStatus('failing')
        expect(listening.problem()).toMatch(/^[A-Z].+\.$/s)
        await passAPause()
        await listening.untilStatus('open')
        service.say('still there?')
        await listening.untilHeard(1)
        expect(JSON.stringify(listening.statuses)).not.toContain(service.access.token)
      })

      test('is polled less often the longer it fails', async () => {
        for (let i = 0; i < 5; i++) service.fault('error')
        const listening = listen()
        const pauses: number[] = []
        for (let i = 0; i < 5; i++) {
          await service.untilAsked(i + 1)
          pauses.push(await clock.untilSleeping((ms) => ms <= 14_000))
          clock.advance(pauses.at(-1)!)
        }
        await listening.untilStatus('open')
        expect(pauses).toEqual([...pauses].sort((a, b) => a - b))
        expect(pauses[4]! / pauses[0]!).toBeGreaterThan(8)
      })

      test.runIf(has('pause'))('is left alone for the time it asks for', async () => {
        service.fault('slow_down')
        listen()
        expect(await clock.untilSleeping((ms) => ms === SLOW_DOWN_SECONDS * 1000)).toBe(SLOW_DOWN_SECONDS * 1000)
      })

      test('is not polled again after it refused the token', async () => {
        const listening = listen()
        await service.untilListening()
        service.revokeToken()
        await listening.untilStatus('logged_out')
        expect(listening.problem()).toMatch(has('token') ? /token/ : /Link it again/)
        const asked = service.timesAsked()
        clock.advance(3_600_000)
        await listening.connection.close()
        expect(service.timesAsked()).toBe(asked)
      })

      test('can be closed while a request is held', async () => {
        service.fault('stall')
        const listening = listen()
        await service.untilAsked(1)
        await listening.connection.close()
        expect(listening.heard).toEqual([])
      })

      test('counts every response as a round trip', async () => {
        const listening = listen()
        service.say('one')
        await listening.untilHeard(1)
        await listening.untilStatus('open')
        const before = listening.roundTrips()
        await send(listening, 'two')
        expect(listening.roundTrips()).toBeGreaterThan(before)
      })
    })

    describe('outgoing messages', () => {
      const sentAll = (result: SendResult) => expect(result).toMatchObject({ state: 'sent', externalId: expect.any(String) as string })

      test('show Markdown as formatting', async () => {
        const listening = await listenToSomebody()
        sentAll(await send(listening, '# Done\n\nThe **bold** one, `x < y`, and [a link](https://example.com/?a=1&b=2).'))
        const { text } = service.sent()[0]!
        for (const part of ['Done', 'The bold one', 'x < y', 'a link']) expect(text).toContain(part)
        expect(text).not.toMatch(/\*\*|`|^#/)
      })

      test.runIf(has('buttons'))('have buttons below the last piece, which can be removed', async () => {
        const listening = await listenToSomebody()
        const buttons = [
          { label: 'Approve', action: 'approve:0191' },
          { label: 'Reject', action: 'reject:0191' },
        ]
        const result = await send(listening, `${'word '.repeat(driver.limits.messageChars * 0.6)}\n\nMay I?`, { buttons })
        const pieces = service.sent()
        expect(pieces.length).toBeGreaterThan(1)
        expect(pieces.map((piece) => piece.buttons)).toEqual([...pieces.slice(1).map(() => []), ['approve:0191', 'reject:0191']])
        expect(result.state).toBe('sent')
        await listening.connection.removeButtons(service.chatId, (result as { externalId: string }).externalId)
        expect(service.sent().at(-1)!.buttons).toEqual([])
      })

      test('deliver a long text completely, with its code formatted', async () => {
        const listening = await listenToSomebody()
        const words = Array.from({ length: Math.floor((driver.limits.messageChars * (MAX_MESSAGES - 1.5)) / 9) }, (_, i) => `word${i}`)
        const text = `${words.slice(0, 500).join(' ')}\n\n\`\`\`ts\n${words.slice(500).join('\n')}\n\`\`\`\n\nThe end.`
        sentAll(await send(listening, text))
        const arrived = service.sent().map((piece) => piece.text)
        expect(arrived.join('\n').match(/word\d+/g)).toEqual(words)
        expect(arrived.join('')).not.toContain('```')
        expect(arrived.at(-1)).toMatch(/The end\.$/)
      })

      test('continue after the pieces that an earlier try sent', async () => {
        const listening = await listenToSomebody()
        const text = Array.from({ length: driver.limits.messageChars / 3 }, (_, i) => `word${i}`).join(' ')
        const whole = await send(listening, text)
        expect(whole.state).toBe('sent')
        const pieces = service.sent().map((piece) => piece.text)
        const again = await send(listening, text, { partsSent: 1 })
        expect(again.state).toBe('sent')
        expect(service.sent().map((piece) => piece.text)).toEqual([...pieces, ...pieces.slice(1)])
      })

      describe('a text of more than five messages', () => {
        const long = () => {
          const shown = driver.limits.messageChars * (MAX_MESSAGES + 2)
          const words = Array.from({ length: Math.ceil(shown / 8) }, (_, i) => `**word${i}** 🙂`)
          return `# A report\n\n${words.join('\n')}\n\nThe end.`
        }
        const takesFiles = () => driver.limits.fileBytes !== null

        test('is sent as its beginning, with a note, and a file', async () => {
          const listening = await listenToSomebody()
          const path = join(folder, 'chart.bin')
          writeFileSync(path, 'chart')
          const buttons = [{ label: 'Yes', action: 'approve:1' }]
          sentAll(await send(listening, long(), { buttons, files: takesFiles() ? [path] : [] }))
          const [beginning, ...rest] = service.sent()
          expect(beginning!.text).toMatch(/^A report\s+word0 🙂\s+word1 /)
          expect(beginning!.text).toMatch(/\n\n📄 This is the beginning\. .*(in answer\.md|in Deckhand)\.$/)
          expect(beginning!.text.length).toBeGreaterThan(driver.limits.messageChars / 2)
          expect(beginning!.text.length).toBeLessThanOrEqual(driver.limits.messageChars)
          expect(beginning!.buttons).toEqual(has('buttons') ? ['approve:1'] : [])
          expect(rest.map(({ file }) => file?.name)).toEqual(takesFiles() ? ['answer.md', 'chart.bin'] : [])
          if (takesFiles()) expect(Buffer.from(rest[0]!.file!.bytes).toString('utf8')).toBe(long())
        })

        test('is not sent as a file if five messages are enough', async () => {
          const listening = await listenToSomebody()
          const line = `${'word '.repeat(20).trim()}\n`
          const text = line.repeat(Math.floor((driver.limits.messageChars * (MAX_MESSAGES - 0.5)) / line.length))
          sentAll(await send(listening, text))
          expect(service.sent().length).toBe(MAX_MESSAGES)
          expect(
            service
              .sent()
              .map((piece) => piece.text)
              .join('\n'),
          ).toBe(text.trim())
        })

        test('is completed with the file alone if the beginning was sent', async () => {
          if (!takesFiles()) return
          const listening = await listenToSomebody()
          await service.untilListening()
          for (const fault of ['garbage', 'error', 'slow_down'] as const) {
            parts = []
            const before = service.sent().length
            service.faultOnFile(fault)
            expect(await send(listening, long())).toMatchObject({ state: 'failed', permanent: false, partsSent: 1 })
            expect(parts).toEqual([1])
            if (fault === 'slow_down') clock.advance(SLOW_DOWN_SECONDS * 1000)
            expect(await send(listening, long(), { partsSent: 1 })).toMatchObject({ state: 'sent' })
            expect(
              service
                .sent()
                .slice(before)
                .map(({ file }) => file?.name),
            ).toEqual([undefined, 'answer.md'])
          }
        })

        test('is sent even if an earlier version counted more parts', async () => {
          const listening = await listenToSomebody()
          sentAll(await send(listening, long(), { partsSent: 200 }).then((result) => ({ ...result, externalId: 'any' })))
          expect(service.sent()).toHaveLength(1)
          expect(service.sent()[0]!.file?.name).toBe(takesFiles() ? 'answer.md' : undefined)
        })

        test('is parsed quickly, even with a million characters of Markdown', async () => {
          const listening = await listenToSomebody()
          const texts = ['x'.repeat(1_000_000), '['.repeat(1_000_000), '\n'.repeat(1_000_000), `|a|\n|-|\n${'|x|\n'.repeat(250_000)}`]
          const sendAll = async () => {
            for (const text of texts) expect(await send(listening, text)).toMatchObject({ state: 'sent' })
          }
          expect(await cpuMsDuring(sendAll)).toBeLessThan(10_000)
          expect(service.sent().length).toBeLessThanOrEqual(texts.length * 2)
        })
      })

      test('report each part except the last', async () => {
        const listening = await listenToSomebody()
        const text = 'word '.repeat((driver.limits.messageChars * (MAX_MESSAGES - 1.5)) / 5)
        sentAll(await send(listening, text))
        const messages = service.sent().length
        expect(messages).toBeGreaterThan(2)
        expect(parts).toEqual(Array.from({ length: messages - 1 }, (_, i) => i + 1))
      })

      test('stop when they are withdrawn between two parts', async () => {
        const listening = await listenToSomebody()
        mostParts = 1
        const text = 'word '.repeat((driver.limits.messageChars * (MAX_MESSAGES - 1.5)) / 5)
        expect(await send(listening, text)).toMatchObject({ state: 'failed', permanent: false, partsSent: 1 })
        expect(service.sent()).toHaveLength(1)
      })

      test('skip pieces without visible text', async () => {
        const listening = await listenToSomebody()
        for (const text of ['\u200b\u2060', '\u2800 \u3164', '']) sentAll(await send(listening, text))
        expect(service.sent().map(({ text }) => text)).toEqual(['(no text)', '(no text)', '(no text)'])
      })

      test('end with the files, and say which are missing', async () => {
        const listening = await listenToSomebody()
        const path = join(folder, 'chart ü.bin')
        const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7) % 256)
        writeFileSync(path, bytes)
        sentAll(await send(listening, 'Here it is.', { files: [path, join(folder, 'gone.txt')] }))
        const [text, file, note] = service.sent()
        expect(text!.text).toBe('Here it is.')
        expect(file!.file!.name).toBe('chart ü.bin')
        expect(Buffer.compare(file!.file!.bytes, bytes)).toBe(0)
        expect(note!.text).toMatch(/gone\.txt.*it is not there any more/)
      })

      test.each(['reset', 'garbage', 'error'] as const)('fail temporarily at %s, with the parts that were sent', async (fault) => {
        const listening = await listenToSomebody()
        await service.untilListening()
        const text = Array.from({ length: 2500 }, (_, i) => `word${i}`).join(' ')
        service.faultOnSending(fault)
        const first = await send(listening, text)
        expect(first).toMatchObject({ state: 'failed', permanent: false, partsSent: 0 })
        expect(first).toHaveProperty('problem.code')
        expect(JSON.stringify(first)).not.toContain(service.access.token)
        expect(await send(listening, text)).toMatchObject({ state: 'sent' })
      })

      test.runIf(has('pause'))('report when to try again after too many', async () => {
        const listening = await listenToSomebody()
        await service.untilListening()
        service.faultOnSending('slow_down')
        expect(await send(listening, 'Hello')).toMatchObject({
          state: 'failed',
          permanent: false,
          partsSent: 0,
          retryAfterMs: SLOW_DOWN_SECONDS * 1000,
        })
      })

      test('fail permanently for a person who has blocked us', async () => {
        const listening = await listenToSomebody()
        service.block()
        expect(await send(listening, 'Hello')).toMatchObject({ state: 'failed', permanent: true, partsSent: 0 })
      })

      test('fail permanently for a chat that does not exist', async () => {
        const listening = await listenToSomebody()
        const result = await listening.connection.deliver(messageTo('999999999', 'Hello'), never, goesOn)
        expect(result).toMatchObject({ state: 'failed', permanent: true })
      })

      test('stop when they are aborted', async () => {
        const listening = await listenToSomebody()
        await service.untilListening()
        service.faultOnSending('stall')
        const stopping = new AbortController()
        const asked = service.timesAsked()
        const sending = listening.connection.deliver(messageTo(service.chatId, 'Hello'), stopping.signal, goesOn)
        await service.untilAsked(asked + 1)
        stopping.abort(new Error('the runner stops'))
        expect(await sending).toMatchObject({ state: 'failed', permanent: false, partsSent: 0 })
      })

      test('arrive with any text', async () => {
        const listening = await listenToSomebody()
        const hostile = fc.oneof(
          fc.string({ unit: 'grapheme', maxLength: 200 }),
          fc
            .array(
              fc.constantFrom('**', '_', '`', '```\n', '[', '](', ')', '<b>', '&lt;', '\n', '> ', '- ', '1. ', '|', 'x', '\\', '~~', ' '),
              {
                maxLength: 60,
              },
            )
            .map((parts) => parts.join('')),
        )
        await fc.assert(
          fc.asyncProperty(hostile, async (text) => {
            const before = service.sent().length
            const result = await send(listening, `start ${text} end`)
            expect(result).toMatchObject({ state: 'sent' })
            const arrived = service
              .sent()
              .slice(before)
              .map((piece) => piece.text)
              .join('')
            expect(arrived).toMatch(/^start/)
            expect(arrived.length).toBeGreaterThanOrEqual(8)
          }),
          { numRuns: 60 },
        )
      })

      test('show that a reply is being written', async () => {
        const listening = await listenToSomebody()
        await listening.connection.showTyping(service.chatId)
        await expect.poll(() => service.isTyping?.() ?? true).toBe(true)
      })
    })
  })
}

type Listening = {
  connection: Connection
  heard: Incoming[]
  statuses: { status: string; problem: Message | null }[]
  messages(): IncomingMessage[]
  presses(): ButtonPress[]
  problem(): string
  roundTrips(): number
  untilHeard(count: number): Promise<void>
  untilStatus(status: string): Promise<void>
}

function listenOn(
  driver: ChannelDriver,
  { access, chatId }: ServedService,
  position: string | null,
  keep: (incoming: Incoming) => void,
): Listening {
  const heard: Incoming[] = []
  const statuses: Listening['statuses'] = []
  const watchers = new Set<() => void>()
  let roundTrips = 0
  const look = () => [...watchers].forEach((watcher) => watcher())
  const until = (isTrue: () => boolean) =>
    new Promise<void>((resolve) => {
      const watcher = () => {
        if (!isTrue()) return
        watchers.delete(watcher)
        resolve()
      }
      watchers.add(watcher)
      watcher()
    })
  const connection = driver.connect(access, position, {
    async incoming(incoming) {
      keep(incoming)
      heard.push(incoming)
      look()
    },
    status(status, problem) {
      statuses.push({ status, problem })
      look()
    },
    roundTrip: () => roundTrips++,
    knownChats: () => [chatId],
    readFile: (path) =>
      readFile(path).then(
        (bytes) => ({ bytes }),
        () => ({ problem: 'it is not there any more' }),
      ),
  })
  const said = () => heard.filter((incoming) => incoming.type !== 'nothing')
  return {
    connection,
    heard,
    statuses,
    messages: () => heard.flatMap((incoming) => (incoming.type === 'message' ? [incoming.message] : [])),
    presses: () => heard.flatMap((incoming) => (incoming.type === 'press' ? [incoming.press] : [])),
    problem: () => englishText(statuses.at(-1)?.problem ?? quote('')),
    roundTrips: () => roundTrips,
    untilHeard: (count) => until(() => said().length >= count),
    untilStatus: (status) => until(() => statuses.at(-1)?.status === status),
  }
}

let messages = 0

/** Each is a message of its own: a service may leave out what it believes to be repeated. */
function messageTo(chatId: string, text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return { id: `message-${++messages}`, channelId: 'channel', chatId, text, buttons: [], files: [], partsSent: 0, ...more }
}
