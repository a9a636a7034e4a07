import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { acceptTls, type TlsFront } from '../../contract/encryption.ts'
import { MAX_CONNECTIONS } from '../../contract/connection-limit.ts'

/**
 * Node's HTTP module without its ESM exports. `import 'node:http'` reads all exports, and one of them (WebSocket) loads
 * the whole of undici: 30 ms of CPU at the start, for nothing.
 */
export const http = process.getBuiltinModule('node:http')

/**
 * Time limits for a client's request, which Node checks every `checkEveryMs`, and for a connection without one. `idleMs` 0: until the
 * client closes it.
 */
export type Deadlines = { headersMs: number; requestMs: number; checkEveryMs: number; idleMs?: number }

export const DEFAULT_DEADLINES = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 2_000, idleMs: 72_000 }

export function createNodeServer(listener: RequestListener, deadlines: Deadlines = DEFAULT_DEADLINES): Server {
  const options = {
    requireHostHeader: false, // The listener refuses a missing Host with a body; Node would send none.
    headersTimeout: deadlines.headersMs,
    requestTimeout: deadlines.requestMs,
    connectionsCheckingInterval: deadlines.checkEveryMs,
    keepAliveTimeout: deadlines.idleMs ?? DEFAULT_DEADLINES.idleMs,
  }
  const server = http.createServer(options, listener)
  server.maxConnections = MAX_CONNECTIONS
  return server
}

/** Lets a server of `createNodeServer` speak HTTPS too. The module for it is loaded with the first certificate. */
export function acceptTlsOn(server: Server): TlsFront {
  return acceptTls<Socket, Socket>(server, (serve) =>
    process
      .getBuiltinModule('node:tls')
      .createServer({ ALPNProtocols: ['http/1.1'], handshakeTimeout: 10_000 }, serve)
      .on('tlsClientError', (_error, socket) => socket.destroy()),
  )
}
