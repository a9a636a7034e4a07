import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { answerBrokenRequest } from '../../platform/net/fixed-responses.ts'
import { http } from '../../platform/net/node-http.ts'
import { refuse } from './responses.ts'
import type { WebhookIntake } from './webhook-intake.ts'

export type WebhookServer = {
  /** Rejects with the system's error (`EADDRINUSE`, `EACCES`, …). */
  listen(host: string, port: number): Promise<{ host: string; port: number }>
  /** Lets responses under way finish for at most `graceMs`, then closes every connection. */
  close(graceMs?: number): Promise<void>
}

/** How long a sender may take. Node checks every `checkEveryMs`. */
export type WebhookDeadlines = { headersMs: number; requestMs: number; checkEveryMs: number }

const SWEEP_MS = 20

/** A port that serves webhooks and nothing else, so a tunnel to it can publish nothing else. */
export function createWebhookServer({ intake, deadlines }: { intake: WebhookIntake; deadlines: WebhookDeadlines }): WebhookServer {
  const server = http.createServer(
    {
      requireHostHeader: false,
      headersTimeout: deadlines.headersMs,
      requestTimeout: deadlines.requestMs,
      connectionsCheckingInterval: deadlines.checkEveryMs,
      keepAliveTimeout: 72_000,
    },
    (req, res) => {
      if (!intake.handle(req, res)) refuse(res, 'not_found')
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
      // A kept-alive connection becomes idle once its last response is sent, and would stay open.
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
      const limit = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearInterval(sweep)
      clearTimeout(limit)
    },
  }
}
