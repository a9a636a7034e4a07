import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { GuardedFetchOptions } from '../platform/net/guarded-fetch.ts'
import { selfSigned } from './self-signed.ts'

export type SmallInternet = {
  /** For createGuardedFetch: names and public addresses of this internet. Nothing reaches the real one. */
  options: Required<Pick<GuardedFetchOptions, 'resolve' | 'dial' | 'ownAddresses' | 'ca'>>
  /** Adds a site at a public address and returns the address. The listener gets the requests. */
  site(host: string, answer: RequestListener): Promise<string>
  /** The same over TLS. Requests that begin afterwards trust its certificate. */
  secureSite(host: string, answer: RequestListener): Promise<string>
  /** Adds a site that speaks another protocol. */
  rawSite(host: string, onSocket: (socket: Socket) => void): Promise<string>
  /** Serves an existing server under this host. */
  place(host: string, server: Server): Promise<string>
  /** The addresses of the host's name, one for each lookup. The last one stays. */
  name(host: string, ...answers: string[][]): void
  lookups: string[]
  /** Addresses without a site that were connected to. Each reached the canary. */
  escapes: string[]
  canary: { port: number; connections: number }
}

/**
 * An internet on the loopback interface. The product's guard sees real public addresses; only the last step, opening
 * the connection, leads to a local server. A connection to any other address leads to the canary, which counts it, so
 * no connection that passes the guard goes unseen.
 */
export async function smallInternet(): Promise<SmallInternet> {
  const names = new Map<string, string[][]>()
  const ports = new Map<string, number>()
  const canary = { port: 0, connections: 0 }
  const escapes: string[] = []
  const lookups: string[] = []
  const certificates: string[] = []

  const listen = async (server: Server): Promise<number> => {
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    return (server.address() as AddressInfo).port
  }

  canary.port = await listen(
    createTcpServer((socket) => {
      canary.connections++
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nCANARY'))
    }),
  )

  const place = async (host: string, server: Server) => {
    const address = `93.184.216.${ports.size + 1}`
    ports.set(address, await listen(server))
    names.set(host, [[address]])
    return address
  }

  return {
    options: {
      resolve: (host) => {
        lookups.push(host)
        const answers = names.get(host)
        if (answers === undefined) return Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }))
        return Promise.resolve(answers.length > 1 ? answers.shift()! : answers[0]!)
      },
      dial(address, port) {
        const there = ports.get(address)
        if (there === undefined) escapes.push(`${address}:${port}`)
        const socket = connect({ host: '127.0.0.1', port: there ?? canary.port })
        if (there !== undefined) Object.defineProperty(socket, 'remoteAddress', { value: address })
        return socket
      },
      ownAddresses: () => ['203.1.113.7', '2a01:4f8::7', '192.168.178.20'],
      get ca() {
        return certificates.join('\n')
      },
    },
    site: (host, answer) => place(host, createServer(answer)),
    secureSite(host, answer) {
      const { key, cert } = selfSigned(host)
      certificates.push(cert)
      return place(host, createHttpsServer({ key, cert }, answer))
    },
    rawSite: (host, onSocket) => place(host, createTcpServer(onSocket)),
    place,
    name: (host, ...answers) => void names.set(host, answers),
    lookups,
    escapes,
    canary,
  }
}
