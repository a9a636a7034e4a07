import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parsePayload } from '../../records/triggers/parse-payload.ts'
import type { ReceivedHeaders } from '../../records/triggers/received-headers.ts'
import { eventNameOf, senderIdOf } from '../../records/triggers/sender.ts'
import type { BodyRoom, Hold } from './body-room.ts'

export function isPlain({ 'content-encoding': encoding }: IncomingHttpHeaders): boolean {
  return encoding === undefined || encoding.trim().toLowerCase() === 'identity'
}

/** How long a body may take from its head on. */
export const BODY_DEADLINE_MS = 15_000

export type UnreadBody = 'too_large' | 'no_room' | 'incomplete'

export type BodyLimits = { maxBytes: number; deadlineMs: number; room: BodyRoom; webhook: number }

/**
 * Counts what comes, whatever the headers say of it. `done` is called once; what comes after it is thrown away. What is read
 * counts in the room until it is released.
 */
export function readBody(
  req: IncomingMessage,
  { maxBytes, deadlineMs, room, webhook }: BodyLimits,
  done: (body: Buffer | UnreadBody, hold: Pick<Hold, 'release'>) => void,
): void {
  const hold = room.hold(webhook, () => finish('no_room'))
  let body: Buffer | null = null
  let length = 0
  let isOver = false
  const deadline = setTimeout(() => finish('incomplete'), deadlineMs)

  function finish(result: Buffer | UnreadBody): void {
    if (isOver) return
    isOver = true
    clearTimeout(deadline)
    body = null
    if (typeof result === 'string') hold.release()
    else hold.complete()
    done(result, hold)
  }

  function append(chunk: Buffer): void {
    const before = body
    const end = length + chunk.length
    if (end > maxBytes) return finish('too_large')
    if (before === null || end > before.length) {
      // The first chunk is the whole body as a rule. From the second on room doubles, so that a body of tiny chunks costs no more.
      const size = before === null ? chunk.length : Math.min(maxBytes, Math.max(end, before.length * 2, SECOND_SIZE))
      if (!hold.grow(size - (before?.length ?? 0))) return finish('no_room')
      body = before === null ? chunk : Buffer.allocUnsafeSlow(size)
      before?.copy(body, 0, 0, length)
    }
    if (before !== null) chunk.copy(body!, length)
    length = end
  }

  if (Number(req.headers['content-length']) > maxBytes) return finish('too_large')
  req.on('data', (chunk: Buffer) => isOver || append(chunk))
  req.on('end', () => {
    // More than it announced came at once, and that was answered as what it is: whoever reads a 400 has made no job.
    finish(req.socket.writableEnded ? 'incomplete' : (body?.subarray(0, length) ?? Buffer.alloc(0)))
  })
  req.on('error', () => finish('incomplete'))
  req.on('close', () => finish('incomplete'))
}

const SECOND_SIZE = 16_384

const SECRET_MARK = '[the secret of this webhook]'

/** Some services greet a webhook with its own settings, the address among them. It goes no further than here. */
export function withoutSecret(body: Buffer, secret: string): Buffer {
  if (!body.includes(secret)) return body
  return Buffer.from(body.toString('latin1').replaceAll(secret, SECRET_MARK), 'latin1')
}

/** The body's value; null: it is not JSON. Keys such as `__proto__` are data like any other. */
export function parseBody(body: Buffer): { payload: unknown } | null {
  if (!isUtf8(body)) return null
  const text = body.toString('utf8')
  try {
    return { payload: parsePayload(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) }
  } catch {
    return null
  }
}

/** What the head of a delivery says about it. */
export function readHead(headers: IncomingHttpHeaders): {
  headers: string | null
  senderId: string | null
  eventName: string | null
  bytes: number
} {
  const length = headers['content-length'] ?? ''
  return {
    headers: keptHeadersOf(headers),
    senderId: senderIdOf(headers, null),
    eventName: eventNameOf(headers, null),
    bytes: /^\d{1,15}$/.test(length) ? Number(length) : 0,
  }
}

/** Headers that say something about the event or the sender. Whatever else there is may be a secret: cookies, signatures, tokens. */
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

/** As a JSON object; null: none of them is worth keeping. */
export function keptHeadersOf(headers: ReceivedHeaders): string | null {
  let kept: Record<string, string> | null = null
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === 'string' && KEPT_HEADERS.has(name)) (kept ??= {})[name] = value.slice(0, MAX_HEADER_CHARS)
  }
  return kept === null ? null : JSON.stringify(kept)
}
