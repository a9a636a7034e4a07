import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOutbound, type Outbound } from '../../platform/net/outbound.ts'
import { findFreePort } from '../../testing/free-port.ts'
import { createHandClock, type HandClock } from '../../testing/hand-clock.ts'
import { type ModelServer, type ModelServerOptions, startModelServer } from '../../testing/model-servers/model-server.ts'
import { createLocalServers, type LocalServers } from './local-servers.ts'

let outbound: Outbound
let server: ModelServer | null
let clock: HandClock
let local: LocalServers
beforeEach(() => {
  outbound = createOutbound()
  server = null
  clock = createHandClock()
  local = createLocalServers({ fetch: outbound.fetch, clock })
})
afterEach(async () => {
  outbound.close()
  await server?.close()
})

const start = async (options: ModelServerOptions) => (server = await startModelServer(options))

describe('whether a server runs its models itself', () => {
  it.each(['ollama', 'lm-studio', 'llama.cpp'] as const)('is true for %s, by its own API', async (looksLike) => {
    const { url } = await start({ looksLike })
    expect(await local.runsModel(`${url}/v1`, 'small')).toBe(true)
  })

  it('is false for any other server at a local address, which may be a proxy to a paid service', async () => {
    const { url } = await start({ looksLike: 'gateway' })
    expect(await local.runsModel(`${url}/v1`, 'small')).toBe(false)
  })

  it('is false for a proxy that imitates Ollama but has no file with the weights', async () => {
    const { url } = await start({ looksLike: 'proxy that imitates ollama' })
    expect(await local.runsModel(url, 'small')).toBe(false)
  })

  it.each([
    ['any version', { '/api/version': { version: '0.6.5' } }],
    ['an empty list', { '/api/v0/models': { object: 'list', data: [] } }],
    [
      'a list with models of other servers as well',
      { '/v1/models': { object: 'list', data: [{ owned_by: 'llamacpp' }, { owned_by: 'openai' }] } },
    ],
    [
      "a model of Ollama's cloud",
      { '/api/version': { version: '0.30.0' }, '/api/show': { modelfile: 'FROM gpt-oss:120b', remote_host: 'https://ollama.com:443' } },
    ],
  ] as [string, Record<string, unknown>][])('is false for %s', async (_what, responses) => {
    const other = createServer((request, response) => {
      const known = responses[request.url!]
      response.writeHead(known === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(known ?? {}))
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    try {
      expect(await local.runsModel(`http://127.0.0.1:${(other.address() as AddressInfo).port}/v1`, 'small')).toBe(false)
    } finally {
      other.close()
      other.closeAllConnections()
    }
  })

  it('is false without a request for an address elsewhere', async () => {
    for (const url of ['https://127.0.0.1.example.org/v1', 'https://localhost.example.org/v1', 'http://192.168.1.9:11434/v1'])
      expect(await local.runsModel(url, 'small')).toBe(false)
  })

  it('is checked once in five minutes, and again if no server responded', async () => {
    const port = await findFreePort()
    const url = `http://127.0.0.1:${port}/v1`
    expect(await local.runsModel(url, 'small')).toBe(false)
    await start({ port, looksLike: 'llama.cpp' })
    expect(await local.runsModel(url, 'small')).toBe(true)
    await local.runsModel(url, 'small')
    expect(server!.received).toHaveLength(1)
    clock.advance(300_000)
    await local.runsModel(url, 'small')
    expect(server!.received).toHaveLength(2)
  })
})
