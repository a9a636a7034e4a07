import { z } from 'zod'
import { openWebSocket, type OpenedSocket } from '../../../platform/net/web-socket.ts'
import type { OutboundError } from '../../../platform/net/outbound.ts'
import type { Message } from '../../../contract/messages.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage } from '../../../lib/messages.ts'
import { sentenceFor } from '../service-calls.ts'
import { Id } from './messages.ts'

/** What a lost connection needs to continue where it was. Kept in memory only. */
export type GatewaySession = { id: string; url: string; sequence: number }

/**
 * Why a connection ended. asked: the service wants us to reconnect. lost: it broke, or the service no longer knows the session.
 * token, intents: the service does not accept the token, or that we may read the text of all messages.
 */
export type GatewayEnd = {
  reason: 'asked' | 'lost' | 'token' | 'intents'
  problem: Message
  session: GatewaySession | null
  wasReady: boolean
}

export type Ready = { userId: string; applicationId: string; mayReadContent: boolean }

export type GatewayDeps = {
  clock: Clock
  random: () => number
  token: string
  server: Message | string
  intents: number
  isOfService: (address: string) => boolean
  /** A session is about to begin. */
  onIdentify(): void
  /** null: the session was resumed, and all missed events have arrived. */
  onReady(ready: Ready | null): void
  onEvent(type: string, data: unknown): void
  onRoundTrip(): void
}

const OP = { dispatch: 0, heartbeat: 1, identify: 2, resume: 6, reconnect: 7, invalidSession: 9, hello: 10, acknowledged: 11 }
const READY_DEADLINE_MS = 20_000
/** The start of a session lists all servers of the bot. */
const MAX_FRAME_BYTES = 16_000_000
const HEARTBEAT = { minMs: 50, maxMs: 600_000 }
/** Leaves the session, unlike 1000. */
const KEEP_SESSION = 4000
const NORMAL = 1000
/** After these codes, a session cannot be resumed: a normal end, “invalid seq” and “session timed out”. */
const SESSION_ENDED = new Set([1000, 1001, 4007, 4009])
/** GATEWAY_MESSAGE_CONTENT, and the same for bots in few servers. */
const MESSAGE_CONTENT_FLAGS = (1 << 18) | (1 << 19)

const Frame = z.object({ op: z.number(), d: z.unknown().optional(), s: z.number().nullish(), t: z.string().nullish() })
const Hello = z.object({ heartbeat_interval: z.number().min(HEARTBEAT.minMs).max(HEARTBEAT.maxMs) })
const ReadyEvent = z.object({
  session_id: z.string(),
  resume_gateway_url: z.string(),
  user: z.object({ id: Id }),
  application: z.object({ id: Id, flags: z.number().default(0) }),
})

/** One connection to the service's gateway. Resolves when it has ended, also because `closing` aborts. */
export async function runGateway(
  deps: GatewayDeps,
  address: string,
  session: GatewaySession | null,
  closing: AbortSignal,
): Promise<GatewayEnd> {
  closing.throwIfAborted()
  const { clock, random, token, server, intents, onIdentify, onReady, onEvent, onRoundTrip } = deps
  const ended = Promise.withResolvers<GatewayEnd>()
  const timers: (() => void)[] = []
  let current = session
  let socket: OpenedSocket | null = null
  let isAcknowledged = true
  let isOver = false
  let wasReady = false

  function end(reason: GatewayEnd['reason'], problem: Message, code = KEEP_SESSION): void {
    if (isOver) return
    isOver = true
    for (const stop of timers) stop()
    socket?.close(code)
    ended.resolve({ reason, problem, session: current, wasReady })
  }

  const lose = (problem = createMessage('chat_broken_off', { server })) => end('lost', problem)
  const send = (op: number, d: unknown) => socket?.send(JSON.stringify({ op, d }))

  function beat(): void {
    // The connection is dead, even if the system does not know it yet.
    if (!isAcknowledged) return lose(createMessage('chat_no_answer', { server }))
    isAcknowledged = false
    send(OP.heartbeat, current?.sequence ?? null)
  }

  function greet(d: unknown): void {
    const everyMs = Hello.parse(d).heartbeat_interval
    // At a random time, so that not all clients beat at once after an outage.
    const first = clock.after(everyMs * random(), () => {
      beat()
      if (!isOver) timers.push(clock.every(everyMs, beat))
    })
    timers.push(first)
    if (current !== null) return send(OP.resume, { token, session_id: current.id, seq: current.sequence })
    onIdentify()
    send(OP.identify, { token, intents, properties: { os: process.platform, browser: 'deckhand', device: 'deckhand' } })
  }

  function dispatch(type: string, d: unknown): void {
    if (type === 'READY') {
      const { session_id: id, resume_gateway_url: url, user, application } = ReadyEvent.parse(d)
      current = { id, url: deps.isOfService(url) ? url : address, sequence: 0 }
      setReady()
      onReady({ userId: user.id, applicationId: application.id, mayReadContent: (application.flags & MESSAGE_CONTENT_FLAGS) !== 0 })
    } else if (type === 'RESUMED') {
      setReady()
      onReady(null)
    } else onEvent(type, d)
  }

  function take({ op, d, s, t }: z.infer<typeof Frame>): void {
    switch (op) {
      case OP.dispatch:
        dispatch(t ?? '', d)
        if (typeof s === 'number' && current !== null) current = { ...current, sequence: Math.max(current.sequence, s) }
        return
      case OP.heartbeat:
        return send(OP.heartbeat, current?.sequence ?? null)
      case OP.acknowledged:
        isAcknowledged = true
        return onRoundTrip()
      case OP.hello:
        return greet(d)
      case OP.reconnect:
        return end('asked', createMessage('chat_broken_off', { server }))
      case OP.invalidSession:
        if (d !== true) current = null
        return lose()
      default:
    }
  }

  function onMessage(text: string): void {
    if (isOver) return
    try {
      take(Frame.parse(JSON.parse(text)))
    } catch {
      // Whatever this is, it would come again in the same session.
      current = null
      lose(createMessage('chat_not_understood', { server }))
    }
  }

  function onClose(trouble: OutboundError, code: number | null): void {
    if (code === 4004) end('token', createMessage('discord_token_refused', { server }))
    else if (code === 4014) end('intents', createMessage('chat_broken_off', { server }))
    if (code !== null && SESSION_ENDED.has(code)) current = null
    lose(code === null ? sentenceFor(trouble, server) : undefined)
  }

  function setReady(): void {
    wasReady = true
    stopWaiting()
  }

  const stopWaiting = clock.after(READY_DEADLINE_MS, () => lose(createMessage('chat_no_answer', { server })))
  timers.push(stopWaiting)
  const stop = () => end('lost', createMessage('chat_given_up'), NORMAL)
  closing.addEventListener('abort', stop, { once: true })
  try {
    const url = `${(current?.url ?? address).replace(/\/+$/, '')}/?v=10&encoding=json`
    socket = await openWebSocket(url, { onOpen() {}, onMessage, onPong() {}, onClose }, { maxMessageBytes: MAX_FRAME_BYTES }).catch(
      (error: unknown) => (lose(sentenceFor(error, server)), null),
    )
    if (isOver) socket?.close(KEEP_SESSION)
    return await ended.promise
  } finally {
    closing.removeEventListener('abort', stop)
  }
}
