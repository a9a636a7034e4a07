import { z } from 'zod'

/** What both servers encrypt connections from the network with. */
export const TlsPair = z.object({
  /** PEM. */
  certificate: z.string(),
  /** PKCS #8 in base64, on one line, so that logs can be searched for it. */
  key: z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/),
})
export type TlsPair = z.infer<typeof TlsPair>

/** The parts of Node's sockets and servers that this file uses. */
type Peekable = {
  on(event: 'error' | 'close', listener: () => void): unknown
  once(event: 'readable', listener: () => void): unknown
  read(size: number): Uint8Array | null
  unshift(chunk: Uint8Array): unknown
  setTimeout(ms: number, listener?: () => void): unknown
  destroy(): unknown
}
type HttpServer<S> = {
  listeners(event: 'connection'): unknown[]
  removeAllListeners(event: 'connection'): unknown
  on(event: 'connection', listener: (socket: S) => void): unknown
}
type TlsServer<S> = {
  emit(event: 'connection', socket: S): unknown
  setSecureContext(options: { cert: string; key: string }): void
}

export type TlsFront = {
  /** For new connections. null: TLS is not spoken. */
  use(pair: TlsPair | null): void
  /** Ends every connection that was accepted while TLS was spoken. */
  closeAll(): void
}

const HANDSHAKE = 22
const FIRST_BYTE_MS = 10_000

/**
 * Lets a server speak HTTP and HTTPS on one port: TLS begins with a handshake record, and HTTP with a letter. `createTls` makes a
 * TLS server that listens nowhere and passes its connections to `serve`. Whether plain HTTP is answered, `isPlainFromNetwork` says
 * for each request.
 */
export function acceptTls<S extends Peekable, T extends S>(
  server: HttpServer<S>,
  createTls: (serve: (socket: T) => void) => TlsServer<S>,
): TlsFront {
  const [listener] = server.listeners('connection') as [(this: unknown, socket: S) => void]
  const serve = (socket: S) => listener.call(server, socket)
  const open = new Set<S>()
  let tls: TlsServer<S> | null = null
  let isOn = false

  server.removeAllListeners('connection')
  server.on('connection', (socket) => {
    if (tls === null || !isOn) return serve(socket)
    const chosen = tls
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    // A connection that breaks before its first byte is no error of the server.
    socket.on('error', () => undefined)
    const end = () => void socket.destroy()
    socket.setTimeout(FIRST_BYTE_MS, end)
    socket.once('readable', () => {
      const first = socket.read(1)
      if (first === null) return end()
      socket.setTimeout(0, end)
      socket.unshift(first)
      if (first[0] === HANDSHAKE) chosen.emit('connection', socket)
      else serve(socket)
    })
  })
  return {
    use(pair) {
      isOn = pair !== null
      if (pair === null) return
      tls ??= createTls(serve)
      tls.setSecureContext({ cert: pair.certificate, key: pemOf(pair.key) })
    },
    closeAll() {
      for (const socket of open) socket.destroy()
    },
  }
}

function pemOf(key: string): string {
  return `-----BEGIN PRIVATE KEY-----\n${key.replace(/.{64}/g, '$&\n').trimEnd()}\n-----END PRIVATE KEY-----\n`
}

export type Ends = { remoteAddress?: string | undefined; localAddress?: string | undefined }

/** A connection without TLS that did not stay on this machine. */
export function isPlainFromNetwork(connection: Ends & { encrypted?: boolean }): boolean {
  return connection.encrypted !== true && isFromNetwork(connection)
}

/** Not over loopback. Also true for a connection of this machine to its address in the network. */
export function isFromNetwork({ remoteAddress, localAddress }: Ends): boolean {
  return !(isLoopback(remoteAddress) && isLoopback(localAddress))
}

function isLoopback(address = ''): boolean {
  return /^(::ffff:)?127\./i.test(address) || address === '::1'
}
