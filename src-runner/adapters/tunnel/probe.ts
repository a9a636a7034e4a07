import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { OutboundError, type OutboundFetch } from '../../platform/net/outbound.ts'
import type { Message } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'

export type Probe = ReturnType<typeof createProbe>

const NEVER_OUTSIDE = ['/api/health', '/api/agents', '/api/settings']
/** Holds the nonce as well as the query does. */
const PROBE_HEADER = 'deckhand-probe'
const RESPONSE_WITHIN_MS = 10_000

/** Finds out what the outside reaches, by sending nonces out and noticing whether they come in here. */
export function createProbe({ fetch, clock }: { fetch: OutboundFetch; clock: Clock }) {
  /** Nonces of probes that have not come in yet. */
  const expected = new Map<string, () => void>()
  /** Nonces of requests that have not come through the runner's gate, and should not. */
  const unwanted = new Set<string>()

  return {
    /** Whether a delivery is our probe. True once for each. */
    accept(nonce: string): boolean {
      expected.get(nonce)?.()
      return expected.delete(nonce)
    },

    /** The runner's gate let this request in. A proxy may change its query, and drop headers that it does not know. */
    passedGate({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): void {
      for (const nonce of unwanted) if (url.includes(nonce) || headers[PROBE_HEADER] === nonce) unwanted.delete(nonce)
    },

    /**
     * Requests what nobody outside may reach. Resolves with the address that reached it, or null. Only requests that came
     * through the runner's gate count, because another site of the person may respond out there.
     */
    async findExposed(base: string): Promise<string | null> {
      // A base path says nothing about what is beside it.
      const starts = [...new Set([base, new URL(base).origin])]
      const over = new AbortController()
      const late = clock.sleep(RESPONSE_WITHIN_MS, over.signal).catch(() => {})
      const reachesGate = async (url: (nonce: string) => string): Promise<boolean> => {
        const nonce = randomBytes(16).toString('base64url')
        unwanted.add(nonce)
        const headers = { [PROBE_HEADER]: nonce }
        const responded = fetch(url(nonce), { headers, redirect: 'manual', signal: over.signal }).then(discardBody, () => {})
        await Promise.race([responded, late])
        return !unwanted.delete(nonce)
      }
      const found = await Promise.all([
        ...starts.flatMap((start) =>
          NEVER_OUTSIDE.map(async (path) => ((await reachesGate((nonce) => `${start}${path}?probe=${nonce}`)) ? start + path : null)),
        ),
        ...starts.map(async (start) => ((await reachesGate((nonce) => `${start}/api/${nonce}`)) ? `${start}/api/` : null)),
      ])
      over.abort(new Error('the check is over'))
      return found.find((url) => url !== null) ?? null
    },

    /**
     * Sends a probe to `{base}/webhooks/probe/<nonce>`. Resolves with null when it comes in, otherwise with what is wrong.
     * `leadsTo`: where the address should lead, for messages.
     */
    async send(base: string, leadsTo: string): Promise<Message | null> {
      const nonce = randomBytes(32).toString('base64url')
      const { host } = new URL(base)
      const { promise: arrived, resolve } = Promise.withResolvers<null>()
      expected.set(nonce, () => resolve(null))
      const over = new AbortController()
      const late = clock.sleep(RESPONSE_WITHIN_MS, over.signal).then(
        () => createMessage('outside_silent', { host, seconds: RESPONSE_WITHIN_MS / 1000 }),
        () => null,
      )
      const responded = fetch(`${base}/webhooks/probe/${nonce}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        redirect: 'manual',
        signal: over.signal,
      }).then(
        (response) => {
          discardBody(response)
          return describeResponse(host, response.status, response.headers.get('location'), leadsTo)
        },
        (error: unknown) => describeError(host, error),
      )
      const problem = await Promise.race([arrived, responded, late])
      over.abort(new Error('the probe is over'))
      return expected.delete(nonce) ? problem : null
    },
  }
}

function discardBody({ body }: Response): void {
  void body?.cancel().catch(() => {})
}

function describeResponse(host: string, status: number, location: string | null, leadsTo: string): Message {
  if (location !== null && status >= 300 && status < 400) {
    const to = URL.canParse(location, `https://${host}`) ? new URL(location, `https://${host}`).origin : 'another address'
    return createMessage('outside_redirects', { host, to })
  }
  return createMessage(status >= 500 ? 'outside_cannot_reach_us' : 'outside_leads_elsewhere', { host, status: String(status), leadsTo })
}

function describeError(host: string, error: unknown): Message {
  switch (error instanceof OutboundError ? error.kind : null) {
    case 'dns':
      return createMessage('outside_name_unknown', { host })
    case 'refused':
      return createMessage('outside_connection_refused', { host })
    case 'unreachable':
      return createMessage('outside_unreachable', { host })
    case 'tls':
      return createMessage('outside_not_secure', { host, reason: (error as OutboundError).systemCode ?? 'TLS' })
    default:
      return createMessage('outside_failed', { host, words: messageOf(error) })
  }
}
