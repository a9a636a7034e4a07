import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { hasBody } from '../../base/net/unread-body.ts'
import { AppError } from '../../kit/errors.ts'
import { notJson } from './answer.ts'

/** JSON text may use six bytes for a character (`\u00e9`), and a task has up to 200,000 of them. */
export const MAX_BODY_BYTES = 2_000_000

const JSON_CONTENT = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?$/i

/**
 * Only JSON, plain and in UTF-8. A browser can send text, forms and files to this port without asking anybody;
 * it cannot send this type across sites without a preflight that gets no answer.
 */
export function requireJson(headers: IncomingHttpHeaders): void {
  // What has no body has no type either, whatever it says: `curl -d ''` calls nothing a form.
  if (!hasBody(headers)) return void delete headers['content-type']
  if (!JSON_CONTENT.test(headers['content-type'] ?? '')) throw notJson()
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new AppError('unsupported_media_type', 'Send the body without Content-Encoding.')
  }
}

/** The body's value; undefined when there was none. Keys such as `__proto__` are data like any other. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new AppError('invalid_request', 'The body is not UTF-8.')
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch {
    // The parser's own words quote the body, so they stay here.
    throw new AppError('invalid_request', 'The body is not valid JSON.')
  }
}
