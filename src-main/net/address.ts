import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'

/** The address at which this machine itself reaches a server that listens on `host`. */
export function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** Names under which a server on `host` may be asked for, besides the loopback names. Lower case, as in a Host header. */
export function namesOf(host: string): string[] {
  const bracket = (address: string) => (address.includes(':') ? `[${address}]` : address)
  if (host !== '0.0.0.0' && host !== '::') return [bracket(host.toLowerCase())]
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter((address) => !address.internal && !address.address.startsWith('fe80'))
    .map((address) => bracket(address.address.toLowerCase()))
}

/** Addresses and names under which a browser opens a server that is bound to `host`. Never `localhost`, whatever it resolves to. */
export function boundNamesOf(host: string): string[] {
  const loopback = host === '::' ? ['[::1]', '127.0.0.1'] : host === '0.0.0.0' ? ['127.0.0.1'] : []
  return [...loopback, ...namesOf(host)]
}

const TRIED_PORTS = 50

/**
 * A port near `taken` that nothing listens on, to offer to a person. In steps of two: the two servers' ports are
 * neighbours, and both may be looking at once.
 */
export async function suggestPort(host: string, taken: number): Promise<number> {
  const ports = Array.from({ length: TRIED_PORTS }, (_, i) => 1024 + ((taken - 1024 + 2 * (i + 1) + 64_512) % 64_512))
  for (const port of ports) if (await isFree(host, port)) return port
  return ports[0]!
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
