import { expect, it } from 'vitest'
import { boundEvents } from './event-limits.ts'

it('gives the library small pieces, whatever the server sends at once', async () => {
  const body = `${'\n'.repeat(200_000)}\r:`
  const bounded = boundEvents(new Response(body), 'events', () => new Error('too large'))
  const pieces: Uint8Array[] = []
  for await (const piece of bounded.body!) pieces.push(piece)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(4_096)
  expect(Buffer.concat(pieces).toString()).toBe(body)
})
