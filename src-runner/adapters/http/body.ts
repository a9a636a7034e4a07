import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { hasBody, isEmptyBody } from '../../platform/net/unread-body.ts'
import { AppError } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { notJson } from './error-response.ts'

/** JSON text may use twelve bytes for a character (`\ud83d\ude00`), and a task has up to 200,000 of them. */
export const MAX_BODY_BYTES = 2_500_000

const JSON_CONTENT = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?$/i

/**
 * Accepts only plain JSON in UTF-8. A web page can send text, forms and files to this port without a preflight, but not
 * this type, and a preflight gets no permission.
 */
export async function requireJson(req: IncomingMessage): Promise<void> {
  const { headers } = req
  // An empty body has no type: `curl -d ''` would declare a form.
  if (!hasBody(headers)) return void delete headers['content-type']
  if (!JSON_CONTENT.test(headers['content-type'] ?? '')) {
    // Only its end tells that a chunked body is empty.
    if (headers['transfer-encoding'] === undefined || !(await isEmptyBody(req))) throw notJson()
    delete headers['transfer-encoding']
    delete headers['content-type']
    return
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    throw new AppError('unsupported_media_type', createMessage('body_encoded'))
  }
}

/** Returns undefined for an empty body. Keys such as `__proto__` are plain data. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new AppError('invalid_request', createMessage('body_not_utf8'))
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch {
    // The parser's message quotes the body, so it is not passed on.
    throw new AppError('invalid_request', createMessage('body_not_json'))
  }
}
