import { renameSync, symlinkSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TunnelProgram, type PublicAddress, type UpdatePublicAddress } from '../contract/public-address.ts'
import type { MessageCode } from '../contract/messages.ts'
import { ROUTES, type Route } from '../contract/routes.ts'
import { createMessage } from '../lib/messages.ts'
import { messageMatching } from '../testing/message-matching.ts'
import { createTestRunner, TEST_SECRET, type TestRunner, type TestRunnerOptions } from '../testing/create-test-runner.ts'
import { findFreePort } from '../testing/free-port.ts'
import { sendRaw, toBytes } from '../testing/raw-http.ts'
import { selfSigned } from '../testing/self-signed.ts'
import { shareOf } from '../testing/share-of.ts'
import { createTunnelStandIns, pathWith, type TunnelStandIns } from '../testing/tunnel-stand-ins.ts'

/** The real timings, shortened. The hourly check does not run by itself. */
const SOON = {
  checkEveryMs: 3_600_000,
  freshChecksAfterMs: [5, 100, 1_000],
  secondCheckAfterMs: 20,
  restartAfterMs: [10, 10],
  addressWithinMs: 20_000,
  stopGraceMs: 2_000,
}

let runner: TestRunner
let standIns: TunnelStandIns
const servers: { close(): unknown }[] = []

beforeEach(() => {
  standIns = createTunnelStandIns()
  vi.stubEnv('PATH', pathWith(standIns.folder))
})
afterEach(async () => {
  await runner.stop()
  standIns.close()
  for (const server of servers.splice(0)) server.close()
  vi.unstubAllEnvs()
})

async function open(options: TestRunnerOptions = {}): Promise<void> {
  runner = await createTestRunner({ fetch: standIns.fetch, publicAddressTimings: SOON, ...options })
}

const read = async (): Promise<PublicAddress> => (await runner.client.ok('getPublicAddress')).publicAddress
const update = async (body: UpdatePublicAddress) => (await runner.client.ok('updatePublicAddress', { body })).publicAddress
const checkNow = async () => (await runner.client.ok('checkPublicAddress')).publicAddress.check
const startTunnel = (program: TunnelProgram) => runner.client.ok('startTunnel', { body: { program } })
const stateOfCheck = async () => (await read()).check.state
const tunnelState = async () => (await read()).tunnel?.state

async function listening<S extends { listen: Server['listen']; address: Server['address'] }>(
  server: S & { close(): unknown },
): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function addTrigger(): Promise<{ url: string; path: string }> {
  const agent = await runner.addAgent()
  const { url } = await runner.client.ok('createTrigger', { body: { name: 'Orders', agentId: agent.id, taskTemplate: 'Pack {order}.' } })
  return { url, path: /\/webhooks\/.+$/.exec(url)![0] }
}

/** Posts like an outside service. Returns the status. */
async function post(url: string): Promise<number> {
  const answer = await standIns.fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"order":"tea"}' })
  await answer.text()
  return answer.status
}

const jobs = async () => (await runner.client.ok('listJobs', { query: {} })).jobs.map(({ channel }) => channel)

/** The contents of the database, to see whether anything has changed. The search index follows jobs by itself. */
function contents(): string {
  const db = new Database(join(runner.dataDir, 'deckhand.db'), { readonly: true })
  try {
    const tables = db
      .prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%search%'")
      .all()
    return JSON.stringify(tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]))
  } finally {
    db.close()
  }
}

describe('the webhook-only listener', () => {
  it("is off at first, and webhooks come in on the runner's port", async () => {
    await open()
    const address = await read()
    expect(address).toMatchObject({ url: null, source: 'none', localUrl: runner.url, ingressPort: null, tunnel: null })
    expect(address.check).toEqual({ state: 'unknown', checkedAt: null, problem: null })
    const { url } = await addTrigger()
    expect(url.startsWith(`${runner.url}/webhooks/`)).toBe(true)
    expect(await post(url)).toBe(202)
    expect(await runner.client.ask('checkPublicAddress')).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  it('opens and closes with the setting, and opens again after a restart', async () => {
    await open()
    const port = await findFreePort()
    expect(await update({ ingressPort: port })).toMatchObject({ ingressPort: port, localUrl: `http://127.0.0.1:${port}` })
    const { url } = await addTrigger()
    expect(url.startsWith(`http://127.0.0.1:${port}/webhooks/`)).toBe(true)
    expect(await post(url)).toBe(202)
    await runner.restart()
    expect(await post(url)).toBe(202)
    expect(await jobs()).toEqual(['webhook', 'webhook'])
    expect(await update({ ingressPort: null })).toMatchObject({ ingressPort: null, localUrl: runner.url })
    await expect(post(url)).rejects.toThrow('refused')
  })

  it('stays as it was if the chosen port is taken', async () => {
    await open()
    const mine = await findFreePort()
    await update({ ingressPort: mine })
    const taken = await listening(createServer())
    const problem = messageMatching(`Port ${taken} is `)
    const detail = { code: 'port_taken', params: { port: String(taken) } }
    expect(await runner.client.ask('updatePublicAddress', { body: { ingressPort: taken } })).toEqual({
      status: 400,
      body: { error: 'invalid_request', message: problem, detail, issues: [{ path: 'ingressPort', message: problem, detail }] },
    })
    expect(await read()).toMatchObject({ ingressPort: mine })
    expect((await runner.client.ok('getSettings')).settings.ingressPort).toBe(mine)
  })

  it('reports a taken port at the start, and the runner runs', async () => {
    const taken = await listening(createServer())
    await open({ config: { ingressPort: taken } })
    expect(await read()).toMatchObject({
      ingressProblem: { code: 'port_taken', params: { port: String(taken) } },
      localUrl: runner.url,
    })
    expect((await runner.client.ask('health')).status).toBe(200)
    expect(await post((await addTrigger()).url)).toBe(202)
  })

  const HEADERS = ['Host: localhost:3001', 'Host: evil.example', 'Host: localhost:3001\r\nX-Forwarded-For: 203.0.113.7']
  it.each(HEADERS.map((headers, i) => [headers, i] as const))('serves no route of the runner: %s', async (headers, i) => {
    await open({ config: { authMode: 'local-trust' } })
    const port = await findFreePort()
    await update({ ingressPort: port })
    await addTrigger()
    const before = contents()
    for (const [name, route] of shareOf(Object.entries<Route>(ROUTES), i, HEADERS.length)) {
      for (const target of [route.path.replaceAll(/:\w+/g, '019a0000-0000-7000-8000-000000000001'), `/${route.path}`]) {
        const given: [string, string][] = headers.split('\r\n').map((line) => line.split(': ') as [string, string])
        const body = route.method === 'GET' ? '' : '{"task":"x","pauseAll":true,"message":"x"}'
        const bytes = toBytes({
          method: route.method,
          target,
          headers: [
            ...given,
            ['Authorization', `Bearer ${TEST_SECRET}`],
            ['Content-Type', 'application/json'],
            ['Content-Length', String(body.length)],
            ['Connection', 'close'],
          ],
          body,
        })
        const { status, body: said } = await sendRaw(port, bytes)
        expect([name, target, status, said]).toEqual([name, target, 404, '{"error":"not_found"}'])
      }
    }
    expect(contents()).toBe(before)
  })
})

/** What a proxy does to a request, besides passing it on. */
type ProxyChange = { target?: (whole: string) => string; keeps?: (header: string) => boolean }

describe('the public address', () => {
  /** A reverse proxy of the person. It leads to the listener until a test changes that. */
  async function ownProxy(prefix = '') {
    const seen: string[] = []
    let act: (req: IncomingMessage, res: ServerResponse) => void = (req, res) => {
      const { port } = new URL(runner.url)
      const headers = { ...req.headers, host: 'hooks.example.com', 'x-forwarded-for': '203.0.113.7' }
      const onward = request({ host: '127.0.0.1', port, method: req.method, path: req.url!.slice(prefix.length), headers }, (answer) => {
        res.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(res)
      })
      // The runner may stop meanwhile.
      onward.on('error', () => res.destroy())
      req.pipe(onward)
    }
    const port = await listening(
      createServer((req, res) => {
        seen.push(req.url!)
        act(req, res)
      }),
    )
    const working = act
    return {
      url: `http://127.0.0.1:${port}${prefix}`,
      seen,
      answerWith: (answer: typeof act) => (act = answer),
      work: () => (act = working),
    }
  }

  /**
   * A plain nginx with `proxy_pass http://127.0.0.1:<port>` and nothing else: it speaks HTTP/1.0 to its upstream (1.1 since
   * 1.29.7), sets Host to the upstream's address, drops hop-by-hop headers and adds no forwarding headers.
   */
  async function plainNginx(upstream: () => number, version: '1.0' | '1.1', change: ProxyChange = {}): Promise<string> {
    const { target = (whole) => whole, keeps = () => true } = change
    const port = await listening(
      createServer((req, res) => {
        const chunks: Buffer[] = []
        req.on('data', (chunk: Buffer) => chunks.push(chunk))
        req.on('end', () => {
          const body = Buffer.concat(chunks)
          const kept = Object.entries(req.headers).filter(
            ([name]) => !/^(host|connection|keep-alive|transfer-encoding|te|upgrade|content-length)$/.test(name) && keeps(name),
          )
          const lines = [
            `${req.method} ${target(req.url!)} HTTP/${version}`,
            `Host: 127.0.0.1:${upstream()}`,
            'Connection: close',
            ...kept.map(([name, value]) => `${name}: ${String(value)}`),
            ...(body.length > 0 ? [`Content-Length: ${body.length}`] : []),
          ]
          sendRaw(upstream(), Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body])).then(
            (answer) => res.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body),
            () => res.writeHead(502).end(),
          )
        })
      }),
    )
    return `http://127.0.0.1:${port}`
  }

  it('opens a webhook-only port, and a reverse proxy to it publishes nothing else', async () => {
    await open({ config: { authMode: 'local-trust' } })
    await addTrigger()
    let upstream = 0
    const url = await plainNginx(() => upstream, '1.0')
    const address = await update({ url })
    expect(address.ingressPort).toEqual(expect.any(Number))
    expect(address.ingressPort).not.toBe(runner.port)
    expect(address.localUrl).toBe(`http://127.0.0.1:${address.ingressPort}`)
    upstream = address.ingressPort!
    expect(await checkNow()).toMatchObject({ state: 'reachable', problem: null })
    const before = contents()
    for (const [name, route] of Object.entries<Route>(ROUTES)) {
      const answer = await standIns.fetch(`${url}${route.path.replaceAll(/:\w+/g, '019a0000-0000-7000-8000-000000000001')}`, {
        method: route.method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TEST_SECRET}` },
        ...(route.method === 'GET' ? {} : { body: '{"task":"x"}' }),
      })
      expect([name, answer.status, await answer.text()]).toEqual([name, 404, '{"error":"not_found"}'])
    }
    expect(contents()).toBe(before)
    // The port stays after a restart, and cannot be turned off while there is an address.
    await runner.restart()
    expect(await read()).toMatchObject({ ingressPort: upstream })
    expect(await checkNow()).toMatchObject({ state: 'reachable' })
    expect(await runner.client.ask('updatePublicAddress', { body: { ingressPort: null } })).toMatchObject({
      status: 400,
      body: { detail: { code: 'outside_needs_port' } },
    })
    expect(await update({ url: null, ingressPort: null })).toMatchObject({ url: null, ingressPort: null })
  })

  it("is reported as exposed if a reverse proxy leads to the runner's port", async () => {
    await open({ config: { authMode: 'local-trust' } })
    const url = await plainNginx(() => runner.port, '1.1')
    await update({ url })
    await expect.poll(stateOfCheck).toBe('exposed')
    const { check, localUrl } = await read()
    expect(check).toMatchObject({ problem: { code: 'outside_exposed', params: { url: `${url}/api/health`, leadsTo: localUrl } } })
    const title = createMessage('address_exposed')
    await expect.poll(() => runner.notifications).toContainEqual(expect.objectContaining({ title }))
    expect((await runner.client.ok('listAttention')).items).toContainEqual(expect.objectContaining({ title }))
    await expect.poll(() => runner.reports.at(-1)?.webhooks.check).toBe('exposed')
  })

  const dropQuery = (whole: string) => whole.replace(/\?.*$/, '')
  const dropUnknown = (name: string) => ['accept', 'content-type', 'user-agent'].includes(name)
  it.each<[string, ProxyChange]>([
    ['drops the query', { target: dropQuery }],
    ['adds to the query', { target: (whole) => `${whole}${whole.includes('?') ? '&' : '?'}from=proxy` }],
    ['drops the query and headers that it does not know', { target: dropQuery, keeps: dropUnknown }],
    [
      'passes on exact paths only, without a query',
      { target: (whole) => (/^\/(api\/(health|agents|settings)|webhooks\/.*)(\?|$)/.test(whole) ? dropQuery(whole) : '/api/nothing') },
    ],
  ])("is reported as exposed if a proxy that %s leads to the runner's port", async (_what, change) => {
    await open({ config: { authMode: 'local-trust' } })
    const url = await plainNginx(() => runner.port, '1.1', change)
    await update({ url })
    await expect.poll(stateOfCheck).not.toBe('checking')
    expect((await read()).check).toMatchObject({ state: 'exposed', problem: { code: 'outside_exposed' } })
  })

  it("reaches only webhooks on the runner's port through a proxy that speaks HTTP/1.0", async () => {
    await open({ config: { authMode: 'local-trust' } })
    const { path } = await addTrigger()
    const url = await plainNginx(() => runner.port, '1.0')
    for (const [method, target] of [
      ['GET', '/api/agents'],
      ['GET', '/api/settings'],
      ['GET', '/api/health'],
      ['POST', '/api/agent'],
    ] as const) {
      const answer = await standIns.fetch(`${url}${target}`, {
        method,
        ...(method === 'POST' ? { headers: { 'content-type': 'application/json' }, body: '{"task":"x"}' } : {}),
      })
      expect([target, answer.status, await answer.text()]).toEqual([target, 403, '{"error":"forbidden_forwarded"}'])
    }
    expect(await post(`${url}${path}`)).toBe(202)
    await update({ url })
    await expect.poll(stateOfCheck).toBe('reachable')
  })

  it('from the environment opens the port at the start and keeps it', async () => {
    let upstream = 0
    const publicRunnerUrl = await plainNginx(() => upstream, '1.0')
    await open({ config: { publicRunnerUrl } })
    const { ingressPort, localUrl } = await read()
    upstream = ingressPort!
    expect(localUrl).toBe(`http://127.0.0.1:${ingressPort}`)
    expect(await checkNow()).toMatchObject({ state: 'reachable' })
    await runner.restart()
    expect(await read()).toMatchObject({ ingressPort })
  })

  it("never shows the runner's port, even if the webhook port is taken", async () => {
    const taken = await listening(createServer())
    await open({ config: { ingressPort: taken, publicRunnerUrl: 'https://hooks.example.com' } })
    expect(await read()).toMatchObject({
      localUrl: `http://127.0.0.1:${taken}`,
      ingressProblem: { code: 'port_taken', params: { port: String(taken) } },
    })
  })

  it('is the base of webhook addresses, and a probe confirms that it works', async () => {
    await open()
    const proxy = await ownProxy('/deckhand')
    const changed = await update({ url: `${proxy.url}/` })
    expect(changed).toMatchObject({ url: proxy.url, source: 'setting', check: { state: 'checking' } })
    await expect.poll(stateOfCheck).toBe('reachable')
    expect((await read()).check).toEqual({ state: 'reachable', checkedAt: expect.any(Number), problem: null })
    const { url } = await addTrigger()
    expect(url.startsWith(`${proxy.url}/webhooks/`)).toBe(true)
    expect(await post(url)).toBe(202)
    expect(await jobs()).toEqual(['webhook'])
    await expect.poll(() => runner.reports.at(-1)?.webhooks).toEqual({ url: proxy.url, check: 'reachable', tunnel: null })
    await runner.restart()
    expect(await read()).toMatchObject({ url: proxy.url, source: 'setting' })
    await expect.poll(stateOfCheck).toBe('reachable')
    expect(await update({ url: null })).toMatchObject({ url: null, source: 'none', check: { state: 'unknown', checkedAt: null } })
  })

  it('is probed with a new nonce each time, which is accepted once', async () => {
    await open()
    const proxy = await ownProxy()
    await update({ url: proxy.url })
    await expect.poll(stateOfCheck).toBe('reachable')
    await checkNow()
    const probes = proxy.seen.filter((path) => path.startsWith('/webhooks/probe/'))
    expect(new Set(probes)).toHaveLength(2)
    for (const path of probes) expect(path).toMatch(/^\/webhooks\/probe\/[\w-]{43}$/)
    const ask = async (path: string) => {
      const answer = await fetch(`${runner.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
      return [answer.status, await answer.text(), [...answer.headers.keys()]]
    }
    const unknown = await ask('/webhooks/no-such/x')
    expect(unknown[0]).toBe(404)
    for (const path of [...probes, '/webhooks/probe/x', `/webhooks/probe/${'A'.repeat(43)}`]) expect(await ask(path)).toEqual(unknown)
  })

  it.each<[string, (res: ServerResponse) => void, RegExp]>([
    [
      'another program responds',
      (res) => res.writeHead(404).end('nothing here'),
      /answered with status 404, but it leads to another program/,
    ],
    ['the proxy has no upstream', (res) => res.writeHead(502).end(), /answered with status 502, but the request did not arrive here/],
    ['it accepts everything', (res) => res.writeHead(200).end('x'.repeat(1_000_000)), /answered with status 200, but/],
    [
      'it redirects',
      (res) => res.writeHead(301, { location: 'https://www.example.com/x' }).end(),
      /redirects to https:\/\/www\.example\.com/,
    ],
    ['it closes the connection', (res) => void res.destroy(), /cannot be reached/],
  ])('reports why it does not lead here: %s', async (_what, answer, words) => {
    await open()
    const proxy = await ownProxy()
    proxy.answerWith((_req, res) => answer(res))
    await update({ url: proxy.url })
    await expect.poll(stateOfCheck).toBe('unreachable')
    expect((await read()).check.problem).toEqual(messageMatching(words))
    proxy.work()
    expect(await checkNow()).toMatchObject({ state: 'reachable', problem: null })
  })

  it('reports why it cannot be reached', async () => {
    await open()
    const tls = await listening(createTlsServer(selfSigned('localhost')) as unknown as Server)
    const unreachable: [string, RegExp][] = [
      [`http://127.0.0.1:${await findFreePort()}`, /^127\.0\.0\.1:\d+ refused the connection\.$/],
      [`https://localhost:${tls}`, /^The secure connection to localhost:\d+ failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
      ['https://nowhere.invalid', /^The name nowhere\.invalid was not found\./],
    ]
    for (const [url, words] of unreachable) {
      await update({ url })
      await expect.poll(stateOfCheck).toBe('unreachable')
      expect((await read()).check.problem).toEqual(messageMatching(words))
    }
  })

  it('counts as unreachable after two failed checks, and notifies once', async () => {
    await open({ publicAddressTimings: { ...SOON, checkEveryMs: 60 } })
    const proxy = await ownProxy()
    await update({ url: proxy.url })
    await expect.poll(stateOfCheck).toBe('reachable')
    const told = () => runner.notifications.filter(({ kind }) => kind === 'public_address_unreachable')
    expect(told()).toEqual([])
    let asked = 0
    // A single failure is not reported.
    proxy.answerWith((_req, res) => {
      proxy.work()
      res.writeHead(502).end()
    })
    const until = proxy.seen.length
    await expect.poll(() => proxy.seen.length).toBeGreaterThan(until + 3)
    expect([await stateOfCheck(), told()]).toEqual(['reachable', []])
    proxy.answerWith((_req, res) => {
      asked++
      res.writeHead(502).end()
    })
    await expect.poll(stateOfCheck).toBe('unreachable')
    expect(asked).toBeGreaterThanOrEqual(2)
    await expect.poll(told).toHaveLength(1)
    expect(told()[0]).toMatchObject({ title: createMessage('address_unreachable'), body: messageMatching('502') })
    const askedUntilNow = asked
    await expect.poll(() => asked).toBeGreaterThan(askedUntilNow + 2)
    expect(told()).toHaveLength(1)
    // It recovers by itself.
    proxy.work()
    await expect.poll(stateOfCheck).toBe('reachable')
  })

  it.each<[UpdatePublicAddress, string, MessageCode]>([
    [{ url: 'hooks.example.com' }, 'Enter the full address', 'base_not_whole'],
    [{ url: 'https://ann:secret@example.com' }, 'user name or password', 'base_with_user'],
    [{ url: 'https://example.com/?x' }, 'question mark', 'base_with_query'],
    [{ url: 'https://example.com/webhooks/orders/s' }, 'Leave out /webhooks', 'base_with_path'],
  ])('is refused if it is not a base address: %j', async (body, words, code) => {
    await open()
    const { status, body: said } = await runner.client.ask('updatePublicAddress', { body })
    expect([status, said]).toEqual([
      400,
      {
        error: 'invalid_request',
        message: expect.stringContaining(words),
        detail: { code, params: {} },
        issues: [expect.objectContaining({ path: 'url', detail: { code, params: {} } })],
      },
    ])
    expect(await read()).toMatchObject({ url: null, source: 'none' })
  })

  it('from the environment wins over the settings and cannot be changed', async () => {
    const port = await findFreePort()
    await open({ config: { publicRunnerUrl: 'https://hooks.example.com/', ingressPort: port } })
    expect(await read()).toMatchObject({ url: 'https://hooks.example.com', source: 'environment', ingressPort: port })
    for (const body of [{ url: 'https://other.example' }, { url: null }, { ingressPort: null }, { ingressPort: 4000 }]) {
      expect(await runner.client.ask('updatePublicAddress', { body })).toMatchObject({
        status: 409,
        body: { error: 'public_address_fixed' },
      })
    }
    expect(await runner.client.ask('startTunnel', { body: { program: 'ngrok' } })).toMatchObject({ status: 409 })
    expect(standIns.starts('ngrok')).toEqual([])
    expect((await addTrigger()).url).toMatch(/^https:\/\/hooks\.example\.com\/webhooks\//)
    expect((await runner.client.ok('getSettings')).settings).toMatchObject({ publicUrl: null, ingressPort: null, tunnel: null })
  })
})

describe('a tunnel', () => {
  const EXPECTED_ARGS: Record<TunnelProgram, (port: number) => unknown[]> = {
    cloudflared: (port) => [
      'tunnel',
      '--config',
      join(runner.dataDir, 'tunnel', 'cloudflared.yml'),
      '--url',
      `http://127.0.0.1:${port}`,
      '--no-autoupdate',
      '--grace-period',
      '2s',
    ],
    ngrok: (port) => ['http', `http://127.0.0.1:${port}`, '--inspect=false', '--log', 'stdout', '--log-format', 'json'],
    tailscale: (port) => ['funnel', `http://127.0.0.1:${port}`],
  }

  function isGone(pid: number): boolean {
    try {
      process.kill(pid, 0)
      return false
    } catch {
      return true
    }
  }

  it.each(TunnelProgram.options)('with %s publishes webhooks and nothing else', async (program) => {
    vi.stubEnv('WORKER_SECRET', 'canary')
    vi.stubEnv('TUNNEL_URL', 'http://127.0.0.1:1')
    standIns.behave(program, { host: 'localhost:3001' })
    await open()
    expect((await read()).programs).toContainEqual({ program, installed: true, path: join(standIns.folder, program) })
    const { publicAddress } = await startTunnel(program)
    expect(publicAddress.tunnel).toMatchObject({ program, url: null, problem: null })
    await expect.poll(tunnelState).toBe('running')
    const { url, source, ingressPort, localUrl, tunnel } = await read()
    expect([source, localUrl, tunnel?.url]).toEqual(['tunnel', `http://127.0.0.1:${ingressPort}`, url])
    await expect.poll(stateOfCheck).toBe('reachable')
    await expect
      .poll(() => runner.reports.at(-1)?.webhooks)
      .toMatchObject({ url, check: 'reachable', tunnel: { program, state: 'running' } })

    // It is started with exactly these arguments and none of our variables.
    const [start] = standIns.starts(program)
    expect(start!.args).toEqual(EXPECTED_ARGS[program](ingressPort!))
    expect(start!.args.join(' ')).not.toContain(String(runner.port))
    expect(JSON.stringify(start!.env)).not.toContain('canary')
    expect(start!.env).not.toHaveProperty('TUNNEL_URL')

    // From outside, only webhooks are reached.
    const trigger = await addTrigger()
    expect(trigger.url).toBe(`${url}${trigger.path}`)
    expect(await post(trigger.url)).toBe(202)
    await expect.poll(jobs).toEqual(['webhook'])
    await runner.ended((await runner.client.ok('listJobs', { query: {} })).jobs[0]!.id)
    const before = contents()
    const programs = TunnelProgram.options
    for (const [name, route] of shareOf(Object.entries<Route>(ROUTES), programs.indexOf(program), programs.length)) {
      const path = route.path.replaceAll(/:\w+/g, '019a0000-0000-7000-8000-000000000001')
      const answer = await standIns.fetch(`${url}${path}`, {
        method: route.method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TEST_SECRET}` },
        ...(route.method === 'GET' ? {} : { body: '{"task":"x","pauseAll":true,"message":"x"}' }),
      })
      expect([name, answer.status, await answer.text()]).toEqual([name, 404, '{"error":"not_found"}'])
    }
    expect(contents()).toBe(before)

    // After a stop, its process is gone, its port is closed, and it does not start again.
    const { publicAddress: after } = await runner.client.ok('stopTunnel')
    expect(after).toMatchObject({ url: null, source: 'none', ingressPort: null, tunnel: { program, state: 'stopped', url: null } })
    await expect.poll(() => isGone(start!.pid)).toBe(true)
    await runner.restart()
    expect([(await read()).tunnel, standIns.starts(program)]).toEqual([null, [start]])
  })

  it('starts again with the app, but not in safe mode', async () => {
    await open()
    await startTunnel('ngrok')
    await expect.poll(tunnelState).toBe('running')
    await runner.restart()
    await expect.poll(tunnelState).toBe('running')
    const starts = standIns.starts('ngrok')
    expect(starts).toHaveLength(2)
    expect(isGone(starts[0]!.pid)).toBe(true)
    await runner.restart({ config: { safeMode: true } })
    expect([await read(), standIns.starts('ngrok')]).toMatchObject([{ tunnel: null, ingressPort: null }, { length: 2 }])
  })

  it('is restarted when it ends, with its new address', async () => {
    await open()
    await startTunnel('cloudflared')
    await expect.poll(tunnelState).toBe('running')
    const { url: first, ingressPort } = await read()
    const { path } = await addTrigger()
    const changes = async () =>
      (await runner.client.ok('listAttention')).items.filter(({ kind }) => kind === 'public_address_changed').map(({ detail }) => detail)
    expect(await changes()).toEqual([])
    process.kill(standIns.starts('cloudflared')[0]!.pid, 'SIGKILL')
    await expect.poll(async () => (await read()).url).not.toBe(first)
    await expect.poll(tunnelState).toBe('running')
    await expect.poll(stateOfCheck).toBe('reachable')
    // It leads to the same port; only the address has changed.
    expect([(await read()).ingressPort, standIns.starts('cloudflared').length]).toEqual([ingressPort, 2])
    // Senders still have the old one.
    const { url: second } = await read()
    expect(await changes()).toEqual([createMessage('attention_address_changed_detail', { before: first!, url: second! })])
    expect(await post(`${second}${path}`)).toBe(202)
    await expect.poll(changes).toEqual([])
  })

  it('is given up after several restarts, with the reason and one notification', async () => {
    await open()
    standIns.behave('tailscale', { mode: 'dies' })
    await startTunnel('tailscale')
    await expect.poll(tunnelState).toBe('failed')
    expect(await read()).toMatchObject({
      url: null,
      tunnel: { problem: expect.objectContaining({ code: 'tunnel_ended' }), url: null },
      check: { state: 'unreachable', problem: expect.objectContaining({ code: 'tunnel_ended' }) },
    })
    expect(standIns.starts('tailscale')).toHaveLength(3)
    await expect.poll(() => runner.notifications.filter(({ kind }) => kind === 'public_address_unreachable')).toHaveLength(1)
    // A manual start counts from the beginning.
    standIns.behave('tailscale', {})
    await startTunnel('tailscale')
    await expect.poll(tunnelState).toBe('running')
  })

  it('notifies if it cannot start with the app, and is retried later', async () => {
    await open({ publicAddressTimings: { ...SOON, checkEveryMs: 300, restartAfterMs: [] } })
    await startTunnel('cloudflared')
    await expect.poll(tunnelState).toBe('running')
    standIns.behave('cloudflared', { mode: 'signed_out' })
    await runner.restart()
    await expect.poll(() => runner.notifications.filter(({ kind }) => kind === 'public_address_unreachable')).toHaveLength(1)
    standIns.behave('cloudflared', {})
    await expect.poll(stateOfCheck).toBe('reachable')
    expect(await tunnelState()).toBe('running')
  })

  it('shows no problem after it was stopped', async () => {
    await open({ publicAddressTimings: { ...SOON, restartAfterMs: [] } })
    standIns.behave('cloudflared', { mode: 'dies' })
    await startTunnel('cloudflared')
    await expect.poll(stateOfCheck).toBe('unreachable')
    const { publicAddress } = await runner.client.ok('stopTunnel')
    expect(publicAddress).toMatchObject({ check: { state: 'unknown', problem: null }, tunnel: { state: 'stopped' }, ingressPort: null })
  })

  it.each<[TunnelProgram, RegExp, number]>([
    ['ngrok', /^ngrok needs the authtoken of your account/, 1],
    ['tailscale', /^Funnel is off for your tailnet\. Turn it on at https:\/\/login\.tailscale\.com/, 1],
    ['cloudflared', /^cloudflared reports: failed to request quick Tunnel/, 3],
  ])('with %s says what to do if it fails, and restarts only if that can help', async (program, words, starts) => {
    await open()
    standIns.behave(program, { mode: 'signed_out' })
    await startTunnel(program)
    await expect.poll(tunnelState).toBe('failed')
    expect((await read()).tunnel!.problem).toEqual(messageMatching(words))
    expect(standIns.starts(program)).toHaveLength(starts)
    expect(JSON.stringify([await read(), runner.logLines])).not.toContain('canary')
  })

  it('fails if the program prints no address in time', async () => {
    await open({ publicAddressTimings: { ...SOON, addressWithinMs: 300, restartAfterMs: [] } })
    standIns.behave('ngrok', { mode: 'silent' })
    await startTunnel('ngrok')
    await expect.poll(tunnelState).toBe('failed')
    expect((await read()).tunnel!.problem).toEqual(expect.objectContaining({ code: 'tunnel_no_address' }))
    expect(standIns.starts('ngrok').every(({ pid }) => isGone(pid))).toBe(true)
  })

  it('leads to the chosen port, follows a change of it, and fails if it is taken', async () => {
    await open()
    const [first, second] = [await findFreePort(), await findFreePort()]
    await update({ ingressPort: first })
    await startTunnel('ngrok')
    await expect.poll(tunnelState).toBe('running')
    await update({ ingressPort: second })
    await expect
      .poll(() => standIns.starts('ngrok').map(({ args }) => args[1]))
      .toEqual([`http://127.0.0.1:${first}`, `http://127.0.0.1:${second}`])
    await expect.poll(stateOfCheck).toBe('reachable')
    await runner.stop()

    const taken = await listening(createServer())
    await open({ config: { ingressPort: taken } })
    const { publicAddress } = await startTunnel('ngrok')
    expect(publicAddress.tunnel).toMatchObject({ state: 'failed', problem: messageMatching(`Port ${taken} is `) })
    expect(standIns.starts('ngrok')).toHaveLength(2)
  })

  it('runs no program from a folder in which an agent writes', async () => {
    await open()
    // Ignores programs that are installed on this machine.
    const ours = async () => (await read()).programs.filter(({ path }) => path?.startsWith(standIns.folder)).map(({ program }) => program)
    expect(await ours()).toEqual(['cloudflared', 'ngrok', 'tailscale'])
    await startTunnel('ngrok')
    await expect.poll(tunnelState).toBe('running')
    // Now PATH leads to an agent's folder, by links and directly.
    const folder = runner.makeFolder()
    await runner.addAgent({ folders: [folder] })
    for (const program of ['cloudflared', 'ngrok', 'tailscale'] as const) {
      renameSync(join(standIns.folder, program), join(folder, program))
      symlinkSync(join(folder, program), join(standIns.folder, program))
    }
    vi.stubEnv('PATH', `${folder}${delimiter}${pathWith(standIns.folder)}`)
    expect((await read()).programs.filter(({ path }) => path?.startsWith(folder))).toEqual([])
    expect(await ours()).toEqual([])
    // A restart does not use them either.
    process.kill(standIns.starts('ngrok')[0]!.pid, 'SIGKILL')
    await expect.poll(tunnelState).toBe('failed')
    expect(await read()).toMatchObject({ tunnel: { problem: expect.objectContaining({ code: 'tunnel_gone' }) } })
    expect(standIns.starts('ngrok')).toHaveLength(1)
  })

  it('is refused if the program is missing, and fails if it was removed later', async () => {
    await open()
    await startTunnel('ngrok')
    await expect.poll(tunnelState).toBe('running')
    standIns.remove('ngrok')
    vi.stubEnv('PATH', standIns.folder)
    expect(await runner.client.ask('startTunnel', { body: { program: 'ngrok' } })).toMatchObject({
      status: 409,
      body: { error: 'tunnel_not_installed' },
    })
    expect(await runner.client.ask('startTunnel', { body: { program: '/bin/sh' } })).toMatchObject({ status: 400 })
    await runner.restart()
    expect(await read()).toMatchObject({ tunnel: { state: 'failed', problem: expect.objectContaining({ code: 'tunnel_gone' }) } })
  })

  it('is started and stopped from the tray, which is notified of failures', async () => {
    await open()
    runner.runner.setTunnel({ program: 'cloudflared', on: true })
    await expect.poll(tunnelState).toBe('running')
    await expect.poll(() => runner.reports.at(-1)?.webhooks.tunnel).toMatchObject({ program: 'cloudflared', state: 'running' })
    runner.runner.setTunnel({ program: 'cloudflared', on: false })
    await expect.poll(tunnelState).toBe('stopped')
    standIns.remove('ngrok')
    vi.stubEnv('PATH', standIns.folder)
    runner.runner.setTunnel({ program: 'ngrok', on: true })
    await expect
      .poll(() => runner.notifications.at(-1))
      .toMatchObject({ title: { code: 'notify_tunnel_not_started' }, body: { code: 'tunnel_not_installed' } })
  })
})
