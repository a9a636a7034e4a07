import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createBodyMemory, type BodyMemory } from './body-memory.ts'
import { readBody } from './delivery-body.ts'

type Sender = { stream: PassThrough; result: () => string | null; release: () => void }

function open(memory: BodyMemory, webhook = 1, maxBytes = 1000): Sender {
  const stream = new PassThrough()
  const req = Object.assign(stream, { headers: {}, socket: { writableEnded: false } }) as unknown as IncomingMessage
  let result: string | null = null
  let release = () => {}
  void readBody(req, { maxBytes, memory, webhook }).then((read) => {
    result = typeof read.body === 'string' ? read.body : `body ${read.body.toString()}`
    release = read.release
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

test('reads a body of one chunk, of many, and an empty one', async () => {
  const memory = createBodyMemory()
  const [one, many, none] = [open(memory), open(memory), open(memory)]
  await write(one, 'whole')
  await write(many, 'a', 'bc', 'def', 'g'.repeat(500))
  expect(await end(one)).toBe('body whole')
  expect(await end(many)).toBe(`body abcdef${'g'.repeat(500)}`)
  expect(await end(none)).toBe('body ')
})

test('gives up on a body whose connection closes, and gives its memory back', async () => {
  const memory = createBodyMemory({ webhook: 10, all: 10 })
  const sender = open(memory)
  await write(sender, 'a'.repeat(10))
  sender.stream.destroy()
  await settle()
  expect(sender.result()).toBe('incomplete')
  const next = open(memory)
  await write(next, 'b'.repeat(10))
  expect(await end(next)).toBe(`body ${'b'.repeat(10)}`)
})

test('limits the memory of a webhook, including complete bodies without a response', async () => {
  const memory = createBodyMemory({ webhook: 100, all: 1000 })
  const [first, second, third] = [open(memory), open(memory), open(memory)]
  await write(first, 'x'.repeat(60))
  expect(await end(first)).toContain('body')
  await write(second, 'x'.repeat(60))
  expect(second.result()).toBe('too_many_at_once')
  first.release()
  await write(third, 'x'.repeat(60))
  expect(await end(third)).toContain('body')
})

test('counts the memory that tiny chunks take', async () => {
  const memory = createBodyMemory({ webhook: 1000, all: 1000 })
  const [first, second] = [open(memory), open(memory)]
  await write(first, 'a', 'b')
  await write(second, 'c')
  expect(second.result()).toBe('too_many_at_once')
  expect(await end(first)).toBe('body ab')
})

test('takes memory from the oldest unfinished body of the webhook that holds the most', async () => {
  const memory = createBodyMemory({ webhook: 300, all: 400 })
  const flood = [open(memory, 1), open(memory, 1), open(memory, 1)]
  for (const sender of flood) await write(sender, 'x'.repeat(100))
  const honest = open(memory, 2)
  await write(honest, 'y'.repeat(150))
  expect(flood.map(({ result }) => result())).toEqual(['too_many_at_once', null, null])
  expect(await end(honest)).toContain('body y')
  // A complete body is not given up, so the new one is refused.
  const late = open(memory, 2)
  await write(late, 'z'.repeat(101))
  expect(late.result()).toBe('too_many_at_once')
})
