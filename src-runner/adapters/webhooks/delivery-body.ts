import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parsePayload } from '../../domain/triggers/parse-payload.ts'
import { eventNameOf, senderIdOf, type ReceivedHeaders } from '../../domain/triggers/sender.ts'
import type { IndexedTrigger } from '../../domain/triggers/trigger-index.ts'
import type { BodyMemory } from './body-memory.ts'

export function isPlain({ 'content-encoding': encoding }: IncomingHttpHeaders): boolean {
  return encoding === undefined || encoding.trim().toLowerCase() === 'identity'
}

export type UnreadBody = 'payload_too_large' | 'too_many_at_once' | 'incomplete'

/** The body, or why it was not read. The memory counts it until `release` is called. */
export type BodyRead = { body: Buffer | UnreadBody; release(): void }

/**
 * Counts the bytes that arrive, not those that the headers announce. Bytes after a refusal are discarded. The server closes the
 * connection of a body that takes too long.
 */
export function readBody(
  req: IncomingMessage,
  { maxBytes, memory, webhook }: { maxBytes: number; memory: BodyMemory; webhook: number },
): Promise<BodyRead> {
  const { promise, resolve } = Promise.withResolvers<BodyRead>()
  const held = memory.hold(webhook, () => finish('too_many_at_once'))
  let body: Buffer | null = null
  let length = 0
  let isOver = false

  function finish(result: Buffer | UnreadBody): void {
    if (isOver) return
    isOver = true
    body = null
    if (typeof result === 'string') held.release()
    else held.complete()
    resolve({ body: result, release: held.release })
  }

  function append(chunk: Buffer): void {
    const before = body
    const end = length + chunk.length
    if (end > maxBytes) return finish('payload_too_large')
    if (before === null || end > before.length) {
      // The first chunk usually is the whole body. Then the buffer doubles, so that many tiny chunks cost no more.
      const size = before === null ? chunk.length : Math.min(maxBytes, Math.max(end, before.length * 2, SECOND_SIZE))
      if (!held.grow(size - (before?.length ?? 0))) return finish('too_many_at_once')
      body = before === null ? chunk : Buffer.allocUnsafeSlow(size)
      before?.copy(body, 0, 0, length)
    }
    if (before !== null) chunk.copy(body!, length)
    length = end
  }

  if (Number(req.headers['content-length']) > maxBytes) finish('payload_too_large')
  req.on('data', (chunk: Buffer) => isOver || append(chunk))
  req.on('end', () => {
    // If more arrived than was announced, Node's parser has already sent a 400, so this must not become a job.
    finish(req.socket.writableEnded ? 'incomplete' : (body?.subarray(0, length) ?? Buffer.alloc(0)))
  })
  req.on('error', () => finish('incomplete'))
  req.on('close', () => finish('incomplete'))
  return promise
}

const SECOND_SIZE = 16_384

const SECRET_MARK = '[the secret of this webhook]'

/** Some services send a webhook its own settings, which hold the address. */
export function withoutSecret(body: Buffer, secret: string): Buffer {
  if (!body.includes(secret)) return body
  return Buffer.from(body.toString('latin1').replaceAll(secret, SECRET_MARK), 'latin1')
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** null: the body is not JSON in UTF-8. */
export function parseBody(body: Buffer): { payload: unknown } | null {
  try {
    return { payload: parsePayload(UTF8.decode(body)) }
  } catch {
    return null
  }
}

type Signed = Pick<IndexedTrigger, 'signature'>

/** What is recorded of a delivery besides its body. Without a payload, only what the headers say. */
export function describeDelivery({ signature }: Signed, headers: ReceivedHeaders, payload: unknown = null) {
  const [senderId, eventName] = [senderIdOf(headers, payload, signature), eventNameOf(headers, payload)]
  return { headers: keptHeadersOf(headers), senderId, eventName }
}

/** As `describeDelivery`, of a delivery whose body is not read. */
export function describeUnread(trigger: Signed, headers: IncomingHttpHeaders) {
  const length = headers['content-length'] ?? ''
  return { ...describeDelivery(trigger, headers), bytes: /^\d{1,15}$/.test(length) ? Number(length) : 0 }
}

/** Headers about the event or the sender. Any other may be a secret: cookies, signatures, tokens. */
const KEPT_HEADERS = new Set([
  'content-type',
  'user-agent',
  'date',
  'x-request-id',
  'webhook-id',
  'webhook-timestamp',
  'svix-id',
  'svix-timestamp',
  'x-github-event',
  'x-github-delivery',
  'x-github-hook-id',
  'x-github-hook-installation-target-type',
  'x-gitlab-event',
  'x-gitlab-event-uuid',
  'x-gitlab-instance',
  'x-gitea-event',
  'x-gitea-delivery',
  'x-event-key',
  'x-hook-uuid',
  'x-shopify-topic',
  'x-shopify-webhook-id',
  'x-shopify-shop-domain',
  'x-atlassian-webhook-identifier',
  'x-slack-request-timestamp',
  'x-slack-retry-num',
  'x-slack-retry-reason',
  'linear-event',
  'linear-delivery',
  'sentry-hook-resource',
  'idempotency-key',
  'ce-id',
  'ce-type',
  'ce-source',
  'ce-subject',
  'ce-time',
  'ce-specversion',
])
const MAX_HEADER_CHARS = 500

/** null: there are none to keep. */
function keptHeadersOf(headers: ReceivedHeaders): Record<string, string> | null {
  let kept: Record<string, string> | null = null
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === 'string' && KEPT_HEADERS.has(name)) (kept ??= {})[name] = value.slice(0, MAX_HEADER_CHARS)
  }
  return kept
}
