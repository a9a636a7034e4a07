import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { parsePayload } from '../../records/triggers/parse-payload.ts'
import type { ReceivedHeaders } from '../../records/triggers/received-headers.ts'

/**
 * JSON under its own name or that of a format made of it (`application/cloudevents+json`), in UTF-8. Parameters that say
 * nothing of the encoding are passed over. Without a type the body itself shows whether it is JSON: quite a few
 * senders leave it out, and nobody gains anything by that, since the secret is in the address.
 */
const JSON_TYPES = /^application\/(?:[\w.!#$&^+-]+\+)?json[ \t]*(?:;(.*))?$/i
const CHARSET = /(?:^|;)[ \t]*charset[ \t]*=[ \t]*"?([^";, \t]*)"?/i

export function isJsonType(type: string | undefined): boolean {
  if (type === undefined || type === '') return true
  const match = JSON_TYPES.exec(type)
  if (match === null) return false
  const charset = CHARSET.exec(match[1] ?? '')?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset)
}

export function isPlain({ 'content-encoding': encoding }: IncomingHttpHeaders): boolean {
  return encoding === undefined || encoding.trim().toLowerCase() === 'identity'
}

/** Counts what comes, whatever the headers say of it. `done` is called once; what comes after it is thrown away. */
export function readBody(req: IncomingMessage, maxBytes: number, done: (body: Buffer | 'too_large' | 'incomplete') => void): void {
  if (Number(req.headers['content-length']) > maxBytes) return done('too_large')
  let chunks: Buffer[] = []
  let length = 0
  let over = false
  const finish = (body: Buffer | 'too_large' | 'incomplete') => {
    if (over) return
    over = true
    chunks = []
    done(body)
  }
  req.on('data', (chunk: Buffer) => {
    if (over) return
    length += chunk.length
    chunks.push(chunk)
    if (length > maxBytes) finish('too_large')
  })
  req.on('end', () => {
    // More than it announced came at once, and that was answered as what it is: whoever reads a 400 has made no job.
    if (req.socket.writableEnded) return finish('incomplete')
    finish(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length))
  })
  req.on('error', () => finish('incomplete'))
  req.on('close', () => finish('incomplete'))
}

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
