import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createGuardedStream } from './guarded-stream.ts'

it('gives a response in small pieces, whatever the server sends at once', async () => {
  const body = `${'\n'.repeat(200_000)}\r:`
  const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const limits = { maxBytes: 1_000_000, maxParts: 1_000, firstByteMs: 10_000 }
    const response = await createGuardedStream({ enteredAddress: address, headers: async () => ({}), ...limits })(address)
    const pieces: Uint8Array[] = []
    for await (const piece of response.body!) pieces.push(piece)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(4_096)
    expect(Buffer.concat(pieces).toString()).toBe(body)
  } finally {
    server.close()
  }
})
