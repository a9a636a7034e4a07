import { createHmac, timingSafeEqual, type BinaryLike } from 'node:crypto'
import type { SignatureScheme } from '../../../contract/triggers.ts'
import { standardPrefixOf, type ReceivedHeaders } from '../sender.ts'

export type SignedRequest = {
  /** As shown in the sender's settings. */
  secret: string
  headers: ReceivedHeaders
  /** The body as received. Parsed and serialised again, it would have another signature. */
  rawBody: Buffer
  nowMs: number
}

/** How far the two clocks may differ. For this long an intercepted request can be replayed. */
const TOLERANCE_SECONDS = 5 * 60
/** Node limits all headers to 16 KB; a signature takes a few hundred bytes. */
const MAX_HEADER_CHARS = 8_192
/** Senders sign with both secrets while one is rotated. */
const MAX_SIGNATURES = 20

/** Whether the request was signed with the secret. Returns false for anything it cannot read, and never throws. */
export function verifySignature(scheme: SignatureScheme, request: SignedRequest): boolean {
  return request.secret !== '' && VERIFIERS[scheme](request)
}

const VERIFIERS: Record<SignatureScheme, (request: SignedRequest) => boolean> = {
  /**
   * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#verifying-webhook-authenticity
   * Svix, where the standard comes from and through which many services send, has its own names for the same headers.
   */
  standard_webhooks({ secret, headers, rawBody, nowMs }) {
    const prefix = standardPrefixOf(headers)
    const id = headerOf(headers, `${prefix}-id`)
    const timestamp = headerOf(headers, `${prefix}-timestamp`)
    const signatures = headerOf(headers, `${prefix}-signature`)
    const key = standardWebhooksKey(secret)
    if (id === null || timestamp === null || signatures === null || key.length === 0 || !isRecent(timestamp, nowMs)) return false
    return isAmong(signatures.split(' '), `v1,${hmac(key, `${id}.${timestamp}.`, rawBody).toString('base64')}`)
  },

  /** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
  github({ secret, headers, rawBody }) {
    const signature = headerOf(headers, 'x-hub-signature-256')
    return signature !== null && isAmong([signature], `sha256=${hmac(secret, '', rawBody).toString('hex')}`)
  },

  /** https://docs.stripe.com/webhooks/signature#verify-manually */
  stripe({ secret, headers, rawBody, nowMs }) {
    const fields =
      headerOf(headers, 'stripe-signature')
        ?.split(',')
        .map((field) => field.trim()) ?? []
    const times = fields.filter((field) => field.startsWith('t='))
    const timestamp = times[0]?.slice(2)
    if (times.length !== 1 || timestamp === undefined || !isRecent(timestamp, nowMs)) return false
    const signatures = fields.filter((field) => field.startsWith('v1='))
    return isAmong(signatures, `v1=${hmac(secret, `${timestamp}.`, rawBody).toString('hex')}`)
  },

  /** https://docs.slack.dev/authentication/verifying-requests-from-slack */
  slack({ secret, headers, rawBody, nowMs }) {
    const timestamp = headerOf(headers, 'x-slack-request-timestamp')
    const signature = headerOf(headers, 'x-slack-signature')
    if (timestamp === null || signature === null || !isRecent(timestamp, nowMs)) return false
    return isAmong([signature], `v0=${hmac(secret, `v0:${timestamp}:`, rawBody).toString('hex')}`)
  },
}

/** null: the header is missing, came twice, or is too long. */
function headerOf(headers: ReceivedHeaders, name: string): string | null {
  const value: unknown = Object.hasOwn(headers, name) ? headers[name] : undefined
  return typeof value === 'string' && value.length <= MAX_HEADER_CHARS ? value : null
}

/** Only digits, because the text is signed: a time with two spellings could be changed unnoticed. */
function isRecent(timestamp: string, nowMs: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) <= TOLERANCE_SECONDS
}

function hmac(key: BinaryLike, before: string, rawBody: Buffer): Buffer {
  return createHmac('sha256', key).update(before).update(rawBody).digest()
}

/**
 * Compares the text, not the decoded bytes, because base64 has several spellings of the same bytes. In constant time: only the
 * length shows, which everybody knows.
 */
function isAmong(given: readonly string[], expected: string): boolean {
  const expectedBytes = Buffer.from(expected)
  let found = false
  for (const signature of given.slice(0, MAX_SIGNATURES)) {
    const bytes = Buffer.from(signature)
    if (bytes.length === expectedBytes.length && timingSafeEqual(bytes, expectedBytes)) found = true
  }
  return found
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Base64 after `whsec_`, which some senders leave out. A secret that is not base64 is used as it is. */
function standardWebhooksKey(secret: string): Buffer {
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret
  return Buffer.from(text, BASE64.test(text) ? 'base64' : 'utf8')
}
