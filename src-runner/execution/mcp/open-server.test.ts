import { copyFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryVault } from '../../lib/vault.ts'
import { systemPrograms } from '../../platform/programs/user-toolchain.ts'
import { findSandboxHere } from '../../testing/sandbox-here.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { openServer, type OpenServerDeps } from './open-server.ts'
import { createServerFolders } from './server-folders.ts'

const { sandbox, isMissing } = await findSandboxHere('bubblewrap')
const PROGRAM = join(import.meta.dirname, '../../testing/mcp-server/stdio-server.mjs')

describe.skipIf(isMissing || !sandbox.network.works)('the program of an MCP server', () => {
  let site: Server
  let port: number
  let requests = 0
  beforeAll(async () => {
    site = createServer((_, response) => {
      requests++
      response.end('the page')
    }).listen(0)
    await new Promise((resolve) => site.once('listening', resolve))
    port = (site.address() as AddressInfo).port
  })
  afterAll(() => void site.close())

  /** Only this machine can be reached here, so `mayReach` says which of its addresses stand for the internet. */
  async function open(hosts: string[], mayReach?: (address: string) => boolean) {
    const folder = (await scratchFolder('mcp')).path
    const program = join(folder, 'server.mjs')
    copyFileSync(PROGRAM, program)
    const deps: OpenServerDeps = {
      vault: createMemoryVault(),
      sandbox: async () => sandbox,
      programs: async () => systemPrograms(),
      folders: createServerFolders(folder),
      internet: () => ({}),
      monotonic: () => performance.now(),
      credentials: { use: () => Promise.reject(new Error('there are none')) },
      ...(mayReach === undefined ? {} : { mayReach }),
    }
    const { signal } = new AbortController()
    const transport = {
      kind: 'stdio' as const,
      command: 'node',
      args: [program],
      envNames: [],
      folders: [folder],
      hosts,
      allowsUnsandboxed: false,
    }
    const listeners = {
      signal,
      onToolsChanged() {},
      note() {},
      onSecrets() {},
      onSetAside() {},
      onElicitation: async () => ({ action: 'decline' as const }),
    }
    const connection = await openServer(deps, { id: 'server', transport }, listeners)
    return {
      close: connection.close,
      ask: async (tool: string, args: object) => JSON.stringify(await connection.call(tool, { ...args }, { signal })),
    }
  }

  it('reaches the hosts that the person gave, through the proxy of its sandbox, and no other way', async () => {
    const { ask, close } = await open(['LocalHost', '127.0.0.2'], (address) => address !== '127.0.0.2')
    expect(await ask('fetch', { url: `http://localhost:${port}/` })).toContain('200 the page')
    const before = requests
    // Not given, though it is the same server.
    expect(await ask('fetch', { url: `http://127.0.0.1:${port}/` })).toMatch(/403 .*not one of the hosts that the person opened/)
    expect(await ask('fetch', { url: `http://localhost.localdomain:${port}/` })).toContain('403')
    // Given, and private.
    expect(await ask('fetch', { url: `http://127.0.0.2:${port}/` })).toMatch(/403 .*not on the internet/)
    expect(await ask('leave', { port })).toContain('no way out')
    expect(requests).toBe(before)
    await close()
  })

  it.each([
    ['one of them', ['localhost', '127.0.0.1']],
    ['all of them', ['*']],
  ])('reaches no private address, though it was given %s', async (_, hosts) => {
    const { ask, close } = await open(hosts)
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect(await ask('fetch', { url: `http://${host}:${port}/` })).toContain('403')
    }
    await close()
  })
})
