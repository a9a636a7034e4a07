import { connect } from 'node:net'

export type RawAnswer = { status: number; headers: Map<string, string>; body: string; text: string }

/** Ends a test that hangs. Long enough for a busy machine. */
const FIRST_BYTE_MS = 45_000
const QUIET_MS = 5_000

/**
 * Sends bytes as they are and reads until the server closes the connection, for requests that a well-behaved client
 * cannot make. If the server leaves the connection open, it stops after a silence.
 */
export function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    // A reset leaves no socket in TIME_WAIT. Tens of thousands of them would slow down everything that lists sockets.
    socket.on('end', () => socket.resetAndDestroy())
    socket.setTimeout(FIRST_BYTE_MS, () => socket.destroy(new Error('the server neither answered nor closed')))
    socket.on('data', (chunk) => {
      socket.setTimeout(QUIET_MS)
      chunks.push(chunk)
    })
    socket.on('error', (error) => (chunks.length > 0 ? resolve(parse(chunks)) : reject(error)))
    socket.on('close', () => resolve(parse(chunks)))
    socket.write(bytes)
  })
}

function parse(chunks: Buffer[]): RawAnswer {
  const text = Buffer.concat(chunks).toString('latin1')
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]))
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(first)?.[1] ?? 0), headers, body: rest.join('\r\n\r\n'), text }
}

export type RawRequest = { method: string; target: string; headers: [string, string][]; body?: string | Buffer }

/** A request as bytes. No header is added, not even Host. */
export function toBytes(request: RawRequest): Buffer {
  const head = [`${request.method} ${request.target} HTTP/1.1`, ...request.headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(request.body ?? '')])
}
