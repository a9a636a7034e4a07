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

const TRIED_PORTS = 50

/** The next port above `taken` that nothing listens on, to offer to a person. */
export async function suggestPort(host: string, taken: number): Promise<number> {
  for (let step = 1; step <= TRIED_PORTS; step++) {
    const port = taken + step <= 65_535 ? taken + step : 1024 + ((taken + step) % 65_536)
    if (await isFree(host, port)) return port
  }
  return taken < 65_535 ? taken + 1 : 1024
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
