import { createServer } from 'node:net'
import { hostname, networkInterfaces, type NetworkInterfaceInfo } from 'node:os'

/** The network interfaces of this machine at this moment. */
export type ReadInterfaces = () => NodeJS.Dict<NetworkInterfaceInfo[]>

/** The address at which this machine itself reaches a server that listens on `host`. */
export function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** The name of this machine in its network, as Bonjour and Avahi announce it. */
export function localName(): string {
  return `${hostname().toLowerCase().split('.')[0]!}.local`
}

/** Host names of a server on `host`, besides the loopback names, as the network is now. Lower case. */
export function namesOf(host: string, interfaces: ReadInterfaces = networkInterfaces): string[] {
  const bracket = (address: string) => (address.includes(':') ? `[${address}]` : address)
  if (host !== '0.0.0.0' && host !== '::') return [bracket(host.toLowerCase())]
  const addresses = Object.values(interfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter((address) => !address.internal && !address.address.startsWith('fe80'))
    .map((address) => bracket(address.address.toLowerCase()))
  return [...addresses, localName()]
}

/** Host names under which a browser can open a server bound to `host`. Never `localhost`, which may resolve elsewhere. */
export function boundNamesOf(host: string, interfaces?: ReadInterfaces): string[] {
  const loopback = host === '::' ? ['[::1]', '127.0.0.1'] : host === '0.0.0.0' ? ['127.0.0.1'] : []
  return [...loopback, ...namesOf(host, interfaces)]
}

const TRIED_PORTS = 50

/**
 * A free port near `taken`, to suggest to the person. In steps of two, because the two servers' ports are neighbours and
 * both may search at once.
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
