import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ERROR_STATUS, type ErrorCode } from '../../contract/errors.ts'
import { http } from './node-http.ts'
import { respondUnread, isAnswered } from './unread-body.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

export const COMMON_HEADERS = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
  ['cross-origin-resource-policy', 'same-origin'],
] as const

/** Echoes nothing of the request. */
export function fixedBody(code: ErrorCode): string {
  return JSON.stringify({ error: code })
}

export function sendFixedResponse(res: ServerResponse, code: ErrorCode): void {
  const body = fixedBody(code)
  respondUnread(res, ERROR_STATUS[code], { 'content-type': JSON_TYPE, 'content-length': body.length }, body)
}

/** Responds to a request that Node cannot parse or that does not arrive in time, and closes the connection. */
export function respondToBrokenRequest(error: Error & { code?: string; rawPacket?: unknown }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswered(socket)) {
    socket.destroy(error)
    return
  }
  const code = codeOf(error)
  const status = ERROR_STATUS[code]
  const body = fixedBody(code)
  const headers = [['content-type', JSON_TYPE], ...COMMON_HEADERS, ['content-length', body.length], ['Date', new Date().toUTCString()]]
  socket.end(
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n` +
      `${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}Connection: close\r\n\r\n${body}`,
  )
}

/** `rawPacket` holds the bytes that Node could not parse. */
function codeOf({ code, rawPacket }: { code?: string; rawPacket?: unknown }): ErrorCode {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout'
  // A webhook address that is too long gets the same response as any other wrong one.
  const start = Buffer.isBuffer(rawPacket) ? rawPacket.subarray(0, WEBHOOK.length).toString('latin1') : ''
  const isWebhook = code === 'HPE_HEADER_OVERFLOW' && start === WEBHOOK
  return isWebhook ? 'not_found' : 'invalid_request'
}

const WEBHOOK = 'POST /webhooks/'
