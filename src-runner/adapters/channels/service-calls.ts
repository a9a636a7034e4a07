import { OutboundError, type OutboundTrouble } from '../../platform/net/outbound.ts'
import type { Message, MessageCode } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { createMessage } from '../../lib/messages.ts'

/** What calls to all chat services share: their deadline, and the sentence for people when one fails. */

/**
 * Never contains a token. `kind`: why the call failed, in the terms of the driver. `words`: the service's own reason as it was sent, for
 * the driver alone; empty if there is none.
 */
export type Trouble<Kind extends string> = {
  ok: false
  kind: Kind | 'unreachable'
  problem: Message
  retryAfterMs: number | null
  words: string
}
export type Result<T, Kind extends string> = { ok: true; value: T } | Trouble<Kind>

export type CallOptions = { signal: AbortSignal; deadlineMs?: number }

const CALL_DEADLINE_MS = 30_000
const MAX_WORDS = 200

/** Thrown inside a call that ends with this trouble. */
export class CallFailed<Kind extends string> extends Error {
  readonly trouble: Trouble<Kind>
  constructor(found: Trouble<Kind>) {
    super(found.kind)
    this.trouble = found
  }
}

export function trouble<Kind extends string>(
  kind: Kind,
  problem: Message,
  { retryAfterMs = null, words = '' }: { retryAfterMs?: number | null; words?: string } = {},
): Trouble<Kind> {
  return { ok: false, kind, problem, retryAfterMs, words }
}

type CallerDeps = { server: Message | string; clock: Clock; onRoundTrip(): void }

/** Returns a function that runs `work` until it is done, its deadline has passed, or the caller aborts. It does not reject. */
export function createCaller<Kind extends string>(
  { server, clock, onRoundTrip }: CallerDeps,
  troubleOfRefusal: (thrown: unknown) => Trouble<Kind> | null,
) {
  function troubleOf(thrown: unknown): Trouble<Kind> {
    const refusal = troubleOfRefusal(thrown)
    if (refusal !== null) return refusal
    const inner = (thrown as { error?: unknown } | null)?.error ?? thrown
    if (inner instanceof CallFailed) return inner.trouble
    return trouble('unreachable', sentenceFor(inner, server)) as Trouble<Kind>
  }

  return async function within<T>(
    { signal, deadlineMs }: CallOptions,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<Result<T, Kind>> {
    const late = new AbortController()
    const cancel = clock.after(deadlineMs ?? CALL_DEADLINE_MS, () => late.abort(new Error('no response in time')))
    try {
      const value = await work(AbortSignal.any([signal, late.signal]))
      onRoundTrip()
      return { ok: true, value }
    } catch (thrown) {
      if (signal.aborted) return trouble('unreachable', createMessage('chat_given_up'))
      if (late.signal.aborted) return trouble('unreachable', createMessage('chat_no_answer', { server }))
      return troubleOf(thrown)
    } finally {
      cancel()
    }
  }
}

/** Why nothing that we understand came back. */
export function sentenceFor(thrown: unknown, server: Message | string): Message {
  return createMessage(thrown instanceof OutboundError ? OUTBOUND_MESSAGES[thrown.kind] : 'chat_not_understood', { server })
}

const OUTBOUND_MESSAGES = {
  bad_url: 'chat_bad_address',
  dns: 'chat_not_found',
  refused: 'chat_connection_refused',
  unreachable: 'chat_unreachable',
  tls: 'chat_not_secure',
  reset: 'chat_broken_off',
  protocol: 'chat_not_understood',
  redirect: 'chat_redirects',
} as const satisfies Record<OutboundTrouble, MessageCode>

export const NO_REASON = createMessage('chat_no_reason')

/** The service's own words for a message, without what was secret in the call. They may repeat what was sent to it. */
export function wordsOf(description: unknown, secret: string): string | Message {
  const words = typeof description === 'string' ? description : ''
  const plain = words
    .replaceAll(secret, '…')
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/^(Bad Request|Forbidden): /, '')
    .trim()
  if (plain === '') return NO_REASON
  return `${plain
    .slice(0, MAX_WORDS)
    .toWellFormed()
    .replace(/[.\s]+$/, '')}.`
}

/** Counts the bytes of a response, and ends it when there are more than `maxBytes`. */
export function limitBytes(maxBytes: number, server: Message | string): (count: number) => void {
  let total = 0
  return (count) => {
    total += count
    if (total > maxBytes) throw new CallFailed(trouble('unreachable', createMessage('chat_too_much', { server })))
  }
}

/** Waits longer after each failure, at most a minute, unless the service says how long. */
export function pauseAfter({ retryAfterMs }: { retryAfterMs: number | null }, failures: number, random: () => number): number {
  if (retryAfterMs !== null) return Math.min(Math.max(retryAfterMs, REQUESTED_PAUSE.minMs), REQUESTED_PAUSE.maxMs)
  return Math.min(RETRY.maxMs, RETRY.firstMs * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2)
}

const RETRY = { firstMs: 1000, maxMs: 60_000 }
/** The limits of a pause that the service asks for. */
const REQUESTED_PAUSE = { minMs: 1000, maxMs: 3_600_000 }
