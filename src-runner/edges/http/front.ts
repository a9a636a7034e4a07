import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ERROR_STATUS, type ErrorCode } from '../../contract/errors.ts'
import { refuseAtGate, type GateConfig } from '../../contract/gate.ts'
import { answerFixed, COMMON_HEADERS, fixedBody, JSON_TYPE } from './answer.ts'

type Listener = (req: IncomingMessage, res: ServerResponse) => void

/**
 * What stands between the socket and the router. It sees every request that Node could parse, whatever its method
 * and path, so no route, no 404 and no error page can be reached around it.
 */
export function createFront(gate: GateConfig, next: Listener): Listener {
  return (req, res) => {
    for (const [name, value] of COMMON_HEADERS) res.setHeader(name, value)
    const refusal = refuse(req, gate)
    if (refusal === null) return next(req, res)
    // Whoever is refused here gets no second request on the same socket; an Upgrade least of all.
    res.setHeader('connection', 'close')
    answerFixed(res, refusal)
  }
}

function refuse(req: IncomingMessage, gate: GateConfig): ErrorCode | null {
  const target = req.url ?? ''
  const refusal = refuseAtGate({ method: req.method ?? '', path: pathOf(target), rawHeaders: req.rawHeaders }, gate)
  if (refusal !== null) return refusal
  // Absolute-form (`GET http://other/…`) names an authority that nobody checked; authority-form is for proxies.
  if (!target.startsWith('/')) return target === '*' ? 'not_found' : 'invalid_request'
  return asksForUpgrade(req) ? 'invalid_request' : null
}

export function pathOf(target: string): string {
  const end = target.search(/[?#]/)
  return end === -1 ? target : target.slice(0, end)
}

/**
 * There is nothing to upgrade to. HTTP/2 in clear text is only an offer that some clients (Java's, `curl --http2`)
 * attach to plain requests; RFC 9110 lets a server pass over it, and those requests are answered like any other.
 */
function asksForUpgrade(req: IncomingMessage): boolean {
  const upgrade = req.headers.upgrade
  return upgrade !== undefined && upgrade.trim().toLowerCase() !== 'h2c'
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
