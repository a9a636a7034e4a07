import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createOutbound } from '../../platform/net/outbound.ts'
import { FoundServer } from '../../contract/providers.ts'
import { systemClock } from '../../lib/clock.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { type ModelServerOptions, startModelServer } from '../../testing/model-servers/model-server.ts'
import { findServers } from './local-servers.ts'

const open: { close(): unknown }[] = []
const outbound = createOutbound()

afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

async function pretend(looksLike: ModelServerOptions['looksLike'], models: string[]) {
  const server = await startModelServer({ looksLike, models })
  open.push(server)
  return server
}

/** Some other program on the port. */
async function stranger(answer: RequestListener): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers))
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({ close: () => server.close() && server.closeAllConnections() })
  return { port: (server.address() as AddressInfo).port, seen }
}

async function closedPort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const deps = { fetch: outbound.fetch, clock: systemClock }

it('recognizes Ollama, LM Studio and llama.cpp by their responses', async () => {
  const ollama = await pretend('ollama', ['qwen3:8b', 'llama3.2'])
  const lmStudio = await pretend('lm-studio', ['gemma-3'])
  const llamaCpp = await pretend('llama.cpp', ['model.gguf'])
  const found = await findServers({ ...deps, ports: { ollama: ollama.port, lmStudio: lmStudio.port, llamaCpp: llamaCpp.port } })
  expect(found).toEqual([
    { kind: 'ollama', name: 'Ollama', baseUrl: ollama.url, models: ['qwen3:8b', 'llama3.2'] },
    { kind: 'openai-compatible', name: 'LM Studio', baseUrl: `${lmStudio.url}/v1`, models: ['gemma-3'] },
    { kind: 'openai-compatible', name: 'llama.cpp', baseUrl: `${llamaCpp.url}/v1`, models: ['model.gguf'] },
  ])
  for (const server of found) FoundServer.parse(server)
  for (const request of [ollama, lmStudio, llamaCpp].flatMap((server) => server.received)) {
    expect(Object.keys(request.headers)).not.toContain('authorization')
  }
})

it('finds nothing where nothing listens', async () => {
  const port = await closedPort()
  expect(await findServers({ ...deps, ports: { ollama: port, lmStudio: port, llamaCpp: port } })).toEqual([])
})

it('does not offer a proxy that imitates Ollama, because its note says that data stays here', async () => {
  const { port } = await pretend('proxy that imitates ollama', ['gpt-5'])
  expect(await findServers({ ...deps, ports: { ollama: port, lmStudio: await closedPort(), llamaCpp: await closedPort() } })).toEqual([])
})

it('asks about a hundred models at once at most, and about two thousand in all', async () => {
  const digest = 'a'.repeat(64)
  const answers: Record<string, unknown> = {
    '/api/version': { version: '0.12.6' },
    '/api/tags': { models: Array.from({ length: 2_500 }, (_, n) => ({ name: `m${n}` })) },
    '/api/show': { modelfile: `FROM /models/sha256-${digest}` },
  }
  let open = 0
  let mostOpen = 0
  const fetch: typeof outbound.fetch = async (address) => {
    const { pathname, port } = new URL(address)
    if (port !== '1') throw new Error('nothing listens')
    mostOpen = Math.max(mostOpen, ++open)
    await new Promise((resolve) => setImmediate(resolve))
    open--
    return Response.json(answers[pathname] ?? {})
  }
  const found = await findServers({ fetch, clock: systemClock, ports: { ollama: 1, lmStudio: 2, llamaCpp: 3 } })
  expect(found[0]!.models).toHaveLength(2_000)
  expect(mostOpen).toBe(100)
})

it('does not confuse the servers', async () => {
  const { port } = await pretend('ollama', ['a'])
  expect(await findServers({ ...deps, ports: { ollama: await closedPort(), lmStudio: port, llamaCpp: port } })).toEqual([])
})

it.each([
  ['a web page for every path', (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hi</h1>')],
  ['JSON of its own', (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')],
  ['a list of its own', (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('[1,null,"x"]')],
  [
    'the list of another server',
    (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"object":"list","data":[{"id":"x","owned_by":"me"}],"models":[]}'),
  ],
  ['half JSON', (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[')],
  ['an error', (_request, response) => void response.writeHead(401, { 'content-type': 'application/json' }).end('{}')],
  ['a redirect', (_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()],
  ['nothing, and hangs up', (request) => void request.socket.destroy()],
] as [string, RequestListener][])('ignores another program that responds with %s', async (_what, answer) => {
  const { port, seen } = await stranger(answer)
  expect(await findServers({ ...deps, ports: { ollama: port, lmStudio: port, llamaCpp: port } })).toEqual([])
  expect(seen.length).toBeGreaterThanOrEqual(3)
})

it('does not follow a redirect to a server elsewhere', async () => {
  const real = await pretend('ollama', ['a'])
  const { port } = await stranger((request, response) => void response.writeHead(302, { location: real.url + request.url! }).end())
  expect(await findServers({ ...deps, ports: { ollama: port, lmStudio: port, llamaCpp: port } })).toEqual([])
  expect(real.received).toHaveLength(0)
})

it('does not wait for a program that never responds', async () => {
  const asked = Promise.withResolvers<void>()
  let requests = 0
  const { port } = await stranger(() => {
    if (++requests === 3) asked.resolve()
  })
  const clock = createHandClock()
  const search = findServers({ ...deps, clock, ports: { ollama: port, lmStudio: port, llamaCpp: port } })
  await asked.promise
  clock.advance(1000)
  expect(await search).toEqual([])
  expect(clock.sleepers()).toBe(0)
})
