import type { Clock } from '../../lib/clock.ts'

export type AnswerTimeouts = {
  /** From the request to the first byte of the body. Local servers load the model in this time. */
  firstByteMs: number
  /** Between two pieces of the body, keep-alive comments included. */
  betweenChunksMs: number
}

export const DEFAULT_ANSWER_TIMEOUTS: AnswerTimeouts = { firstByteMs: 120_000, betweenChunksMs: 60_000 }

export class Stalled extends Error {
  override readonly name = 'Stalled'
  readonly afterMs: number
  readonly began: boolean
  constructor(afterMs: number, began: boolean) {
    super(`no bytes for ${afterMs} ms`)
    this.afterMs = afterMs
    this.began = began
  }
}

export type AnswerWatch = {
  /** Aborts with the outer signal, or with `Stalled` if the provider is silent for too long. */
  signal: AbortSignal
  touch(): void
  abort(reason: unknown): void
  /** Frees the timer. */
  end(): void
}

/** One timer for the whole call: it wakes at the earliest deadline, checks when the last piece came, and sleeps again. */
export function watchAnswer(clock: Clock, timeouts: AnswerTimeouts, outer: AbortSignal): AnswerWatch {
  const call = new AbortController()
  const over = new AbortController()
  let lastAt = clock.monotonic()
  let began = false
  const onOuterAbort = () => call.abort(outer.reason)
  if (outer.aborted) onOuterAbort()
  else outer.addEventListener('abort', onOuterAbort, { once: true })

  const guard = async () => {
    for (;;) {
      const limitMs = began ? timeouts.betweenChunksMs : timeouts.firstByteMs
      const leftMs = lastAt + limitMs - clock.monotonic()
      if (leftMs <= 0) return call.abort(new Stalled(limitMs, began))
      // The first byte shortens the limit, so the sleep is never longer than the shorter of the two.
      await clock.sleep(began ? leftMs : Math.min(leftMs, timeouts.betweenChunksMs), over.signal)
    }
  }
  guard().catch((reason: unknown) => {
    if (!over.signal.aborted) call.abort(reason)
  })

  return {
    signal: call.signal,
    touch() {
      began = true
      lastAt = clock.monotonic()
    },
    abort: (reason) => call.abort(reason),
    end() {
      outer.removeEventListener('abort', onOuterAbort)
      over.abort(new Error('the call is over'))
    },
  }
}
