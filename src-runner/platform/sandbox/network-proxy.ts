import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { rm } from 'node:fs/promises'
import type { AddressInfo, ListenOptions, Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { addressesOfThisMachine } from '../net/address-guard.ts'
import { canonicalAddress, kindOfAddress } from '../net/address-kind.ts'
import { ClosedAddress, connectChecked } from '../net/checked-connection.ts'
import { http } from '../net/node-http.ts'
import { temporaryFolder } from './leftovers.ts'

/** A web proxy behind a socket file that only one sandbox sees: its only way out. */
export type NetworkProxy = { socketPath: string; close(): Promise<void> }

/** The same behind a port of this machine's loopback, where the sandbox has no network of its own. */
export type LoopbackProxy = { port: number; close(): Promise<void> }

export type NetworkProxyOptions = {
  /** Default: only addresses of the internet. */
  mayReach?: (address: string) => boolean
  /** The only hosts that it reaches. `*` is any. Default: any. */
  hosts?: readonly string[]
}

type Reach = Required<NetworkProxyOptions>

export const PROXY_PORT = 3128
export const SOCKET_IN_SANDBOX = '/sandbox/network'

const CONNECT_TIMEOUT_MS = 15_000
/** Each takes memory and two file handles of the runner. Package managers open a few dozen. */
export const MAX_CONNECTIONS = 256
/** Mail: a command could only send there. */
const CLOSED_PORTS = new Set([25, 465, 587])
/** RFC 9110, section 7.6.1. */
const HOP_HEADERS = /^(connection|keep-alive|proxy-(authenticate|authorization|connection)|te|trailer|upgrade)$/

/** Resolves names outside the sandbox. */
export async function openNetworkProxy(options: NetworkProxyOptions = {}): Promise<NetworkProxy> {
  const folder = await temporaryFolder('proxy')
  const socketPath = join(folder, 'network')
  const { close } = await serve({ path: socketPath }, options)
  return {
    socketPath,
    async close() {
      await close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Like `openNetworkProxy`. Other programs of this machine can use it too. */
export async function openLoopbackProxy(options: NetworkProxyOptions = {}): Promise<LoopbackProxy> {
  const { server, close } = await serve({ host: '127.0.0.1', port: 0 }, options)
  return { port: (server.address() as AddressInfo).port, close }
}

async function serve(at: ListenOptions, { mayReach = isOutside, hosts = ['*'] }: NetworkProxyOptions) {
  const allowed: Reach = { mayReach, hosts }
  const open = new Set<Duplex>()
  const server = http.createServer((request, response) => void forward(request, response, allowed))
  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => void tunnel(request, socket, head, allowed))
  await once(server.listen(at), 'listening')
  // Without a listener, a failed accept would end the process.
  server.on('error', () => {})
  return {
    server,
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function isOutside(address: string): boolean {
  const own = addressesOfThisMachine().map(canonicalAddress)
  return kindOfAddress(address) === 'public' && !own.includes(canonicalAddress(address))
}

async function tunnel(request: IncomingMessage, socket: Duplex, head: Buffer, allowed: Reach): Promise<void> {
  socket.on('error', () => {})
  try {
    const [, host, port] = /^(?:\[([^\]]+)\]|[^:]+):(\d+)$/.exec(request.url ?? '') ?? []
    const name = host ?? request.url?.split(':')[0] ?? ''
    const far = await reach(name, Number(port), allowed)
    if (socket.destroyed) return void far.destroy()
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    far.write(head)
    joinBoth(socket, far)
  } catch (thrown) {
    const { status, text } = refusal(thrown)
    socket.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${text}\n`)
  }
}

async function forward(request: IncomingMessage, response: ServerResponse, allowed: Reach): Promise<void> {
  try {
    const url = URL.canParse(request.url ?? '') ? new URL(request.url!) : null
    if (url?.protocol !== 'http:') throw new ClosedAddress('This proxy takes http addresses and CONNECT.')
    const far = await reach(url.hostname.replace(/^\[|\]$/g, ''), Number(url.port || 80), allowed)
    if (response.destroyed) return void far.destroy()
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !HOP_HEADERS.test(name)))
    const onward = http.request({
      method: request.method,
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host },
      createConnection: () => far,
    })
    onward.on('response', (received) => {
      // The web server may answer with what Node reads but does not write, such as status 0. Nobody catches what is thrown here.
      try {
        response.writeHead(received.statusCode!, received.rawHeaders)
        received.pipe(response)
      } catch (thrown) {
        far.destroy()
        sendRefusal(response, thrown)
      }
    })
    onward.on('error', (thrown) => sendRefusal(response, thrown))
    response.on('close', () => far.destroy())
    request.pipe(onward)
  } catch (thrown) {
    sendRefusal(response, thrown)
  }
}

function sendRefusal(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent) return void response.destroy()
  const { status, text } = refusal(thrown)
  response.writeHead(Number.parseInt(status, 10), { 'content-type': 'text/plain', connection: 'close' }).end(`${text}\n`)
}

function refusal(thrown: unknown): { status: string; text: string } {
  return thrown instanceof ClosedAddress
    ? { status: '403 Forbidden', text: thrown.message }
    : { status: '502 Bad Gateway', text: `No connection: ${(thrown as NodeJS.ErrnoException).code ?? 'failed'}` }
}

async function reach(host: string, port: number, { mayReach, hosts }: Reach): Promise<Socket> {
  if (!hosts.some((one) => one === '*' || one.toLowerCase() === host.toLowerCase()))
    throw new ClosedAddress(`${host} is not one of the hosts that the person opened to this program.`)
  if (!Number.isInteger(port) || port < 1 || port > 65_535 || CLOSED_PORTS.has(port))
    throw new ClosedAddress(`Port ${port} is closed to commands.`)
  const refusalOf = (address: string) => (mayReach(address) ? null : `${host} is not on the internet, and commands reach nothing else.`)
  const tooSlow = () => Object.assign(new Error('no response'), { code: 'ETIMEDOUT' })
  return (await connectChecked({ host, port, refusalOf, timeoutMs: CONNECT_TIMEOUT_MS, tooSlow })).socket
}

/** When one side closes, so does the other. */
function joinBoth(near: Duplex, far: Duplex): void {
  near.pipe(far).pipe(near)
  near.once('close', () => far.destroy())
  far.once('close', () => near.destroy())
}

/**
 * Runs in the sandbox, whose network is only a loopback: forwards connections to the socket file. It goes into the background
 * once it listens, so that the proxy is ready when the command starts.
 */
export const FORWARDER = `
import asyncio, os, socket
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(('127.0.0.1', ${PROXY_PORT}))
listener.listen(128)
if os.fork(): os._exit(0)
null = os.open('/dev/null', os.O_RDWR)
for fd in (0, 1, 2): os.dup2(null, fd)
async def copy(reader, writer):
    try:
        while True:
            data = await reader.read(65536)
            if not data: break
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except (OSError, RuntimeError): writer.close()
async def serve(reader, writer):
    try: far_reader, far_writer = await asyncio.open_unix_connection('${SOCKET_IN_SANDBOX}')
    except OSError: return writer.close()
    await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
    writer.close()
    far_writer.close()
async def main():
    async with await asyncio.start_server(serve, sock=listener) as server: await server.serve_forever()
asyncio.run(main())
`

/** The variables by which curl, git, npm, pip, cargo, go and Node find the proxy. */
export function proxyEnvironment(port = PROXY_PORT): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`
  const none = 'localhost,127.0.0.1,::1'
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: none,
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: none,
    NODE_USE_ENV_PROXY: '1',
  }
}
