import { lookup } from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'

/** The address must not be connected to. The message is a sentence that names no inner address. */
export class ClosedAddress extends Error {
  override readonly name = 'ClosedAddress'
}

export type ConnectOptions = {
  host: string
  port: number
  /** Why an address must not be connected to; null: it may be. */
  refusalOf: (address: string) => string | null
  /** All addresses of a name. */
  resolve?: ((host: string) => Promise<readonly string[]>) | undefined
  /** Opens a TCP connection to an address that was checked. */
  dial?: ((address: string, port: number) => Socket) | undefined
  timeoutMs: number
  tooSlow: () => Error
  signal?: AbortSignal
  /** For TLS. If it fails, the next address is tried. */
  upgrade?: ((socket: Socket, timeoutMs: number) => Promise<Socket>) | undefined
}

/**
 * Connects to hosts that come from untrusted text. Resolves the name once, checks the addresses, connects to one of them,
 * and checks the connected address before a byte is sent. So neither DNS rebinding nor a proxy leads to a closed address.
 */
export async function connectChecked(options: ConnectOptions): Promise<{ socket: Socket; address: string }> {
  const { host, port, refusalOf, resolve = resolveBySystem, dial = dialAddress, timeoutMs, tooSlow, upgrade } = options
  const { signal = new AbortController().signal } = options
  const until = performance.now() + timeoutMs
  const addresses = isIP(host) > 0 ? [host] : await bounded(resolve(host), timeoutMs, signal, tooSlow)
  if (addresses.length === 0) throw Object.assign(new Error(`there is no host named ${host}`), { code: 'ENOTFOUND' })
  const open = addresses.filter((address) => refusalOf(address) === null)
  if (open.length === 0) throw new ClosedAddress(refusalOf(addresses[0]!)!)
  let failure: unknown
  for (const [index, candidate] of open.entries()) {
    // An address that does not respond must leave time for the next one.
    const ms = (until - performance.now()) / (open.length - index)
    const socket = dial(candidate, port)
    try {
      await connected(socket, 'connect', ms, signal, tooSlow)
      const address = socket.remoteAddress ?? ''
      const refusal = refusalOf(address)
      if (refusal !== null) throw new ClosedAddress(refusal)
      return { socket: upgrade === undefined ? socket : await upgrade(socket, until - performance.now()), address }
    } catch (error) {
      socket.destroy()
      signal.throwIfAborted()
      if (error instanceof ClosedAddress) throw error
      failure = error
    }
  }
  throw failure
}

async function resolveBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)
}

function dialAddress(address: string, port: number): Socket {
  return connect({ host: address, port, family: isIP(address) })
}

/** Waits for the event. Rejects with the socket, with the signal, or when the time is over. */
export function connected(socket: Socket, event: string, ms: number, signal: AbortSignal, tooSlow: () => Error): Promise<void> {
  const done = new Promise<void>((resolve, reject) => {
    socket.once(event, () => resolve())
    // Stays for the life of the socket, so that a late error is never unhandled.
    socket.on('error', reject)
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  })
  return bounded(done, Math.max(1, ms), signal, tooSlow)
}

/** The result of `work`, or an error if the signal or the clock comes first. `work` itself is not stopped. */
export async function bounded<T>(work: Promise<T>, ms: number, signal: AbortSignal, tooSlow: () => Error): Promise<T> {
  // If the signal has aborted already, nobody else hears how it ends.
  work.catch(() => {})
  signal.throwIfAborted()
  const { promise: over, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(tooSlow()), ms)
  const stop = () => reject(signal.reason as Error)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
