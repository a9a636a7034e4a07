import { openWebSocket, type OpenedSocket } from '../../../platform/net/web-socket.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage } from '../../../lib/messages.ts'
import { Frame } from './events.ts'
import { sentenceFor, trouble } from '../service-calls.ts'
import { appLink, type SlackApi, type Trouble } from './web-api.ts'

/** `isAcknowledged`: Slack does not repeat it. */
export type Envelope = { id: string; type: string; payload: unknown; isAcknowledged: boolean }

/** Why a connection has ended. `isPlanned`: Slack asked us to open another one. */
export type Ended = { isPlanned: boolean; trouble: Trouble }

export type SocketMode = {
  /** Resolves when Slack has greeted us, or with the end. */
  greeted: Promise<Ended | null>
  ended: Promise<Ended>
  isEnded(): boolean
  /** The next envelope. When the connection has ended: those that are acknowledged, and then null. */
  next(): Promise<Envelope | null>
  acknowledge(id: string): void
  close(): void
}

const HELLO_DEADLINE_MS = 20_000
const PING_EVERY_MS = 30_000
const PONG_DEADLINE_MS = 15_000
/** A person waits for these, and after three seconds Slack says that they failed. */
const ACKNOWLEDGED_AT_ONCE = new Set(['interactive', 'slash_commands'])
const MAX_MESSAGE_BYTES = 2_000_000
/** Slack repeats what is not acknowledged, and its histories have it, so more need not be kept. */
const MAX_WAITING = { envelopes: 1000, chars: 20_000_000 }

type SocketModeDeps = { api: SlackApi; clock: Clock; appToken: string | null; onRoundTrip(): void }

/** One connection of Socket Mode. It does not reconnect. */
export async function openSocketMode({ api, clock, appToken, onRoundTrip }: SocketModeDeps, url: string): Promise<SocketMode> {
  const { server } = api
  const queue: (Envelope & { chars: number })[] = []
  let waitingChars = 0
  let isFull = false
  const hello = Promise.withResolvers<Ended | null>()
  const end = Promise.withResolvers<Ended>()
  let socket: OpenedSocket | null = null
  let hasEnded = false
  let wake = () => {}
  let cancelHello = () => {}
  let cancelPings = () => {}
  let cancelPong: (() => void) | null = null

  const noAnswer = () => trouble('unreachable', createMessage('chat_no_answer', { server }))

  function finish(found: Trouble, isPlanned = false): void {
    if (hasEnded) return
    hasEnded = true
    cancelHello()
    cancelPings()
    cancelPong?.()
    socket?.close()
    hello.resolve({ isPlanned, trouble: found })
    end.resolve({ isPlanned, trouble: found })
    wake()
  }

  function onMessage(text: string): void {
    const frame = readFrame(text)
    if (frame === null || hasEnded) return
    if (frame.type === 'hello') return onHello()
    if (frame.type === 'disconnect') return onDisconnect(frame.reason ?? '')
    if (frame.envelope_id === undefined) return
    // What follows must not be handed over before what is left out, so all of it is left to the next connection.
    isFull ||= queue.length >= MAX_WAITING.envelopes || waitingChars + text.length > MAX_WAITING.chars
    if (isFull) return
    const { envelope_id: id, type, payload } = frame
    const isAcknowledged = ACKNOWLEDGED_AT_ONCE.has(type)
    if (isAcknowledged) acknowledge(id)
    queue.push({ id, type, payload, isAcknowledged, chars: text.length })
    waitingChars += text.length
    wake()
  }

  function acknowledge(id: string): void {
    socket?.send(JSON.stringify({ envelope_id: id }))
  }

  function onHello(): void {
    cancelHello()
    onRoundTrip()
    cancelPings()
    cancelPings = clock.every(PING_EVERY_MS, ping)
    hello.resolve(null)
  }

  function onDisconnect(reason: string): void {
    if (reason === 'link_disabled') {
      const link = `${appLink(appToken)}/socket-mode`
      return finish(trouble('unreachable', createMessage('chat_slack_socket_off', { link })))
    }
    if (reason === 'too_many_websockets') return finish(trouble('slow_down', createMessage('chat_slack_too_many')))
    finish(trouble('unreachable', createMessage('chat_broken_off', { server })), true)
  }

  function ping(): void {
    socket?.ping()
    cancelPong ??= clock.after(PONG_DEADLINE_MS, () => finish(noAnswer()))
  }

  function onPong(): void {
    cancelPong?.()
    cancelPong = null
    onRoundTrip()
  }

  cancelHello = clock.after(HELLO_DEADLINE_MS, () => finish(noAnswer()))
  const events = { onOpen() {}, onMessage, onPong, onClose: (error: Error) => finish(trouble('unreachable', sentenceFor(error, server))) }
  try {
    socket = await openWebSocket(url, events, { maxMessageBytes: MAX_MESSAGE_BYTES })
    // It was closed while it was being opened.
    if (hasEnded) socket.close()
  } catch (error) {
    finish(trouble('unreachable', sentenceFor(error, server)))
  }
  return {
    greeted: hello.promise,
    ended: end.promise,
    isEnded: () => hasEnded,
    async next() {
      if (isFull && queue.length === 0) finish(trouble('unreachable', createMessage('chat_broken_off', { server })), true)
      while (!hasEnded && queue.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      const at = hasEnded ? queue.findIndex(({ isAcknowledged }) => isAcknowledged) : 0
      if (at === -1) return null
      const envelope = queue.splice(at, 1)[0]!
      waitingChars -= envelope.chars
      return envelope
    },
    acknowledge,
    close: () => finish(trouble('unreachable', createMessage('chat_given_up'))),
  }
}

/** null: it is not what Slack sends. */
function readFrame(text: string): Frame | null {
  try {
    return Frame.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
