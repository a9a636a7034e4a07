import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ERROR_STATUS, type ErrorCode } from '../../contract/errors.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** What every answer carries: nothing that the runner says is for a cache or for a browser to guess a type from. */
export const COMMON_HEADERS = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
] as const

/** Bytes that are the same whatever was asked for: nothing of the request comes back. */
const FIXED_BODIES = new Map<ErrorCode, string>()

export function fixedBody(code: ErrorCode): string {
  const known = FIXED_BODIES.get(code)
  if (known !== undefined) return known
  const body = JSON.stringify({ error: code })
  FIXED_BODIES.set(code, body)
  return body
}

/** An answer from in front of the router. */
export function answerFixed(res: ServerResponse, code: ErrorCode): void {
  const body = fixedBody(code)
  res.writeHead(ERROR_STATUS[code], { 'content-type': JSON_TYPE, 'content-length': body.length }).end(body)
}

/** Bytes that are no HTTP, headers without end, bodies that never come: one short answer, then the socket is closed. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  const code: ErrorCode = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'invalid_request'
  const body = fixedBody(code)
  socket.end(
    `HTTP/1.1 ${ERROR_STATUS[code]} ${code === 'request_timeout' ? 'Request Timeout' : 'Bad Request'}\r\n` +
      `content-type: ${JSON_TYPE}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  )
}
