import type { Message } from '../../contract/messages.ts'
import { randomBytes } from 'node:crypto'
import { OutboundError, type OutboundFetch } from '../../platform/net/outbound.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'

export type ProbeResult = { ok: true } | { ok: false; problem: Message }

export type Probe = {
  /** Sends a probe to `{base}/webhooks/probe/<nonce>` and waits for it to come in. `leadsTo`: where the address should lead, for messages. */
  send(base: string, leadsTo: string): Promise<ProbeResult>
  /** Whether a delivery is our probe. True once for each. */
  accept(nonce: string): boolean
  /**
   * Requests what nobody outside may reach. Resolves with the address that reached it, or null. Only requests that came
   * through the runner's gate count, because another site of the person may respond out there.
   */
  findExposed(base: string): Promise<string | null>
  /** The runner's gate let this request in. */
  passedGate(target: string): void
}

const NEVER_OUTSIDE = ['/api/health', '/api/agents', '/api/settings']

const NONCE_LIVES_MS = 30_000
const ANSWER_WITHIN_MS = 10_000

/** Finds out whether the outside reaches our webhooks, by sending a number out and seeing whether our own listener receives it. */
export function createProbe({ fetch, clock }: { fetch: OutboundFetch; clock: Clock }): Probe {
  const waiting = new Map<string, { until: number; arrived: () => void }>()
  /** Requests under way by their number, and whether they came through the gate. */
  const asked = new Map<string, boolean>()

  return {
    accept(nonce) {
      const found = waiting.get(nonce)
      if (found === undefined) return false
      waiting.delete(nonce)
      if (clock.monotonic() > found.until) return false
      found.arrived()
      return true
    },

    passedGate(target) {
      if (asked.size === 0) return
      const nonce = /[?&]probe=([\w-]+)$/.exec(target)?.[1]
      if (nonce !== undefined && asked.has(nonce)) asked.set(nonce, true)
    },

    async findExposed(base) {
      // A base path says nothing about what is beside it.
      const bases = new Set([base, new URL(base).origin])
      const over = new AbortController()
      const late = clock.sleep(ANSWER_WITHIN_MS, over.signal).catch(() => {})
      const found = await Promise.all(
        [...bases].flatMap((start) =>
          NEVER_OUTSIDE.map(async (path) => {
            const nonce = randomBytes(16).toString('base64url')
            asked.set(nonce, false)
            const answered = fetch(`${start}${path}?probe=${nonce}`, { redirect: 'manual', signal: over.signal }).then(
              (answer) => void answer.body?.cancel().catch(() => {}),
              () => {},
            )
            await Promise.race([answered, late])
            const cameIn = asked.get(nonce) === true
            asked.delete(nonce)
            return cameIn ? `${start}${path}` : null
          }),
        ),
      )
      over.abort(new Error('the check is over'))
      return found.find((url) => url !== null) ?? null
    },

    async send(base, leadsTo) {
      const nonce = randomBytes(32).toString('base64url')
      let hasArrived = false
      const { promise: arrived, resolve } = Promise.withResolvers<'arrived'>()
      const onArrival = () => {
        hasArrived = true
        resolve('arrived')
      }
      waiting.set(nonce, { until: clock.monotonic() + NONCE_LIVES_MS, arrived: onArrival })
      const over = new AbortController()
      const late = clock.sleep(ANSWER_WITHIN_MS, over.signal).then(() => 'late' as const, () => 'late' as const) // prettier-ignore
      const request = new AbortController()
      const { host } = new URL(base)
      const answered = fetch(`${base}/webhooks/probe/${nonce}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        redirect: 'manual',
        signal: request.signal,
      }).then(
        (answer) => {
          void answer.body?.cancel().catch(() => {})
          return wordsForAnswer(host, answer.status, answer.headers.get('location'), leadsTo)
        },
        (error: unknown) => wordsForError(host, error),
      )
      try {
        const outcome = await Promise.race([arrived, answered, late])
        if (outcome === 'arrived' || hasArrived) return { ok: true }
        const problem = outcome === 'late' ? createMessage('outside_silent', { host, seconds: ANSWER_WITHIN_MS / 1000 }) : outcome
        return { ok: false, problem }
      } finally {
        waiting.delete(nonce)
        over.abort()
        request.abort(new Error('the probe is over'))
        answered.catch(() => {})
      }
    },
  }
}

function wordsForAnswer(host: string, status: number, location: string | null, leadsTo: string): Message {
  if (location !== null && status >= 300 && status < 400) {
    const to = URL.canParse(location, `https://${host}`) ? new URL(location, `https://${host}`).origin : 'another address'
    return createMessage('outside_redirects', { host, to })
  }
  return createMessage(status >= 500 ? 'outside_cannot_reach_us' : 'outside_leads_elsewhere', { host, status: String(status), leadsTo })
}

function wordsForError(host: string, error: unknown): Message {
  if (!(error instanceof OutboundError)) return createMessage('outside_failed', { host, words: messageOf(error) })
  switch (error.kind) {
    case 'dns':
      return createMessage('outside_name_unknown', { host })
    case 'refused':
      return createMessage('outside_connection_refused', { host })
    case 'unreachable':
      return createMessage('outside_unreachable', { host })
    case 'tls':
      return createMessage('outside_not_secure', { host, reason: error.systemCode ?? 'TLS' })
    default:
      return createMessage('outside_failed', { host, words: error.message })
  }
}
