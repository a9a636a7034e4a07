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
    expect(await local.runsModels(`${url}/v1`)).toBe(true)
  })

  it('is false for any other server at a local address, which may be a proxy to a paid service', async () => {
    const { url } = await start({ looksLike: 'gateway' })
    expect(await local.runsModels(`${url}/v1`)).toBe(false)
  })

  it('is false without a request for an address elsewhere', async () => {
    for (const url of ['https://127.0.0.1.example.org/v1', 'https://localhost.example.org/v1', 'http://192.168.1.9:11434/v1'])
      expect(await local.runsModels(url)).toBe(false)
  })

  it('is checked once in five minutes, and again if no server responded', async () => {
    const port = await findFreePort()
    const url = `http://127.0.0.1:${port}/v1`
    expect(await local.runsModels(url)).toBe(false)
    await start({ port, looksLike: 'llama.cpp' })
    expect(await local.runsModels(url)).toBe(true)
    await local.runsModels(url)
    expect(server!.received).toHaveLength(1)
    clock.advance(300_000)
    await local.runsModels(url)
    expect(server!.received).toHaveLength(2)
  })
})
