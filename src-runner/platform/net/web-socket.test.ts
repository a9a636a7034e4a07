import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { findFreePort } from '../../testing/free-port.ts'
import type { OutboundError } from './outbound.ts'
import { openWebSocket, type OpenedSocket } from './web-socket.ts'

let http: Server
let sockets: WebSocketServer
let seen: string[]
let opened: OpenedSocket | null
const base = () => `ws://127.0.0.1:${(http.address() as AddressInfo).port}`

beforeEach(async () => {
  seen = []
  opened = null
  http = createServer((_request, response) => response.writeHead(302, { location: '/elsewhere' }).end())
  sockets = new WebSocketServer({ noServer: true })
  http.on('upgrade', (request, socket, head) => {
    if (request.url !== '/socket') return void socket.end('HTTP/1.1 302 Found\r\nlocation: /socket\r\ncontent-length: 0\r\n\r\n')
    sockets.handleUpgrade(request, socket, head, (one) => one.on('message', (data: Buffer) => one.send(`echo ${data.toString()}`)))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  opened?.close()
  for (const one of sockets.clients) one.terminate()
  await new Promise((resolve) => http.close(resolve))
})

async function open(url: string, maxMessageBytes = 1000): Promise<OpenedSocket> {
  const note = (text: string) => void seen.push(text)
  const onClose = (trouble: OutboundError) => note(`closed: ${trouble.kind}`)
  const events = { onOpen: () => note('open'), onMessage: note, onPong: () => note('pong'), onClose }
  return (opened = await openWebSocket(url, events, { maxMessageBytes }))
}

test('sends, receives and pings', async () => {
  const socket = await open(`${base()}/socket`)
  await expect.poll(() => seen).toEqual(['open'])
  socket.send('hello')
  await expect.poll(() => seen).toEqual(['open', 'echo hello'])
  socket.ping()
  await expect.poll(() => seen.at(-1)).toBe('pong')
})

test('says once that the other side has gone', async () => {
  const socket = await open(`${base()}/socket`)
  await expect.poll(() => seen).toEqual(['open'])
  for (const one of sockets.clients) one.terminate()
  await expect.poll(() => seen).toEqual(['open', 'closed: reset'])
  socket.send('nobody hears it')
  socket.ping()
})

test('ends at once when it is closed, also if the other side does not answer', async () => {
  const socket = await open(`${base()}/socket`)
  await expect.poll(() => seen).toEqual(['open'])
  const [other] = sockets.clients
  const gone = new Promise((resolve) => other!.once('close', resolve))
  socket.close()
  await gone
  expect(seen).toEqual(['open'])
})

test('follows no redirect', async () => {
  await open(`${base()}/elsewhere`)
  await expect.poll(() => seen).toEqual(['closed: protocol'])
})

test('says that nobody listens', async () => {
  await open(`ws://127.0.0.1:${await findFreePort()}/socket`)
  await expect.poll(() => seen).toEqual(['closed: refused'])
})

test('closes instead of reading a message that is too long', async () => {
  const socket = await open(`${base()}/socket`)
  await expect.poll(() => seen).toEqual(['open'])
  socket.send('x'.repeat(2000))
  await expect.poll(() => seen.at(-1)).toMatch(/^closed: /)
  expect(seen).toHaveLength(2)
})

test.each(['http://127.0.0.1/', 'ws://user:pass@127.0.0.1/', 'nonsense', 'file:///etc/passwd'])('does not open %s', async (url) => {
  await expect(open(url)).rejects.toMatchObject({ kind: 'bad_url' })
})
