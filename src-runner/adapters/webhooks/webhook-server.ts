import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { respondToBrokenRequest } from '../../platform/net/fixed-responses.ts'
import { createNodeServer, type Deadlines } from '../../platform/net/node-http.ts'
import { refuse } from './responses.ts'
import type { WebhookIntake } from './webhook-intake.ts'

export type WebhookServer = Awaited<ReturnType<typeof openWebhookServer>>

const SWEEP_MS = 20

/**
 * Opens a port that serves webhooks and nothing else, so a tunnel to it can publish nothing else. On loopback, because a
 * tunnel runs on this machine. Rejects with the system's error (`EADDRINUSE`, `EACCES`, …).
 */
export async function openWebhookServer(intake: WebhookIntake, port: number, deadlines?: Deadlines) {
  const server = createNodeServer((req, res) => {
    if (!intake(req, res)) refuse(res, 'not_found')
  }, deadlines)
  server.on('clientError', respondToBrokenRequest)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Lets responses under way finish for at most `graceMs`, then closes every connection. */
    async close(graceMs = 2000): Promise<void> {
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
