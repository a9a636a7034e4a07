import { randomBytes } from 'node:crypto'
import { OutboundError, type OutboundFetch } from '../../base/net/outbound.ts'
import type { Clock } from '../../kit/clock.ts'
import { messageOf } from '../../kit/errors.ts'
import { say } from '../../kit/said.ts'

export type ProbeResult = { ok: true } | { ok: false; problem: string }

export type Probe = {
  /** Sends one to `{base}/webhooks/probe/<nonce>` and waits whether it comes in. `leadsTo` is what the address should lead to. */
  send(base: string, leadsTo: string): Promise<ProbeResult>
  /** Whether a delivery is a probe of ours that has not come in before. */
  accept(nonce: string): boolean
  /**
   * Asks for what nobody outside may reach. Resolves with the address that led to it, or null. What answers out there may
   * be another site of the person: what counts is that the request came through the runner's gate.
   */
  findExposed(base: string): Promise<string | null>
  /** The runner's gate let this request in. */
  passedGate(target: string): void
}

/** What a tunnel that leads to the runner or the dashboard answers. */
const NEVER_OUTSIDE = ['/api/health', '/api/agents', '/api/settings']

const NONCE_LIVES_MS = 30_000
const ANSWER_WITHIN_MS = 10_000

/**
 * Finds out whether the outside reaches our webhooks, the only way there is: by sending something out and seeing it come
 * in. What answers out there is not asked for its opinion; what counts is whether our own listener saw the number.
 */
export function createProbe({ fetch, clock }: { fetch: OutboundFetch; clock: Clock }): Probe {
  const waiting = new Map<string, { until: number; arrived: () => void }>()
  /** Numbers of questions under way, and which of them came through the gate. */
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
      // A path in front of the webhooks says nothing of what stands beside it.
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
      over.abort(new Error('the question is over'))
      return found.find((url) => url !== null) ?? null
    },

    async send(base, leadsTo) {
      const nonce = randomBytes(32).toString('base64url')
      let hasArrived = false
      const arrived = new Promise<'arrived'>((resolve) =>
        waiting.set(nonce, {
          until: clock.monotonic() + NONCE_LIVES_MS,
          arrived() {
            hasArrived = true
            resolve('arrived')
          },
        }),
      )
      const over = new AbortController()
      const late = clock.sleep(ANSWER_WITHIN_MS, over.signal).then(
        () => 'late' as const,
        () => 'late' as const,
      )
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
          // Nothing that is said there matters: the body is not even read.
          void answer.body?.cancel().catch(() => {})
          return wordsForAnswer(host, answer.status, answer.headers.get('location'), leadsTo)
        },
        (error: unknown) => wordsForError(host, error),
      )
      try {
        const outcome = await Promise.race([arrived, answered, late])
        if (outcome === 'arrived' || hasArrived) return { ok: true }
        const problem = outcome === 'late' ? say('outside_silent', { host, seconds: ANSWER_WITHIN_MS / 1000 }) : outcome
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

function wordsForAnswer(host: string, status: number, location: string | null, leadsTo: string): string {
  if (location !== null && status >= 300 && status < 400) {
    const to = URL.canParse(location, `https://${host}`) ? new URL(location, `https://${host}`).origin : 'another address'
    return say('outside_redirects', { host, to })
  }
  return say(status >= 500 ? 'outside_cannot_reach_us' : 'outside_leads_elsewhere', { host, status, leadsTo })
}

function wordsForError(host: string, error: unknown): string {
  if (!(error instanceof OutboundError)) return say('outside_failed', { host, words: messageOf(error) })
  switch (error.kind) {
    case 'dns':
      return say('outside_name_unknown', { host })
    case 'refused':
      return say('outside_connection_refused', { host })
    case 'unreachable':
      return say('outside_unreachable', { host })
    case 'tls':
      return say('outside_not_secure', { host, reason: error.systemCode ?? 'TLS' })
    default:
      return say('outside_failed', { host, words: error.message })
  }
}
