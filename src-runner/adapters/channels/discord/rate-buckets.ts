import type { Clock } from '../../../lib/clock.ts'

export type RateBucket = {
  /** Counts a call if it may be made now. Otherwise returns how long to wait, in ms. */
  take(): number
  /** Reads the headers of a response. */
  note(headers: Headers): void
  /** The service asks for this pause; `isGlobal`: for all calls. */
  block(ms: number, isGlobal: boolean): void
}

type State = { left: number; resetsAt: number }

const MAX_BUCKETS = 500
/** A pause that is longer by mistake would end only with the next start. */
const LONGEST_PAUSE_MS = 3_600_000

/**
 * Limits of calls as the service reports them: each route has one for each channel, and all calls have one together. Calls wait
 * instead of being refused, because too many refusals lock the address out.
 */
export function createRateBuckets(clock: Pick<Clock, 'monotonic'>): { of(method: string, path: string): RateBucket } {
  const states = new Map<string, State>()
  let blockedUntil = 0

  function prune(): void {
    for (const [name, { resetsAt }] of states) if (resetsAt <= clock.monotonic()) states.delete(name)
  }

  const after = (ms: number) => clock.monotonic() + Math.min(ms, LONGEST_PAUSE_MS)

  return {
    of(method, path) {
      const name = `${method} ${routeOf(path)}`
      const set = (left: number, ms: number) => {
        if (states.size >= MAX_BUCKETS) prune()
        states.set(name, { left, resetsAt: after(ms) })
      }
      return {
        take() {
          const now = clock.monotonic()
          if (blockedUntil > now) return blockedUntil - now
          const state = states.get(name)
          if (state === undefined || state.resetsAt <= now) return 0
          if (state.left <= 0) return state.resetsAt - now
          state.left--
          return 0
        },
        note(headers) {
          const left = Number(headers.get('x-ratelimit-remaining') ?? Number.NaN)
          const seconds = Number(headers.get('x-ratelimit-reset-after') ?? Number.NaN)
          if (!Number.isInteger(left) || !(seconds >= 0)) return
          const state = states.get(name)
          const isSameWindow = state !== undefined && state.resetsAt > clock.monotonic()
          // Responses of calls that were made together may come in another order.
          set(isSameWindow ? Math.min(left, state.left) : left, seconds * 1000)
        },
        block(ms, isGlobal) {
          if (isGlobal) blockedUntil = after(ms)
          else set(0, ms)
        },
      }
    },
  }
}

/** Only the first id is a part of the route. */
function routeOf(path: string): string {
  const [, noun, id, ...rest] = path.split('?')[0]!.split('/')
  return [noun, id, ...rest.map((part) => (/^\d+$/.test(part) ? 'id' : part))].join('/')
}
