import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerFixed, COMMON_HEADERS } from '../../base/net/fixed-answers.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import { refuseAtGate, type GateConfig } from '../../contract/gate.ts'

type Listener = (req: IncomingMessage, res: ServerResponse) => void

/** Deliveries to webhooks. false: this request is none, and nothing was done with it. */
export type TakeDelivery = (req: IncomingMessage, res: ServerResponse) => boolean

/**
 * What stands between the socket and the router. It sees every request that Node could parse, whatever its method
 * and path, so no route, no 404 and no error page can be reached around it. Deliveries alone pass it by: they come
 * from outside under any name, and bring a secret of their own.
 */
export function createFront(gate: GateConfig, next: Listener, takeDelivery: TakeDelivery, passedGate?: (target: string) => void): Listener {
  return (req, res) => {
    if (takeDelivery(req, res)) return
    for (const [name, value] of COMMON_HEADERS) res.setHeader(name, value)
    const refusal = refuse(req, gate)
    if (refusal === null) {
      passedGate?.(req.url ?? '')
      return next(req, res)
    }
    // Whoever is refused here gets no second request on the same socket; an Upgrade least of all.
    res.setHeader('connection', 'close')
    answerFixed(res, refusal)
  }
}

function refuse(req: IncomingMessage, gate: GateConfig): ErrorCode | null {
  const target = req.url ?? ''
  const refusal = refuseAtGate(
    { method: req.method ?? '', path: pathOf(target), httpVersion: req.httpVersion, rawHeaders: req.rawHeaders },
    gate,
  )
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
