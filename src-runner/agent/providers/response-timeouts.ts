import type { Clock } from '../../lib/clock.ts'

/** From the request to the first byte of the body. Local servers load the model in this time. */
const FIRST_BYTE_MS = 120_000
/** Between two pieces of the body, keep-alive comments included. */
const BETWEEN_CHUNKS_MS = 60_000
/**
 * Without any text, thinking or tool call. Providers send comments (`: OPENROUTER PROCESSING`) or `ping` events while a model
 * thinks, and so does a server that hangs. https://openrouter.ai/docs/api-reference/streaming,
 * https://platform.claude.com/docs/en/build-with-claude/streaming#ping-events
 */
const WITHOUT_CONTENT_MS = 600_000

export class Stalled extends Error {
  override readonly name = 'Stalled'
  readonly afterMs: number
  readonly began: boolean
  constructor(afterMs: number, began: boolean) {
    super(`nothing for ${afterMs} ms`)
    this.afterMs = afterMs
    this.began = began
  }
}

export type ResponseWatch = ReturnType<typeof watchResponse>

/** One timer for the whole call: it wakes at the earliest deadline, checks when the last piece came, and sleeps again. */
export function watchResponse(clock: Clock, outer: AbortSignal) {
  const call = new AbortController()
  const signal = AbortSignal.any([outer, call.signal])
  let lastAt = clock.monotonic()
  let began = false
  let lastContentAt = lastAt
  let hasContent = false

  const guard = async () => {
    for (;;) {
      const now = clock.monotonic()
      const limitMs = began ? BETWEEN_CHUNKS_MS : FIRST_BYTE_MS
      const contentLeftMs = lastContentAt + WITHOUT_CONTENT_MS - now
      if (contentLeftMs <= 0) return call.abort(new Stalled(WITHOUT_CONTENT_MS, hasContent))
      const leftMs = Math.min(lastAt + limitMs - now, contentLeftMs)
      if (leftMs <= 0) return call.abort(new Stalled(limitMs, began))
      // The first byte shortens the limit, so the sleep is never longer than the shorter of the two.
      await clock.sleep(began ? leftMs : Math.min(leftMs, BETWEEN_CHUNKS_MS), signal)
    }
  }
  guard().catch((reason: unknown) => call.abort(reason))

  return {
    /** Aborts with the outer signal, with `Stalled` if the provider is silent for too long, or at the end. */
    signal,
    /** Something was received. */
    touch(): void {
      began = true
      lastAt = clock.monotonic()
    },
    /** Part of the reply was received. */
    touchContent(): void {
      hasContent = true
      lastContentAt = clock.monotonic()
    },
    /** Frees the timer, and closes a connection that is still open. */
    end: () => call.abort(new Error('the call is over')),
  }
}
