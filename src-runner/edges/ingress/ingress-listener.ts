import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { answerBrokenRequest } from '../../base/net/fixed-answers.ts'
import { http } from '../../base/net/node-http.ts'
import { refuse } from './answers.ts'
import type { Ingress } from './ingress.ts'

export type IngressListener = {
  /** Resolves when connections are taken. Rejects with the system's error (`EADDRINUSE`, `EACCES`, …). */
  listen(host: string, port: number): Promise<{ host: string; port: number }>
  /** Lets answers under way finish for at most `graceMs`, then closes every connection. */
  close(graceMs?: number): Promise<void>
}

/** How long a sender may take; Node only looks every `checkEveryMs`. */
export type IngressDeadlines = { headersMs: number; requestMs: number; checkEveryMs: number }

const SWEEP_MS = 20

/** A port on which webhooks are all there is: what a tunnel leads to can be nothing else. */
export function createIngressListener({ ingress, deadlines }: { ingress: Ingress; deadlines: IngressDeadlines }): IngressListener {
  const server = http.createServer(
    {
      requireHostHeader: false,
      headersTimeout: deadlines.headersMs,
      requestTimeout: deadlines.requestMs,
      connectionsCheckingInterval: deadlines.checkEveryMs,
      keepAliveTimeout: 72_000,
    },
    (req, res) => {
      if (!ingress.handle(req, res)) refuse(res, 'not_found')
    },
  )
  server.on('clientError', answerBrokenRequest)
  return {
    async listen(host, port) {
      server.listen(port, host)
      await once(server, 'listening')
      const address = server.address() as AddressInfo
      return { host: address.address, port: address.port }
    },
    async close(graceMs = 2000) {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      // A connection is idle only when its last answer is out, and would then stay for the next request.
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
      const limit = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearInterval(sweep)
      clearTimeout(limit)
    },
  }
}
