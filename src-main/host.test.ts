import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { X509Certificate } from 'node:crypto'
import { Agent, request, type IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { connect, createServer, type AddressInfo } from 'node:net'
import { hostname, networkInterfaces, tmpdir, type NetworkInterfaceInfo } from 'node:os'
import { join } from 'node:path'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Host, HostOptions } from './host.ts'
import { readLinkFile } from './settings/link-file.ts'
import { createTestHost, startHost } from './testing/start-host.ts'
import { readCreatedSecret } from './vault/worker-secret.ts'

const ANY_PORTS = { RUNNER_PORT: '0', DASHBOARD_PORT: '0' }
const OWNER = { name: 'Ann', password: 'a password that is long enough' }
/** Every address of this machine, and one of loopback at which nobody listens unless the server listens everywhere. */
const ADDRESSES = [
  ...new Set([
    '127.0.0.2',
    ...Object.values(networkInterfaces()).flatMap((list) => (list ?? []).filter((one) => one.family === 'IPv4').map((one) => one.address)),
  ]),
]

/** Sharing never listens there. Addresses that need a zone are left out. */
const ADDRESSES_6 = [
  ...new Set([
    '::1',
    ...Object.values(networkInterfaces())
      .flatMap((list) => (list ?? []).filter((one) => one.family === 'IPv6').map((one) => one.address))
      .filter((address) => !address.startsWith('fe80')),
  ]),
]

// 127.0.0.2 is an address of every Linux machine.
describe.runIf(process.platform === 'linux')('sharing on the network', () => {
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

  const start = (env: Record<string, string> = {}, network?: HostOptions['network']) =>
    startHost(folder, { ...ANY_PORTS, ...env }, { network })

  const ports = () => {
    const dashboard = host.dashboardState()
    if (dashboard.state !== 'ready') throw new Error(dashboard.state)
    return { dashboard: Number(new URL(dashboard.dashboardUrl).port), runner: host.supervisor.endpoint()!.port }
  }

  /** The addresses at which somebody listens, for each server. */
  async function scan(): Promise<Record<'dashboard' | 'runner', string[]>> {
    const open = async (port: number) => {
      const found = await Promise.all(
        [...ADDRESSES, ...ADDRESSES_6].map(
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

  it('follows the network without a restart: new addresses are let in and shown, old ones refused', async () => {
    await host.stop()
    let address = '192.168.77.5'
    const ticks: (() => void)[] = []
    const lan = () => ({ wlan0: [{ address, family: 'IPv4', internal: false } as NetworkInterfaceInfo] })
    host = await start({}, { interfaces: lan, every: (_ms, act) => void ticks.push(act) })
    await (await host.signIn.accounts()).createOwner(OWNER)
    await host.share(true)
    const secret = await host.workerSecret()
    const before = { ports: ports(), runner: host.supervisor.endpoint() }
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const askDashboard = (name: string) => ask(before.ports.dashboard, { host: name, secret, agent })
    const stream = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${secret}` }
      request({ host: '127.0.0.1', port: before.ports.dashboard, path: '/api/events', headers }, resolve).on('error', reject).end()
    })
    stream.resume()
    const told: string[][] = []
    host.onSharing(() => told.push(host.sharing().urls))
    const tick = () => ticks.forEach((act) => act())
    const urlsOf = (name: string) => [
      `http://${name}:${before.ports.dashboard}`,
      `http://${hostname().toLowerCase().split('.')[0]}.local:${before.ports.dashboard}`,
    ]
    try {
      expect(await askDashboard('127.0.0.1')).toEqual({ status: 200, isReused: false })
      expect(await askDashboard('192.168.77.5')).toEqual({ status: 200, isReused: true })
      tick()
      expect(told).toEqual([])

      const setOrigins = vi.spyOn(host.supervisor, 'setOrigins')
      address = '10.20.30.40'
      tick()
      tick()
      // For the links that it sends to chats.
      expect(setOrigins.mock.calls).toEqual([[expect.arrayContaining(urlsOf('10.20.30.40')) as string[]]])
      expect(told).toEqual([urlsOf('10.20.30.40')])
      expect(await askDashboard('10.20.30.40')).toEqual({ status: 200, isReused: true })
      expect(await askDashboard('127.0.0.1')).toEqual({ status: 200, isReused: true })
      expect((await askDashboard('192.168.77.5')).status).toBe(403)
      // The runner sees the real addresses only: from here it gets none, because it would let them in for ever.
      for (const name of ['192.168.77.5', '10.20.30.40']) expect((await ask(before.ports.runner, { host: name, secret })).status).toBe(403)
      expect([ports(), host.supervisor.endpoint(), stream.readableEnded]).toEqual([before.ports, before.runner, false])
    } finally {
      stream.destroy()
      agent.destroy()
    }
  })

  it('is decided by the environment if that says where to listen', async () => {
    await host.stop()
    host = await start({ AUTH_MODE: 'local-auth', RUNNER_HOST: '127.0.0.1' })
    await (await host.signIn.accounts()).createOwner(OWNER)
    expect([await host.share(true), host.sharing().fixedBy]).toEqual(['fixed', 'AUTH_MODE'])
    expect((await scan()).dashboard).toEqual(['127.0.0.1'])
  })

  it('listens in bearer-token where the environment says, over IPv6 too, and asks everybody for the secret', async () => {
    await host.stop()
    host = await start({ AUTH_MODE: 'bearer-token', RUNNER_HOST: '::' })
    const { dashboard, runner } = await scan()
    expect(dashboard).toEqual(['127.0.0.1'])
    expect(runner).toEqual(expect.arrayContaining(ADDRESSES))
    // A system without IPv6 has no address of it.
    const reachable = [...ADDRESSES, ...(runner.includes('::1') ? ADDRESSES_6 : [])]
    expect(runner).toEqual(reachable)
    for (const address of reachable) {
      const name = address.includes(':') ? `[${address}]` : address
      const ask = async (headers: Record<string, string> = {}) =>
        (await fetch(`http://${name}:${ports().runner}/api/jobs`, { headers })).status
      const isNamed = address !== '127.0.0.2'
      expect([address, await ask()]).toEqual([address, isNamed ? 401 : 403])
      if (isNamed) expect(await ask({ authorization: `Bearer ${await host.workerSecret()}` })).toBe(200)
    }
  })

  it('says when another program has the port of the runner on the network', async () => {
    await (await host.signIn.accounts()).createOwner(OWNER)
    const squatter = createServer().listen(ports().runner, '127.0.0.2')
    await once(squatter, 'listening')
    expect(await host.share(true)).toBe('done')
    expect(JSON.stringify(host.sharing().problem)).toContain('EADDRINUSE')
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

  const LAN = ADDRESSES.find((address) => !address.startsWith('127.'))

  /** What a client of the network gets that trusts this certificate alone. Rejects if the server has another one. */
  function askTls(port: number, path: string, headers: Record<string, string>, more: { agent?: TlsAgent; body?: string } = {}) {
    const ca = readFileSync(join(folder, 'certificate.pem'))
    const { agent = false, body } = more
    return new Promise<{ status: number; headers: IncomingMessage['headers']; isReused: boolean; text: string }>((resolve, reject) => {
      const asked = tlsRequest(
        {
          host: LAN,
          port,
          path,
          headers,
          ca,
          agent,
          method: body === undefined ? 'GET' : 'POST',
          // Node would compare the name in the Host header.
          ...(headers['host']!.startsWith(LAN!)
            ? {}
            : { checkServerIdentity: (_name: string, certificate: PeerCertificate) => checkServerIdentity(LAN!, certificate) }),
        },
        (answer) => {
          let text = ''
          answer.on('data', (chunk) => (text += String(chunk)))
          answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, isReused: asked.reusedSocket, text }))
        },
      )
      asked.on('error', reject).end(body)
    })
  }

  function askPlain(port: number, path: string, headers: Record<string, string>, method = 'GET') {
    return new Promise<{ status: number; location: string | undefined; text: string }>((resolve, reject) => {
      const asked = request({ host: LAN, port, path, headers, method, agent: false }, (answer) => {
        let text = ''
        answer.on('data', (chunk) => (text += String(chunk)))
        answer.on('end', () => resolve({ status: answer.statusCode!, location: answer.headers.location, text }))
      })
      asked.on('error', reject).end()
    })
  }

  describe.runIf(LAN !== undefined)('with encryption', () => {
    const authorized = async () => ({ authorization: `Bearer ${await host.workerSecret()}` })

    it('serves the network over TLS only, loopback as before, and both obey when it is switched', async () => {
      await (await host.signIn.accounts()).createOwner(OWNER)
      await host.share(true)
      const plain = new Agent({ keepAlive: true, maxSockets: 1 })
      const old = await host.workerSecret()
      expect(await ask(ports().runner, { secret: old, agent: plain })).toMatchObject({ status: 200, isReused: false })
      const accounts = await host.signIn.accounts()
      const signedInBefore = await accounts.signIn(OWNER.name, OWNER.password, { address: LAN!, userAgent: 'test', cookie: undefined })
      await host.encryptSharing(true)
      // A neighbour may have read it.
      expect(await host.signIn.resolveSession((signedInBefore as { token: string }).token)).toBeNull()
      const { runner, dashboard } = ports()
      const shown = host.sharing()
      expect([shown.isOn, shown.isEncrypted, shown.problem]).toEqual([true, true, null])
      expect(shown.urls).toContain(`https://${LAN}:${dashboard}`)
      expect(shown.urls.every((url) => url.startsWith('https://'))).toBe(true)
      expect(shown.certificate!.fingerprint).toBe(new X509Certificate(readFileSync(join(folder, 'certificate.pem'))).fingerprint256)
      expect(JSON.stringify(shown)).not.toContain('key')

      const agent = new TlsAgent({ keepAlive: true, maxSockets: 1 })
      for (const port of [runner, dashboard]) {
        const at = { host: `${LAN}:${port}` }
        expect(await askTls(port, '/api/jobs', at)).toMatchObject({ status: 401 })
        expect(await askTls(port, '/api/jobs', { ...at, ...(await authorized()) })).toMatchObject({ status: 200 })
        // As a neighbour tries it.
        for (const hostile of [{ host: 'evil.local' }, { ...at, origin: `http://${LAN}:${port}` }, { ...at, origin: 'https://evil.local' }])
          expect([hostile, (await askTls(port, '/api/jobs', { ...hostile, ...(await authorized()) })).status]).toEqual([hostile, 403])
        for (const [path, method] of [['/api/jobs'], ['/webhooks/a/b', 'POST'], ['/api/health']] as const)
          expect(await askPlain(port, path, { ...at, ...(await authorized()) }, method)).toMatchObject({
            status: 403,
            text: '{"error":"https_required"}',
          })
        expect(await ask(port, { secret: old })).toMatchObject({ status: 200 })
      }
      expect(await ask(runner, { secret: old, agent: plain })).toMatchObject({ status: 200, isReused: true })

      const page = { host: `${LAN}:${dashboard}`, accept: 'text/html' }
      expect(await askPlain(dashboard, '/chat?a=1', page)).toMatchObject({ status: 307, location: `https://${LAN}:${dashboard}/chat?a=1` })
      for (const bad of ['evil.local', `${LAN}@evil.local`, 'evil.local:80/'])
        expect(await askPlain(dashboard, '/', { ...page, host: bad })).toMatchObject({ status: 403, location: undefined })

      const headers = { host: `${LAN}:${dashboard}`, origin: `https://${LAN}:${dashboard}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ username: OWNER.name, password: OWNER.password })
      const welcome = await askTls(dashboard, '/api/auth/sign-in/username', headers, { body, agent })
      expect(welcome.status).toBe(200)
      const cookie = welcome.headers['set-cookie']![0]!
      expect(cookie).toMatch(/^__Host-deckhand[^;]+; .*Path=\/; HttpOnly; SameSite=Strict; Secure$/)
      const [named] = cookie.split(';') as [string]
      const { pageKey } = JSON.parse(welcome.text) as { pageKey: string }
      const signedIn = { host: headers.host, cookie: named, 'sec-fetch-site': 'same-origin', 'x-deckhand-page': pageKey }
      expect(await askTls(dashboard, '/api/jobs', signedIn, { agent })).toMatchObject({ status: 200 })
      expect(await askTls(dashboard, '/api/jobs', signedIn, { agent })).toMatchObject({ status: 200, isReused: true })
      // A cookie that was set or read without encryption is worth nothing with it.
      expect(await askTls(dashboard, '/api/jobs', { ...signedIn, cookie: named.slice('__Host-'.length) })).toMatchObject({ status: 401 })

      await host.encryptSharing(false)
      await expect(askTls(dashboard, '/api/jobs', signedIn, { agent })).rejects.toThrow()
      for (const port of [runner, dashboard])
        expect(await askPlain(port, '/api/jobs', { host: `${LAN}:${port}`, ...(await authorized()) })).toMatchObject({ status: 200 })
      expect(await askPlain(dashboard, '/api/jobs', signedIn)).toMatchObject({ status: 401 })
      // The session has ended: it is of no use under the name that counts without encryption either.
      expect(await askPlain(dashboard, '/api/jobs', { ...signedIn, cookie: named.slice('__Host-'.length) })).toMatchObject({ status: 401 })
      expect(host.sharing()).toMatchObject({ isEncrypted: false, certificate: null })
      for (const used of [plain, agent]) used.destroy()
    })

    it('comes back after a start, makes a new certificate on request or for a damaged file, and keeps no connection waiting', async () => {
      await (await host.signIn.accounts()).createOwner(OWNER)
      await host.encryptSharing(true)
      await host.share(true)
      const first = host.sharing().certificate!
      await host.stop()
      host = await start()
      expect(host.sharing().certificate).toEqual(first)
      const silent = connect({ host: LAN!, port: ports().dashboard })
      await once(silent, 'connect')
      const garbage = connect({ host: LAN!, port: ports().runner }, () => garbage.write(Buffer.from([22, 3, 1, 0, 5, 9, 9, 9, 9, 9])))
      await once(garbage.resume(), 'close')
      await host.replaceCertificate()
      expect(host.sharing().certificate).toMatchObject({ replacesDamaged: false })
      expect(host.sharing().certificate!.fingerprint).not.toBe(first.fingerprint)
      await host.stop()
      writeFileSync(join(folder, 'certificate.pem'), 'damaged')
      host = await start()
      expect(host.sharing()).toMatchObject({ isOn: true, certificate: { replacesDamaged: true } })
      for (const port of Object.values(ports()))
        expect(await askTls(port, '/api/jobs', { host: `${LAN}:${port}`, ...(await authorized()) })).toMatchObject({ status: 200 })
      silent.destroy()
    })
  })
})

const newFolder = () => mkdtempSync(join(tmpdir(), 'deckhand-host-'))

/** A host that the test stops at its end, with its folder. It starts nothing. */
function openHost(folder: string, env: Record<string, string> = {}, options: Parameters<typeof createTestHost>[2] = {}): Host {
  const host = createTestHost(folder, { ...ANY_PORTS, ...env }, options)
  onTestFinished(async () => {
    await host.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })
  return host
}

it('is still found by the command line after another start on its data was refused', async () => {
  const folder = newFolder()
  const host = openHost(folder)
  await host.startServer()
  await host.supervisor.start()
  const link = readLinkFile(folder)
  await expect(startHost(folder, ANY_PORTS)).rejects.toThrow('the runner is failed')
  expect(readLinkFile(folder)).toEqual(link)
  expect(host.browserLink()).toContain(link?.url)
})

it('starts the runner with the secret that replaced another one while the dashboard was starting', async () => {
  const host = openHost(newFolder(), { AUTH_MODE: 'bearer-token' })
  await host.workerSecret()
  // The new secret is there before the dashboard listens.
  vi.spyOn(host.vault, 'set').mockResolvedValue()
  const starting = [host.startServer(), host.supervisor.start()]
  const replaced = await host.rotateSecret()
  await Promise.all(starting)
  const answer = await fetch(`${host.supervisor.endpoint()!.url}/api/jobs`, { headers: { authorization: `Bearer ${replaced}` } })
  expect(answer.status).toBe(200)
})

it('shows no secret while the vault cannot be read, and gives the runner the stored one as soon as it can', async () => {
  const folder = newFolder()
  const unreadable = join(folder, 'vault-file.json')
  mkdirSync(unreadable)
  const host = openHost(folder)
  await host.startServer()
  expect(await host.supervisor.start()).toMatchObject({ state: 'ready' })
  await expect(host.workerSecret()).rejects.toMatchObject({ detail: { code: 'vault_unreadable' } })
  rmdirSync(unreadable)
  await host.vault.recheck()
  await expect.poll(async () => host.supervisor.endpoint()?.secret === (await readCreatedSecret(host.vault))).toBe(true)
  expect(await host.workerSecret()).toBe(await readCreatedSecret(host.vault))
})

it('has services send people back to another port of the dashboard as soon as it is used', async () => {
  const squatter = createServer().listen(0, '127.0.0.1')
  await once(squatter, 'listening')
  const { port } = squatter.address() as AddressInfo
  onTestFinished(() => void squatter.close())
  const host = openHost(newFolder(), { DASHBOARD_PORT: String(port) })
  expect(await host.startServer()).toMatchObject({ state: 'port_taken' })
  await host.supervisor.start()
  const { suggestedPort } = host.dashboardState() as { suggestedPort: number }
  await host.usePort('dashboard', suggestedPort)
  const answer = await fetch(`${host.supervisor.endpoint()!.url}/api/connectors`)
  const { connectors } = (await answer.json()) as { connectors: { redirectUri: string | null }[] }
  const bases = connectors.flatMap(({ redirectUri }) => (redirectUri === null ? [] : [new URL(redirectUri).origin]))
  expect(new Set(bases)).toEqual(new Set([`http://127.0.0.1:${suggestedPort}`]))
})

it('is found by the command line while another program has the port of the runner', async () => {
  const squatter = createServer().listen(0, '127.0.0.1')
  await once(squatter, 'listening')
  onTestFinished(() => void squatter.close())
  const folder = newFolder()
  const host = openHost(folder, { RUNNER_PORT: String((squatter.address() as AddressInfo).port) })
  await host.startServer()
  expect(await host.supervisor.start()).toMatchObject({ state: 'port_taken' })
  expect(host.browserLink()).toContain(readLinkFile(folder)?.url)
})

it('is found by the command line while its database is damaged', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'deckhand.db'), 'not a database '.repeat(500))
  const host = openHost(folder)
  await host.startServer()
  expect(await host.supervisor.start()).toMatchObject({ state: 'failed', code: 'database_damaged' })
  expect(host.browserLink()).toContain(readLinkFile(folder)?.url)
})

it('takes the accounts of a restore that comes to its end only at a second start', async () => {
  const folder = newFolder()
  const host = openHost(folder, {}, { fixtures: [{ refuse: 'config_invalid' }, {}] })
  const accounts = await host.signIn.accounts()
  await accounts.createOwner(OWNER)
  const signedIn = await accounts.signIn(OWNER.name, OWNER.password, { address: '127.0.0.1', userAgent: 'test', cookie: undefined })
  const { token } = signedIn as { token: string }
  // What a restore leaves, here of a backup without accounts.
  writeFileSync(join(folder, 'auth.db.restored'), '')
  await host.startServer()
  expect(await host.supervisor.start()).toMatchObject({ state: 'failed' })
  expect(await host.signIn.resolveSession(token)).not.toBeNull()
  expect(await host.supervisor.restart()).toMatchObject({ state: 'ready' })
  expect(await host.signIn.resolveSession(token)).toBeNull()
})

it('is shared as soon as the vault can be used, and says so far why it is not', async () => {
  const folder = newFolder()
  const vaultFile = join(folder, 'vault-file.json')
  const before = openHost(folder, {}, { fixtures: [{}] })
  await (await before.signIn.accounts()).createOwner(OWNER)
  expect(await before.share(true)).toBe('done')
  await before.stop()
  renameSync(vaultFile, `${vaultFile}.aside`)
  mkdirSync(vaultFile)
  const host = openHost(folder, {}, { fixtures: [{}] })
  await host.startServer()
  expect(host.sharing()).toMatchObject({ isOn: false, problem: { code: 'vault_unreadable' } })
  rmdirSync(vaultFile)
  renameSync(`${vaultFile}.aside`, vaultFile)
  await host.vault.recheck()
  await expect.poll(() => host.sharing()).toMatchObject({ isOn: true, problem: null })
})
