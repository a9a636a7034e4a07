import type { SignatureScheme } from '../../contract/triggers.ts'

/** By lower-case name, as Node has them: a repeated header is a list or joined by commas. */
export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Longer than any sender's id. Longer values are ignored. */
const MAX_ID_CHARS = 200
const MAX_EVENT_CHARS = 100

/**
 * Headers with an id that stays the same when a delivery is sent again. Headers that name the subscription
 * (`x-gitlab-webhook-uuid`, `x-hook-uuid`) are left out: with them every delivery would be a duplicate.
 */
const ID_HEADERS = [
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
  'webhook-id',
  'svix-id',
  // https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
  'x-github-delivery',
  // https://shopify.dev/docs/apps/build/webhooks/ignore-duplicates
  'x-shopify-webhook-id',
  // https://docs.gitlab.com/user/project/integrations/webhooks/#delivery-headers
  'idempotency-key',
  // https://linear.app/developers/webhooks
  'linear-delivery',
  // https://developer.atlassian.com/server/jira/platform/webhooks/
  'x-atlassian-webhook-identifier',
]

const EVENT_HEADERS = [
  'x-github-event',
  'x-gitea-event',
  'x-gitlab-event',
  'x-shopify-topic',
  'x-event-key',
  'linear-event',
  'sentry-hook-resource',
  'ce-type',
]

/** The sender's own id of the delivery, by which duplicates are found. null: none, or not a plausible one. */
export function senderIdOf(headers: ReceivedHeaders, payload: unknown, signature: SignatureScheme | null): string | null {
  for (const name of idHeadersOf(headers, signature)) {
    const id = printable(ownOf(headers, name), MAX_ID_CHARS)
    if (id !== null) return id
  }
  if (isStripeEvent(payload)) return printable(ownOf(payload, 'id'), MAX_ID_CHARS)
  if (isSlackEvent(payload)) return printable(ownOf(payload, 'event_id'), MAX_ID_CHARS)
  return null
}

/**
 * If the signature covers an id, no other counts. Otherwise a captured delivery could be sent again with another id, and start
 * another job.
 */
function idHeadersOf(headers: ReceivedHeaders, signature: SignatureScheme | null): readonly string[] {
  // Their ids are in the body.
  if (signature === 'stripe' || signature === 'slack') return []
  return signature === 'standard_webhooks' ? [`${standardPrefixOf(headers)}-id`] : ID_HEADERS
}

/** Svix, through which many services send, has its own names for the headers of Standard Webhooks. */
export function standardPrefixOf(headers: ReceivedHeaders): 'webhook' | 'svix' {
  return Object.hasOwn(headers, 'webhook-signature') ? 'webhook' : 'svix'
}

/** The name of the event, like `push`, `issues.opened` or `charge.succeeded`. null: unknown. */
export function eventNameOf(headers: ReceivedHeaders, payload: unknown): string | null {
  for (const name of EVENT_HEADERS) {
    const event = printable(ownOf(headers, name), MAX_EVENT_CHARS)
    if (event === null) continue
    const action = name === 'x-github-event' ? printable(ownOf(payload, 'action'), MAX_EVENT_CHARS) : null
    return action === null ? event : `${event}.${action}`
  }
  if (isSlackEvent(payload)) return printable(ownOf(ownOf(payload, 'event'), 'type'), MAX_EVENT_CHARS)
  for (const name of ['type', 'event', 'event_type', 'eventType']) {
    const event = printable(ownOf(payload, name), MAX_EVENT_CHARS)
    if (event !== null) return event
  }
  return null
}

/** GitHub sends a ping when a webhook is created: https://docs.github.com/en/webhooks/webhook-events-and-payloads#ping */
export function isPing(headers: ReceivedHeaders): boolean {
  return headers['x-github-event'] === 'ping'
}

/** A challenge has some 150 bytes. */
export const MAX_CHALLENGE_BYTES = 4_096

/** Whether the body may be a challenge of Slack, by its length. */
export function mayBeChallenge({ signature }: { signature: string | null }, headers: ReceivedHeaders): boolean {
  return signature === 'slack' && Number(headers['content-length'] ?? 0) <= MAX_CHALLENGE_BYTES
}

/** The text that Slack expects in the response when an address is registered: https://docs.slack.dev/reference/events/url_verification */
export function challengeOf(payload: unknown): string | null {
  const challenge = ownOf(payload, 'type') === 'url_verification' ? ownOf(payload, 'challenge') : null
  return typeof challenge === 'string' ? challenge : null
}

/** https://docs.stripe.com/api/events/object and, for thin events, https://docs.stripe.com/api/v2/core/events/object */
function isStripeEvent(payload: unknown): boolean {
  const object = ownOf(payload, 'object')
  return object === 'event' || object === 'v2.core.event'
}

/** https://docs.slack.dev/apis/events-api/#the-events-api-request-wrapper */
function isSlackEvent(payload: unknown): boolean {
  return ownOf(payload, 'type') === 'event_callback'
}

function ownOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Record<string, unknown>)[key]
}

const PRINTABLE = /^[\x20-\x7e]+$/

/** Returns null for a long text instead of cutting it, because two ids may start alike. */
function printable(value: unknown, maxChars: number): string | null {
  if (typeof value !== 'string' || value.length > maxChars) return null
  const text = value.trim()
  return PRINTABLE.test(text) ? text : null
}
