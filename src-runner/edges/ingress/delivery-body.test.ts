import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBodyRoom, type BodyRoom } from './body-room.ts'
import { readBody, type UnreadBody } from './delivery-body.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

type Sender = { stream: PassThrough; result: () => string | null; release: () => void }

function open(room: BodyRoom, webhook = 1, maxBytes = 1000): Sender {
  const stream = new PassThrough()
  const req = Object.assign(stream, { headers: {}, socket: { writableEnded: false } }) as unknown as IncomingMessage
  let result: string | null = null
  let release = () => {}
  readBody(req, { maxBytes, deadlineMs: 15_000, room, webhook }, (body: Buffer | UnreadBody, hold) => {
    result = typeof body === 'string' ? body : `body ${body.toString()}`
    release = hold.release
  })
  return { stream, result: () => result, release: () => release() }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

async function write({ stream }: Sender, ...chunks: string[]): Promise<void> {
  for (const chunk of chunks) {
    stream.write(chunk)
    await settle()
  }
}

async function end(sender: Sender): Promise<string | null> {
  sender.stream.end()
  await settle()
  return sender.result()
}

test('reads a body of one chunk, of many, and of none', async () => {
  const room = createBodyRoom()
  const [one, many, none] = [open(room), open(room), open(room)]
  await write(one, 'whole')
  await write(many, 'a', 'bc', 'def', 'g'.repeat(500))
  expect(await end(one)).toBe('body whole')
  expect(await end(many)).toBe(`body abcdef${'g'.repeat(500)}`)
  expect(await end(none)).toBe('body ')
})

test('a body that does not end in time is incomplete', async () => {
  const sender = open(createBodyRoom())
  await write(sender, 'a', 'b')
  vi.advanceTimersByTime(14_999)
  expect(sender.result()).toBeNull()
  vi.advanceTimersByTime(1)
  expect(sender.result()).toBe('incomplete')
})

test('one webhook holds so much and no more, also in bodies that are whole and not answered yet', async () => {
  const room = createBodyRoom({ webhook: 100, all: 1000 })
  const [first, second, third] = [open(room), open(room), open(room)]
  await write(first, 'x'.repeat(60))
  expect(await end(first)).toContain('body')
  await write(second, 'x'.repeat(60))
  expect(second.result()).toBe('no_room')
  first.release()
  await write(third, 'x'.repeat(60))
  expect(await end(third)).toContain('body')
})

test('tiny chunks count for no less than the memory they take', async () => {
  const room = createBodyRoom({ webhook: 1000, all: 1000 })
  const [first, second] = [open(room), open(room)]
  await write(first, 'a', 'b')
  await write(second, 'c')
  expect(second.result()).toBe('no_room')
  expect(await end(first)).toBe('body ab')
})

test('when all room is taken the webhook with the most of it gives up its oldest unfinished body', async () => {
  const room = createBodyRoom({ webhook: 300, all: 400 })
  const flood = [open(room, 1), open(room, 1), open(room, 1)]
  for (const sender of flood) await write(sender, 'x'.repeat(100))
  const honest = open(room, 2)
  await write(honest, 'y'.repeat(150))
  expect(flood.map(({ result }) => result())).toEqual(['no_room', null, null])
  expect(await end(honest)).toContain('body y')
  // What is whole is not given up: whoever came too much goes.
  const late = open(room, 2)
  await write(late, 'z'.repeat(101))
  expect(late.result()).toBe('no_room')
})
