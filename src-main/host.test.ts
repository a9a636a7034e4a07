import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { hostname, networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHost, type Host } from './host.ts'
import { createForkedRunner } from './runner/forked-runner.ts'
import { readEnvironment } from './settings/environment.ts'

const ENTRY = fileURLToPath(new URL('../src-runner/main.ts', import.meta.url))
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url))
const OWNER = { name: 'Ann', password: 'a password that is long enough' }
/** Every address of this machine, and one of loopback at which nobody listens unless the server listens everywhere. */
const ADDRESSES = [
  ...new Set([
    '127.0.0.2',
    ...Object.values(networkInterfaces()).flatMap((list) => (list ?? []).filter((one) => one.family === 'IPv4').map((one) => one.address)),
  ]),
]

// 127.0.0.2 is an address of every Linux machine.
describe.runIf(process.platform === 'linux')('sharing on the network', { timeout: 60_000 }, () => {
  let folder: string
  let host: Host
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'deckhand-host-'))
    host = await start()
  })
  afterEach(async () => {
    await host.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })

  async function start(env: Record<string, string> = {}): Promise<Host> {
    const given = { DECKHAND_DATA_DIR: folder, DECKHAND_VAULT: 'file', RUNNER_PORT: '0', DASHBOARD_PORT: '0', ...env }
    const made = createHost({
      appVersion: '0.0.0',
      environment: readEnvironment({ env: given, platform: process.platform, home: folder, cwd: folder }),
      preferredLanguages: () => ['en'],
      assets: null,
      spawn: createForkedRunner({
        entry: ENTRY,
        codeCache: COMPILE_CACHE,
        env: { PATH: process.env['PATH'], HOME: folder, SHELL: '/bin/sh' },
      }),
    })
    await made.startServer()
    expect(await made.supervisor.start()).toMatchObject({ state: 'ready' })
    return made
  }

  const ports = () => {
    const dashboard = host.dashboardState()
    if (dashboard.state !== 'ready') throw new Error(dashboard.state)
    return { dashboard: Number(new URL(dashboard.dashboardUrl).port), runner: host.supervisor.endpoint()!.port }
  }

  /** The addresses at which somebody listens, for each server. */
  async function scan(): Promise<Record<'dashboard' | 'runner', string[]>> {
    const open = async (port: number) => {
      const found = await Promise.all(
        ADDRESSES.map(
          (address) =>
            new Promise<string | null>((resolve) => {
              const socket = connect({ host: address, port }, () => resolve((socket.destroy(), address)))
              socket.on('error', () => resolve(null))
            }),
        ),
      )
      return found.filter((address) => address !== null)
    }
    return { dashboard: await open(ports().dashboard), runner: await open(ports().runner) }
  }

  function ask(port: number, { secret, agent, host: name = '127.0.0.1' }: { secret?: string; agent?: Agent; host?: string } = {}) {
    return new Promise<{ status: number; isReused: boolean }>((resolve, reject) => {
      const headers = { host: name, ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }) }
      const asked = request({ host: '127.0.0.1', port, path: '/api/jobs', headers, agent: agent ?? false }, (answer) =>
        answer.resume().on('end', () => resolve({ status: answer.statusCode!, isReused: asked.reusedSocket })),
      )
      asked.on('error', reject).end()
    })
  }

  it('needs an owner account, asks everybody to sign in, and goes back', async () => {
    const loopback = { dashboard: ['127.0.0.1'], runner: ['127.0.0.1'] }
    expect(await host.share(true)).toBe('needs_owner')
    expect([await scan(), host.authMode(), host.sharing().isOn]).toEqual([loopback, 'local-trust', false])
    const before = ports()
    const pid = host.supervisor.endpoint()

    await (await host.signIn.accounts()).createOwner(OWNER)
    expect(await host.share(true)).toBe('done')
    expect(ports()).toEqual(before)
    expect(await scan()).toEqual({ dashboard: ADDRESSES, runner: ADDRESSES })
    const local = `${hostname().toLowerCase().split('.')[0]}.local`
    expect(host.sharing()).toMatchObject({ isOn: true, fixedBy: null, problem: null })
    expect(host.sharing().urls.at(-1)).toBe(`http://${local}:${before.dashboard}`)
    for (const port of [before.dashboard, before.runner]) {
      expect(await ask(port)).toMatchObject({ status: 401 })
      for (const name of [local, ...ADDRESSES.filter((address) => !address.startsWith('127.'))])
        expect(await ask(port, { host: name, secret: await host.workerSecret() })).toMatchObject({ status: 200 })
      expect(await ask(port, { host: 'evil.local', secret: await host.workerSecret() })).toMatchObject({ status: 403 })
    }

    expect(await host.share(false)).toBe('done')
    expect([ports(), await scan(), host.authMode()]).toEqual([before, loopback, 'local-trust'])
    for (const port of Object.values(before)) expect(await ask(port)).toMatchObject({ status: 200 })
    expect(host.supervisor.endpoint()!.url).toBe(pid!.url)
  })

  it('is kept for the next start, and a lost owner closes it without trusting anybody', async () => {
    await (await host.signIn.accounts()).createOwner(OWNER)
    await host.share(true)
    await host.stop()
    host = await start()
    expect([(await scan()).runner, host.sharing().isOn]).toEqual([ADDRESSES, true])
    await host.stop()
    for (const name of ['auth.db', 'auth.db-wal', 'auth.db-shm']) rmSync(join(folder, name), { force: true })
    host = await start()
    expect(await scan()).toEqual({ dashboard: ['127.0.0.1'], runner: ['127.0.0.1'] })
    expect([host.sharing().isOn, host.authMode()]).toEqual([false, 'local-auth'])
    expect(await ask(ports().runner)).toMatchObject({ status: 401 })
  })

  it('is decided by the environment if that says where to listen', async () => {
    await host.stop()
    host = await start({ AUTH_MODE: 'local-auth', RUNNER_HOST: '127.0.0.1' })
    await (await host.signIn.accounts()).createOwner(OWNER)
    expect([await host.share(true), host.sharing().fixedBy]).toEqual(['fixed', 'AUTH_MODE'])
    expect((await scan()).dashboard).toEqual(['127.0.0.1'])
  })

  it('says when another program has the port of the runner on the network', async () => {
    await (await host.signIn.accounts()).createOwner(OWNER)
    const squatter = createServer().listen(ports().runner, '127.0.0.2')
    await once(squatter, 'listening')
    expect(await host.share(true)).toBe('done')
    expect(host.sharing().problem).toContain('EADDRINUSE')
    expect(await ask(ports().runner)).toMatchObject({ status: 401 })
    squatter.close()
  })

  it('replaces the secret, and the old one is refused on the next request of an open connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await (await host.signIn.accounts()).createOwner(OWNER)
    await host.share(true)
    const old = await host.workerSecret()
    for (const port of Object.values(ports())) expect(await ask(port, { secret: old })).toMatchObject({ status: 200 })
    expect(await ask(ports().runner, { secret: old, agent })).toEqual({ status: 200, isReused: false })
    const replaced = await host.rotateSecret()
    expect(replaced).not.toBe(old)
    expect(await ask(ports().runner, { secret: old, agent })).toEqual({ status: 401, isReused: true })
    for (const port of Object.values(ports())) {
      expect(await ask(port, { secret: old })).toMatchObject({ status: 401 })
      expect(await ask(port, { secret: replaced })).toMatchObject({ status: 200 })
    }
    agent.destroy()
    await host.stop()
    host = await start()
    expect(await host.workerSecret()).toBe(replaced)
  })
})
