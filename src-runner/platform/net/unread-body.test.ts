import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { respondUnread } from './unread-body.ts'

let server: Server
let client: Socket
let text: string
let received: string
beforeEach(async () => {
  received = ''
  server = createServer((req, res) => {
    req.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    respondUnread(res, 404, { 'content-length': 2 }, 'no')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  text = ''
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
})
afterEach(() => {
  client.destroy()
  server.close()
})

const head = (length: number) => `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`

it('keeps the connection of a sender whose data waited while the process stood still', async () => {
  client.write(`${head(20)}0123456789`)
  await expect.poll(() => text).toMatch(/^HTTP\/1.1 404 [^]*no$/)
  // Timers come next after an immediate, and what has arrived is read after them.
  await new Promise<void>((resolve) =>
    setImmediate(() => {
      client.write('01234')
      const until = performance.now() + 1200
      while (performance.now() < until);
      resolve()
    }),
  )
  await expect.poll(() => received).toBe('012345678901234')
  client.write(`56789${head(0)}`)
  await expect.poll(() => text.split('HTTP/1.1 404 ')).toHaveLength(3)
  expect(client.destroyed).toBe(false)
})

it('closes the connection of a sender that stops sending', async () => {
  const closed = new Promise((resolve) => client.once('close', resolve))
  client.write(`${head(20)}0123456789`)
  await closed
  expect(text).toMatch(/^HTTP\/1.1 404 [^]*no$/)
})
