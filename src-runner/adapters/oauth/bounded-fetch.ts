import type { CustomFetch } from 'openid-client'
import { GuardedFetchError, type GuardedFetch } from '../../platform/net/guarded-fetch.ts'
import type { Clock } from '../../lib/clock.ts'
import { normalTokenResponse } from './token-response.ts'

const ANSWER_WITHIN_MS = 20_000
const MAX_ANSWER_BYTES = 256 * 1024

/**
 * Requests to a service that signs people in, bounded in time and bytes. `keepsIdToken`: only where it can be checked, because the
 * issuer is known and a nonce was sent.
 */
export function createBoundedFetch({ fetch, clock }: { fetch: GuardedFetch; clock: Clock }): (keepsIdToken: boolean) => CustomFetch {
  return (keepsIdToken) =>
    async (url, { method, headers, body }) => {
      const over = new AbortController()
      const slow = () => over.abort(new GuardedFetchError('timeout', `${new URL(url).host} did not respond in time`))
      const stop = clock.after(ANSWER_WITHIN_MS, slow)
      try {
        const sent = { method: method as 'GET' | 'POST', headers, maxBytes: MAX_ANSWER_BYTES, follows: () => false, signal: over.signal }
        const answer = await fetch(url, { ...sent, ...(body == null ? {} : { body: (body as URLSearchParams).toString() }) })
        if (answer.isCut) throw new GuardedFetchError('protocol', `${answer.url.host} sent too much`)
        if (answer.sendsTo !== null) throw new GuardedFetchError('redirect', `${answer.url.host} redirects to another address`)
        const type = answer.headers['content-type'] ?? ''
        const given = { status: answer.status, type, text: answer.body.toString() }
        const { status, text } = method === 'POST' ? normalTokenResponse(given, keepsIdToken) : given
        const isBodiless = status === 204 || status === 304
        return new Response(isBodiless ? null : text, { status, headers: { 'content-type': type } })
      } finally {
        stop()
      }
    }
}
