import { PassThrough } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { RunningProgram } from '../../platform/sandbox/start-sandboxed.ts'
import { connectServer, type ElicitationAnswer } from './connect-server.ts'

type Message = { id?: number; method?: string; params?: { name?: string } }

/** A server that asks the person during each call, and answers the call when it has the answer. */
function startAsking(): RunningProgram {
  const [stdin, stdout, ended] = [new PassThrough(), new PassThrough(), Promise.withResolvers<never>()]
  const send = (message: object) => stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const callOf = new Map<number, number>()
  stdin.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      const { id, method, params } = JSON.parse(line) as Message
      if (id === undefined) continue
      if (method === 'initialize') {
        const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'asking', version: '1' } }
        send({ id, result })
      } else if (method === 'tools/call') {
        const asked = 1_000 + id
        callOf.set(asked, id)
        const question = { message: params!.name!, requestedSchema: { type: 'object', properties: {} } }
        send({ id: asked, method: 'elicitation/create', params: question })
      } else if (method === undefined) {
        send({ id: callOf.get(id)!, result: { content: [] } })
      }
    }
  })
  const stop = () => ended.promise
  return { stdin, stdout, stderr: new PassThrough(), recheck: async () => {}, ended: ended.promise, stop }
}

describe('the time limit of a call', () => {
  it('stands still while it asks the person, also if another call asked when it began', async () => {
    const questions = new Map<string, (answer: ElicitationAnswer) => void>()
    const { signal } = new AbortController()
    const connection = await connectServer({
      way: { kind: 'program', program: startAsking() },
      roots: [],
      monotonic: () => performance.now(),
      onToolsChanged() {},
      onElicitation: ({ message }) => new Promise((resolve) => questions.set(message, resolve)),
      note() {},
      signal,
      limits: { callMs: 1_000 },
    })
    const isAsked = (name: string) => expect.poll(() => questions.has(name)).toBe(true)
    const first = connection.call('first', {}, { signal })
    await isAsked('first')
    const second = connection.call('second', {}, { signal })
    questions.get('first')!({ action: 'cancel' })
    await first
    await isAsked('second')
    // Longer than the limit.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    questions.get('second')!({ action: 'cancel' })
    await expect(second).resolves.toBeDefined()
  })
})

/** A server whose list of tools has six pages with one tool each, described in 10 MB. `beforePage` runs before it sends one. */
function startWordy(beforePage: () => void): RunningProgram {
  const [stdin, stdout, ended] = [new PassThrough(), new PassThrough(), Promise.withResolvers<never>()]
  const send = (message: object) => stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const pages = 6
  let sent = 0
  const nextPage = () => {
    beforePage()
    const tool = { name: `tool${++sent}`, description: `${sent} `.repeat(5_000_000), inputSchema: { type: 'object' } }
    return { tools: [tool], ...(sent < pages && { nextCursor: String(sent) }) }
  }
  stdin.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      const { id, method } = JSON.parse(line) as Message
      const introduction = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'wordy', version: '1' } }
      if (method === 'initialize') send({ id, result: introduction })
      // In a turn of its own, so that nothing of the last page is under way.
      else if (method === 'tools/list') setImmediate(() => send({ id, result: nextPage() }))
    }
  })
  const stop = () => ended.promise
  return { stdin, stdout, stderr: new PassThrough(), recheck: async () => {}, ended: ended.promise, stop }
}

it('keeps what is needed of a page of tools, and not the page', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const used: number[] = []
  let now = 0
  const { signal } = new AbortController()
  const connection = await connectServer({
    way: {
      kind: 'program',
      program: startWordy(() => {
        collectGarbage()
        used.push(process.memoryUsage().heapUsed)
      }),
    },
    roots: [],
    // Time passes so fast that it does not write too much.
    monotonic: () => (now += 20_000),
    onToolsChanged() {},
    onElicitation: async () => ({ action: 'cancel' }),
    note() {},
    signal,
  })
  const tools = await connection.listTools(signal)
  expect(tools.map(({ description }) => description.length)).toEqual(Array(6).fill(4_001))
  expect((used.at(-1)! - used[1]!) / 1_000_000).toBeLessThan(20)
})
