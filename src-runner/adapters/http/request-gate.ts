import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendFixedResponse, COMMON_HEADERS } from '../../platform/net/fixed-responses.ts'
import { isPlainFromNetwork } from '../../contract/encryption.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import { ROUTES } from '../../contract/routes.ts'
import { refuseAtGate, type GateConfig } from '../../contract/gate.ts'
import { isOwnPeer } from '../../platform/net/own-peer.ts'

type Listener = (req: IncomingMessage, res: ServerResponse) => void

const HEALTH = ROUTES.health.path

/** `isEncrypted`: the network must use HTTPS. */
export type FrontRules = GateConfig & { isEncrypted?: boolean }

/** Handles a delivery to a webhook. Returns false if the request is none. */
export type TakeDelivery = (req: IncomingMessage, res: ServerResponse) => boolean

/**
 * Runs the request gate between the socket and the router. It sees every request that Node could parse, so no route and no
 * error page can be reached around it. Only deliveries bypass it: they come from outside under any host name and carry
 * their own secret. Without encryption, nothing from the network is read while that is encrypted.
 */
export function createFront(
  gate: FrontRules,
  next: Listener,
  takeDelivery: TakeDelivery,
  passedGate?: (req: IncomingMessage) => void,
): Listener {
  return (req, res) => {
    const isPlain = gate.isEncrypted === true && isPlainFromNetwork(req.socket)
    if (!isPlain && takeDelivery(req, res)) return
    for (const [name, value] of COMMON_HEADERS) res.setHeader(name, value)
    const proceed = (refusal: ErrorCode | null) => {
      if (refusal === null) {
        passedGate?.(req)
        return next(req, res)
      }
      // A refused client gets no second request on the same socket.
      res.setHeader('connection', 'close')
      sendFixedResponse(res, refusal)
    }
    const refusal = isPlain ? 'https_required' : refuse(req, gate)
    if (refusal !== null || gate.authMode !== 'local-trust' || pathOf(req.url ?? '') === HEALTH) return proceed(refusal)
    void isOwnPeer(req.socket).then((isOwn) => proceed(isOwn ? null : 'forbidden_account'))
  }
}

function refuse(req: IncomingMessage, gate: GateConfig): ErrorCode | null {
  const target = req.url ?? ''
  const refusal = refuseAtGate(
    { method: req.method ?? '', path: pathOf(target), httpVersion: req.httpVersion, rawHeaders: req.rawHeaders },
    gate,
  )
  if (refusal !== null) return refusal
  // Absolute-form (`GET http://other/…`) names an authority that was not checked; authority-form is for proxies.
  if (!target.startsWith('/')) return target === '*' ? 'not_found' : 'invalid_request'
  return asksForUpgrade(req) ? 'invalid_request' : null
}

export function pathOf(target: string): string {
  const end = target.search(/[?#]/)
  return end === -1 ? target : target.slice(0, end)
}

/**
 * There is nothing to upgrade to. Some clients (Java's, `curl --http2`) offer HTTP/2 in clear text on plain requests;
 * RFC 9110 lets a server ignore that, so those requests are handled like any other.
 */
function asksForUpgrade(req: IncomingMessage): boolean {
  const upgrade = req.headers.upgrade
  return upgrade !== undefined && upgrade.trim().toLowerCase() !== 'h2c'
}
