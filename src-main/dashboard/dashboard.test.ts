import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { Agent, createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { AuthMode } from '../../src-runner/contract/port.ts'
import { silentLog } from '../log/log.ts'
import { speechOf } from '../desktop/language.ts'
import { createCertificates } from '../net/certificate.ts'
import { openAssets } from './assets.ts'
import { canActAsOtherAccount, OTHER_ACCOUNT } from '../../src-runner/testing/other-account.ts'
import { ROUTES, type Route } from '../../src-runner/contract/routes.ts'
import { AUTH_ROUTES } from '../contract/auth-api.ts'
import { createBrowserLink, createBrowserProof } from './browser-proof.ts'
import { createOneTimeToken, createOneTimeTokens, type TokenPurpose } from './one-time-tokens.ts'
import { createDashboard, type Dashboard } from './dashboard.ts'
import { startDashboardServer, type DashboardServer } from './server.ts'

const SECRET = 'worker-secret-of-this-test-0123456789'
const LINK_KEY = 'link-key-of-this-test-0123456789-abcd'
const JOB = '019a0000-0000-7000-8000-000000000001'
/** The address of this machine in its network. */
const LAN = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

/** A local server in place of the runner. It records requests and responds as the test sets. */
let runner: Server
let requests: { method: string; url: string; headers: IncomingMessage['headers']; rawHeaders: string[]; body: string }[]
let behave: (request: IncomingMessage, response: ServerResponse) => void
let now: number
let runnerIsThere: boolean
let replaced: number
let soon: PromiseWithResolvers<{ host: string; port: number; secret: string } | null>
let folder: string
let dashboard: Dashboard
let server: DashboardServer

beforeEach(async () => {
  requests = []
  replaced = 0
  runnerIsThere = true
  now = Date.UTC(2026, 10, 23)
  soon = Promise.withResolvers()
  behave = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  runner = createServer((request, response) => {
    const entry = { method: request.method!, url: request.url!, headers: request.headers, rawHeaders: request.rawHeaders, body: '' }
    requests.push(entry)
    request.on('data', (chunk: Buffer) => (entry.body += chunk.toString()))
    request.on('error', () => undefined)
    behave(request, response)
  })
  await new Promise<void>((resolve) => runner.listen(0, '127.0.0.1', () => resolve()))
  folder = mkdtempSync(join(tmpdir(), 'deckhand-dashboard-'))
  mkdirSync(join(folder, 'page', 'assets'), { recursive: true })
  writeFileSync(join(folder, 'page', 'index.html'), '<!doctype html><head><title>Deckhand</title></head>')
  writeFileSync(join(folder, 'page', 'assets', 'index-a1B2c3D4.js'), 'export {}')
  writeFileSync(join(folder, 'page', 'assets', 'index-a1B2c3D4.js.map'), '{}')
  writeFileSync(join(folder, 'page', 'icon.svg'), '<svg/>')
  writeFileSync(join(folder, 'secret.txt'), 'outside')
  symlinkSync(join(folder, 'secret.txt'), join(folder, 'page', 'link.txt'))
  await serve('local-trust')
})

afterEach(async () => {
  await server.close()
  dashboard.close()
  runner.closeAllConnections()
  runner.close()
  rmSync(folder, { recursive: true, force: true })
})

async function serve(mode: AuthMode | (() => AuthMode), options: { assets?: false; appUrl?: string; language?: 'de' } = {}) {
  await (server as DashboardServer | undefined)?.close()
  const authMode = typeof mode === 'function' ? mode : () => mode
  const tokens = createOneTimeTokens(LINK_KEY, () => now)
  dashboard = createDashboard({
    assets: options.assets === false ? null : openAssets(join(folder, 'page')),
    runner: () => (runnerIsThere ? address : null),
    runnerSoon: () => soon.promise,
    authMode,
    secret: () => SECRET,
    signIn: { accounts: () => Promise.reject(new Error('no accounts here')), onChange: () => () => undefined },
    browserProof: createBrowserProof({ tokens, secret: () => SECRET, now: () => now }),
    createSignInToken: (id) => createOneTimeToken(LINK_KEY, `sign_in:${id}`, now),
    speech: async () => speechOf(options.language ?? 'en'),
    tokens,
    replaceSecret: async () => void replaced++,
    log: silentLog,
  })
  const address = { host: '127.0.0.1', port: (runner.address() as { port: number }).port, secret: SECRET }
  server = await startDashboardServer({
    dashboard,
    host: '127.0.0.1',
    port: 0,
    authMode,
    appUrl: options.appUrl ?? null,
    tls: null,
    log: silentLog,
  })
}

/** Bytes as they are, until the server closes. Our own clients cannot send most of this. */
function raw(head: string[], body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true }, () =>
      socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`),
    )
    // A reset leaves no socket in TIME_WAIT. Each new connection makes the dashboard list all sockets.
    socket.on('end', () => socket.resetAndDestroy())
    socket.setTimeout(45_000, () => socket.destroy(new Error(`no answer: ${text}`)))
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}
/** What a page sends that was opened with a link. */
async function openPage(): Promise<[string, string]> {
  const token = createBrowserLink(server.url, LINK_KEY, now).split('#open=')[1]
  const answer = await post('/api/browser', { token })
  expect(answer.status).toBe(200)
  const { key } = (await answer.json()) as { key: string }
  return [`Cookie: other=1; ${answer.headers.get('set-cookie')!.split(';')[0]}`, `X-Deckhand-Page: ${key}`]
}
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])
const host = () => `Host: 127.0.0.1:${server.port}`
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })

describe('the dashboard itself', () => {
  it('reports its health with and without a runner', async () => {
    runnerIsThere = false
    const answer = await fetch(`${server.url}/api/health`)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ ok: true, service: 'deckhand-dashboard' })
    expect(requests).toEqual([])
  })

  it('serves the page with security headers for every screen', async () => {
    const pages = [
      ['/', '*/*'],
      [`/jobs/${JOB}`, '*/*'],
      [`/jobs/${JOB}`, 'text/html,*/*'],
      ['/settings?tab=models', 'text/html,*/*'],
    ] as const
    for (const [path, accept] of pages) {
      const answer = await fetch(server.url + path, { headers: { accept } })
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('<title>Deckhand</title>')
      expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'self';.*connect-src 'self'/)
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('cache-control')).toBe('no-cache')
    }
  })

  it('lets browsers cache hashed files, and returns 304 for a known file', async () => {
    const script = await fetch(`${server.url}/assets/index-a1B2c3D4.js`)
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const icon = await fetch(`${server.url}/icon.svg`)
    expect(icon.headers.get('cache-control')).toBe('no-cache')
    const again = await fetch(`${server.url}/icon.svg`, { headers: { 'if-none-match': icon.headers.get('etag')! } })
    expect(again.status).toBe(304)
  })

  it.each([
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/link.txt',
    '/assets/index-a1B2c3D4.js.map',
    '/assets/gone.js',
    '//icon.svg',
    '/index.html/../../secret.txt',
    '/%zz',
    '/API/health',
  ])('returns 404 for %s', async (path) => {
    const answer = await raw([`GET ${path} HTTP/1.1`, host()])
    expect([400, 404]).toContain(statusOf(answer))
    expect(answer).not.toContain('outside')
    expect(answer).toMatch(/\{"error":"\w+"\}$/)
  })

  it('returns no body for HEAD', async () => {
    const answer = await raw(['HEAD / HTTP/1.1', host()])
    expect(statusOf(answer)).toBe(200)
    expect(answer).toMatch(/\r\n\r\n$/)
  })

  it('reports a page that was not built', async () => {
    await serve('local-trust', { assets: false })
    const answer = await fetch(server.url)
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('npm run build')
  })
})

describe('a request to the runner', () => {
  it('gets the bearer, and keeps its body, query and response', async () => {
    behave = (request, response) =>
      request.on('end', () =>
        response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ jobId: JOB, status: 'pending' })),
      )
    const answer = await post('/api/agent', { task: 'say hello' })
    expect(answer.status).toBe(202)
    expect(await answer.json()).toEqual({ jobId: JOB, status: 'pending' })
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: '/api/agent',
      body: '{"task":"say hello"}',
      headers: { authorization: `Bearer ${SECRET}` },
    })
    await fetch(`${server.url}/api/jobs?status=running&q=a%20b`)
    expect(requests[1]!.url).toBe('/api/jobs?status=running&q=a%20b')
  })

  it('keeps its content headers and loses all others', async () => {
    const answer = await raw(
      [
        'POST /api/agent HTTP/1.1',
        host(),
        `Origin: http://127.0.0.1:${server.port}`,
        'Sec-Fetch-Site: same-origin',
        ...(await openPage()),
        'Authorization: Bearer somebody-elses',
        'Proxy-Authorization: Basic x',
        'User-Agent: me',
        'Referer: http://127.0.0.1/private',
        'Last-Event-ID: 7',
        'Content-Type: application/json',
        'Content-Length: 2',
      ],
      '{}',
    )
    expect(statusOf(answer)).toBe(200)
    const names = requests[0]!.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
    expect(names.toSorted()).toEqual(['authorization', 'connection', 'content-length', 'content-type', 'host', 'last-event-id'])
    expect(requests[0]!.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      'last-event-id': '7',
      host: `127.0.0.1:${(runner.address() as { port: number }).port}`,
    })
  })

  it('returns no cookie, CORS permission or secret', async () => {
    behave = (_request, response) =>
      response
        .writeHead(409, {
          'content-type': 'application/json',
          'set-cookie': 'a=b',
          'access-control-allow-origin': '*',
          'retry-after': '3',
          server: 'x',
        })
        .end('{"error":"job_not_finished"}')
    const answer = await fetch(`${server.url}/api/jobs/${JOB}`)
    expect(answer.status).toBe(409)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'retry-after': '3',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    for (const name of ['set-cookie', 'access-control-allow-origin', 'server']) expect(answer.headers.get(name)).toBeNull()
    expect(JSON.stringify([...answer.headers])).not.toContain(SECRET)
  })

  it('streams each event before the next one is sent', async () => {
    let send: (text: string) => void = () => undefined
    behave = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      send = (text) => response.write(text)
    }
    const answer = await fetch(`${server.url}/api/events`)
    const reader = answer.body!.getReader()
    for (const text of ['data: 1\n\n', 'data: 2\n\n']) {
      send(text)
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(text)
    }
    await reader.cancel()
  })

  it('opens an event stream before its first event', async () => {
    behave = (_request, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    const answer = await fetch(`${server.url}/api/events`)
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    await answer.body!.cancel()
  })

  it('is cancelled when the listener disconnects', async () => {
    const left = Promise.withResolvers<void>()
    behave = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      response.on('close', () => left.resolve())
    }
    const controller = new AbortController()
    await fetch(`${server.url}/api/events`, { signal: controller.signal })
    controller.abort()
    await left.promise
  })

  it('is cancelled when the client disconnects before the response', async () => {
    const left = Promise.withResolvers<void>()
    behave = (_request, response) => void response.on('close', () => left.resolve())
    const controller = new AbortController()
    const answer = fetch(`${server.url}/api/jobs`, { signal: controller.signal })
    await expect.poll(() => requests).toHaveLength(1)
    controller.abort()
    await expect(answer).rejects.toThrow()
    await left.promise
  })

  it('shows a cut response as cut', async () => {
    behave = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n', () => response.destroy())
    }
    const answer = await fetch(`${server.url}/api/events`)
    await expect(answer.text()).rejects.toThrow()
  })

  it('reuses one connection', async () => {
    const sockets = new Set<unknown>()
    behave = (request, response) => {
      sockets.add(request.socket)
      response.end('{}')
    }
    for (let i = 0; i < 5; i++) await (await fetch(`${server.url}/api/jobs`)).text()
    expect(sockets.size).toBe(1)
  })

  it('returns 503 without a runner and without a response', async () => {
    behave = (request) => request.socket.destroy()
    for (const there of [true, false]) {
      runnerIsThere = there
      const answer = await fetch(`${server.url}/api/jobs`)
      expect(answer.status).toBe(503)
      expect(await answer.json()).toEqual({ error: 'runner_unavailable', message: expect.stringContaining('not ready') })
    }
  })

  it.each([
    ['POST', '/api/worker', 404],
    ['POST', '/api/worker/', 404],
    ['POST', '/api/%77orker', 404],
    ['POST', '/api//worker', 404],
    ['POST', '/api/./worker', 404],
    ['POST', '/API/worker', 404],
    ['POST', '/webhooks/a/b', 404],
    ['GET', '/api/unknown', 404],
    ['GET', '/api/jobs/..', 404],
    ['GET', '/api/jobs/', 404],
    ['GET', '/api%2fjobs', 404],
    ['OPTIONS', '/api/jobs', 404],
    ['PUT', '/api/agent', 405],
    ['HEAD', '/api/jobs', 405],
    ['TRACE', '/api/jobs', 405],
    ['POST', '/api/health', 405],
  ])('does not pass on %s %s', async (method, path, status) => {
    const answer = await raw([`${method} ${path} HTTP/1.1`, host(), 'Content-Type: application/json', 'Content-Length: 0'])
    expect(statusOf(answer)).toBe(status)
    expect(answer.toLowerCase()).not.toContain('access-control')
    expect(requests).toEqual([])
  })

  it.each([
    ['POST', '/api/health', 'GET, HEAD'],
    ['PUT', '/api/browser', 'GET, POST'],
    ['PUT', '/api/agent', 'POST'],
    ['PUT', `/api/jobs/${JOB}`, 'GET'],
    ['PUT', '/api/oauth/link', 'POST'],
  ])('says which methods there are instead of %s %s', async (method, path, allowed) => {
    const answer = await raw([`${method} ${path} HTTP/1.1`, host(), 'Content-Length: 0'])
    expect([statusOf(answer), /^allow: (.*)$/im.exec(answer)?.[1]]).toEqual([405, allowed])
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain;application/json',
    'application/json\ta',
    'application/json; charset=utf-7',
    'application/jsonx',
    '',
  ])('refuses a body of type "%s"', async (type) => {
    const answer = await raw(
      ['POST /api/agent HTTP/1.1', host(), ...(type ? [`Content-Type: ${type}`] : []), 'Content-Length: 12'],
      '{"task":"x"}',
    )
    expect(statusOf(answer)).toBe(415)
    expect(requests).toEqual([])
  })

  it('accepts a POST without a body', async () => {
    expect((await fetch(`${server.url}/api/jobs/${JOB}/cancel`, { method: 'POST' })).status).toBe(200)
    expect(requests[0]!.headers['content-length']).toBe('0')
  })

  it.each(['Content-Type: application/x-www-form-urlencoded', 'X-Nothing: 1'])(
    'passes on an empty body in chunks as none, with the header %s, and refuses one that is not empty',
    async (header) => {
      const head = [`POST /api/jobs/${JOB}/cancel HTTP/1.1`, host(), header, 'Transfer-Encoding: chunked']
      expect(statusOf(await raw(head, '0\r\n\r\n'))).toBe(200)
      expect(requests[0]!.headers).toMatchObject({ 'content-length': '0' })
      expect(requests[0]!.headers).not.toHaveProperty('content-type')
      expect(statusOf(await raw(head, '1\r\nx\r\n0\r\n\r\n'))).toBe(415)
      expect(requests).toHaveLength(1)
    },
  )
})

describe('the request gate', () => {
  const paths = ['/', '/api/health', '/api/jobs', '/missing', '/%zz']
  const cases: [string, () => string[], string][] = [
    ['a foreign Host', () => ['Host: evil.example'], 'forbidden_host'],
    ['a Host that only begins well', () => ['Host: 127.0.0.1.evil.example'], 'forbidden_host'],
    ['two Hosts', () => [host(), 'Host: evil.example'], 'forbidden_host'],
    ['two Hosts, the other way round', () => ['Host: evil.example', host()], 'forbidden_host'],
    ['an empty Host', () => ['Host:'], 'forbidden_host'],
    ['the same Host twice', () => [host(), host()], 'forbidden_host'],
    ['a missing Host', () => [], 'forbidden_host'],
    ['another origin', () => [host(), 'Origin: https://evil.example'], 'forbidden_origin'],
    ['the origin null', () => [host(), 'Origin: null'], 'forbidden_origin'],
    ['another local server', () => [host(), 'Origin: http://localhost:5173'], 'forbidden_origin'],
    ['the runner as origin', () => [host(), `Origin: http://127.0.0.1:${(runner.address() as { port: number }).port}`], 'forbidden_origin'],
    ['a cross-site request', () => [host(), 'Sec-Fetch-Site: cross-site'], 'forbidden_origin'],
    ['a same-site request', () => [host(), 'Sec-Fetch-Site: same-site'], 'forbidden_origin'],
    ['a tunnel', () => [host(), 'X-Forwarded-For: 127.0.0.1'], 'forbidden_forwarded'],
    ['a proxy', () => [host(), 'Via: 1.1 x'], 'forbidden_forwarded'],
    ['a page at localhost', () => [host(), `Origin: http://localhost:${server.port}`], 'forbidden_origin'],
    ['a page at [::1]', () => [`Host: [::1]:${server.port}`, `Origin: http://[::1]:${server.port}`], 'forbidden_origin'],
    ['a GET of a page at localhost', () => [`Host: localhost:${server.port}`, 'Sec-Fetch-Site: same-origin'], 'forbidden_origin'],
    ['a GET of a page at another port', () => ['Host: 127.0.0.1:9', 'Sec-Fetch-Site: same-origin'], 'forbidden_origin'],
    [
      'a link from elsewhere to localhost',
      () => [`Host: localhost:${server.port}`, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate'],
      'forbidden_origin',
    ],
  ]
  it.each(cases)('refuses %s', async (_case, headers, code) => {
    for (const path of paths) {
      const answer = await raw([`GET ${path} HTTP/1.1`, ...headers()])
      expect([path, statusOf(answer)]).toEqual([path, 403])
      expect(answer).toContain(`{"error":"${code}"}`)
    }
    expect(requests).toEqual([])
  })

  it('refuses an absolute target and an upgrade', async () => {
    expect(statusOf(await raw(['GET http://evil.example/api/jobs HTTP/1.1', host()]))).toBe(400)
    expect(statusOf(await raw(['GET /api/events HTTP/1.1', host(), 'Upgrade: websocket']))).toBe(400)
    expect(requests).toEqual([])
  })

  it('accepts its own page and local clients', async () => {
    for (const headers of [
      [host()],
      [`Host: LOCALHOST:${server.port}`],
      [host(), `Origin: http://127.0.0.1:${server.port}`],
      [host(), 'Sec-Fetch-Site: same-origin'],
      [host(), 'Sec-Fetch-Site: none'],
    ]) {
      const proof = await openPage()
      expect(statusOf(await raw(['GET /api/jobs HTTP/1.1', ...headers, ...proof]))).toBe(200)
    }
    expect(statusOf(await raw(['GET /api/jobs HTTP/1.1', host()]))).toBe(200)
  })

  it('refuses HTTP/1.0, which simple reverse proxies use', async () => {
    for (const path of paths) {
      const answer = await raw([`GET ${path} HTTP/1.0`, host()])
      expect(answer).toMatch(/^HTTP\/1\.1 403 .*\{"error":"forbidden_forwarded"\}$/s)
      const withoutHost = await raw([`GET ${path} HTTP/1.0`])
      expect(withoutHost).toMatch(/^HTTP\/1\.1 403 .*\{"error":"forbidden_host"\}$/s)
    }
    expect(requests).toEqual([])
  })

  it('redirects localhost to the bound address', async () => {
    for (const [name, taints] of [
      ['localhost', ['Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate']],
      ['[::1]', ['Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate']],
      ['LOCALHOST', ['Accept: text/html,*/*']],
    ] as const) {
      for (const path of ['/', '/jobs?status=running', '/api/jobs', '//evil.example']) {
        const answer = await raw([`GET ${path} HTTP/1.1`, `Host: ${name}:${server.port}`, ...taints])
        expect([name, path, statusOf(answer)]).toEqual([name, path, 307])
        expect(answer).toContain(`location: ${server.url}${path}\r\n`)
        expect(answer).toContain('cache-control: no-store\r\n')
      }
    }
    for (const path of ['/', '/jobs/x?a=1'])
      expect(await raw([`GET ${path} HTTP/1.1`, `Host: localhost:${server.port}`, 'Sec-Fetch-Mode: cors'])).toContain(
        `location: ${server.url}${path}\r\n`,
      )
    // Programs that call the API are not sent anywhere, and nothing but a page is opened.
    expect(statusOf(await raw(['GET /api/jobs HTTP/1.1', `Host: localhost:${server.port}`]))).toBe(200)
    expect(statusOf(await raw(['GET /api/jobs HTTP/1.1', host(), 'Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate']))).toBe(401)
  })

  it('redirects every other name of its address', async () => {
    const own = await startDashboardServer({
      dashboard,
      host: 'localhost',
      port: 0,
      authMode: () => 'local-trust',
      log: silentLog,
      appUrl: 'http://localhost:3000',
      tls: null,
    })
    expect(own.origins()).toEqual([own.url])
    expect(new URL(own.url).hostname).toMatch(/^(127\.0\.0\.1|\[::1\])$/)
    await own.close()
  })

  it.runIf(LAN !== undefined)('leads a page of the network to HTTPS, whatever port it was asked for at', async () => {
    const vault = { get: async () => null, set: async () => undefined }
    const quiet = { warn: () => undefined, hide: () => undefined }
    const tls = await createCertificates({ file: join(folder, 'certificate.pem'), vault, names: () => [LAN!], log: quiet }).current()
    const place = { host: '0.0.0.0', port: 0, authMode: () => 'local-auth' as const, appUrl: null, tls, log: silentLog }
    const shared = await startDashboardServer({ ...place, dashboard })
    onTestFinished(() => shared.close())
    for (const named of ['', ':80', `:${shared.port}`, ':99999']) {
      const headers = { host: `${LAN}${named}`, accept: 'text/html' }
      const { statusCode, headers: answer } = await new Promise<IncomingMessage>((resolve, reject) =>
        get({ host: LAN, port: shared.port, path: '/chat?a=1', headers, agent: false }, (response) => resolve(response.resume())).on(
          'error',
          reject,
        ),
      )
      expect([named, statusCode, answer.location]).toEqual([named, 307, `https://${LAN}:${shared.port}/chat?a=1`])
    }
  })

  it('asks in the language of the person to open the page again', async () => {
    await serve('local-trust', { language: 'de' })
    const { status, body } = await dashboard.openAgainPage()
    const page = (body as Buffer).toString()
    expect(status).toBe(403)
    expect(page).toContain('<html lang="de">')
    expect(page).toContain('Um Deckhand zu öffnen, klicke in die Adresszeile und drücke die Eingabetaste.')
  })

  it('lets no page of another origin embed a response', async () => {
    const policy = 'cross-origin-resource-policy: same-origin\r\n'
    for (const line of [
      'GET / HTTP/1.1',
      'GET /api/jobs HTTP/1.1',
      'GET /icon.svg HTTP/1.1',
      'GET /no such HTTP/1.1',
      'PUT /api/agent HTTP/1.1',
    ]) {
      expect(await raw([line, host()])).toContain(policy)
    }
    expect(await raw(['GET / HTTP/1.1', 'Host: evil.example'])).toContain(policy)
  })

  it('accepts the configured public address', async () => {
    await serve('local-trust', { appUrl: 'https://deck.example.org' })
    expect(
      statusOf(await raw(['GET /api/jobs HTTP/1.1', 'Host: deck.example.org', 'Origin: https://deck.example.org', ...(await openPage())])),
    ).toBe(200)
  })
})

describe('every route in every mode', () => {
  const EVIL = 'https://evil.example'
  const hostile: [string, () => string[], (mode: AuthMode) => string | null][] = [
    ['a foreign host', () => ['Host: evil.example'], () => 'forbidden_host'],
    ['two hosts', () => [host(), 'Host: evil.example'], () => 'forbidden_host'],
    ['no address to name', () => ['Host: 0.0.0.0'], () => 'forbidden_host'],
    ['a foreign origin', () => [host(), `Origin: ${EVIL}`], () => 'forbidden_origin'],
    ['our origin beside a foreign one', () => [host(), `Origin: ${server.url}`, `Origin: ${EVIL}`], () => 'forbidden_origin'],
    ['a cross-site request', () => [host(), 'Sec-Fetch-Site: cross-site'], () => 'forbidden_origin'],
    ['a same-site request', () => [host(), 'Sec-Fetch-Site: same-site'], () => 'forbidden_origin'],
    [
      'a forwarded request',
      () => [host(), 'X-Forwarded-For: 127.0.0.1'],
      (mode) => (mode === 'local-trust' ? 'forbidden_forwarded' : null),
    ],
  ]

  it.each(['local-trust', 'local-auth', 'bearer-token'] as const)('refuses hostile headers in %s, also with the secret', async (mode) => {
    await serve(mode)
    for (const [what, headers, codeIn] of hostile) {
      const code = codeIn(mode)
      if (code === null) continue
      const routes = [...Object.values<Route>(ROUTES), ...Object.values<Route>(AUTH_ROUTES), { method: 'GET', path: '/' }]
      const expectRefused = async (line: string) => {
        const answer = await raw([line, ...headers(), `Authorization: Bearer ${SECRET}`])
        expect([what, line, statusOf(answer), answer.includes(`{"error":"${code}"}`)]).toEqual([what, line, 403, true])
        expect(answer).not.toMatch(/access-control/i)
      }
      await Promise.all(routes.map(({ method, path }) => expectRefused(`${method} ${path.replace(/:\w+/g, JOB)} HTTP/1.1`)))
    }
    expect(requests).toEqual([])
  })
})

describe('another account of this machine', () => {
  it.runIf(canActAsOtherAccount())('gets nothing in local-trust, not even the page', async () => {
    const asNobody = async (path: string) => {
      const script = `fetch('${server.url}${path}').then(async (answer) => console.log(answer.status, await answer.text()))`
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], OTHER_ACCOUNT)
      return stdout.trim()
    }
    for (const path of ['/', '/api/jobs', '/api/browser']) expect(await asNobody(path)).toBe('403 {"error":"forbidden_account"}')
    await serve('local-auth')
    expect(await asNobody('/api/jobs')).toMatch(/^401 /)
    expect(requests).toEqual([])
  })
})

describe('a browser in local-trust', () => {
  const BROWSERS = [['Sec-Fetch-Site: same-origin'], ['Sec-Fetch-Site: none'], ['Sec-Fetch-Dest: empty']]
  const origin = () => `Origin: ${server.url}`

  it('reads and changes nothing without both the cookie and the key of its page', async () => {
    const [cookie, key] = await openPage()
    const [otherCookie] = await openPage()
    const expectRefused = async (request: string, ...headers: string[]) => {
      const answer = await raw([request, host(), ...headers])
      expect([request, headers, statusOf(answer), answer.includes('{"error":"link_required"}')]).toEqual([request, headers, 401, true])
    }
    const closed = Object.values<Route>(ROUTES).filter(({ path }) => path !== ROUTES.openapi.path && path !== ROUTES.health.path)
    // At once, so that they share the lists of sockets.
    await Promise.all(closed.map(({ method, path }) => expectRefused(`${method} ${path.replace(/:\w+/g, JOB)} HTTP/1.1`, origin())))
    for (const proof of [[], [cookie], [key], [otherCookie, key], [cookie, `${key}x`], [cookie.slice(0, -1), key]]) {
      for (const browser of [[origin()], ...BROWSERS]) await expectRefused('GET /api/jobs HTTP/1.1', ...browser, ...proof)
    }
    expect(requests).toEqual([])
    expect(statusOf(await raw(['GET /api/jobs HTTP/1.1', host(), origin(), cookie, key]))).toBe(200)
    expect(requests[0]!.rawHeaders.join()).not.toMatch(/cookie|deckhand-page/i)
  })

  it('is opened by a link once, within ten minutes, and not after a start', async () => {
    const redeem = (token: string) => post('/api/browser', { token }).then((answer) => answer.status)
    const mint = (key = LINK_KEY) => createBrowserLink(server.url, key, now).split('#open=')[1]!
    const token = mint()
    expect([await redeem(token), await redeem(token)]).toEqual([200, 401])
    const late = mint()
    now += 10 * 60_000 + 1
    expect(await redeem(late)).toBe(401)
    expect(await redeem(mint('another-link-key-0123456789-abcdefgh'))).toBe(401)
    for (const wrong of ['', '.', '..', 'a.b.c', token.slice(0, -1), `${token}x`, 'x'.repeat(5000)]) expect(await redeem(wrong)).toBe(401)
    for (const body of ['', '[]', 'null', '{"token":1}', '{'])
      expect(
        (await fetch(`${server.url}/api/browser`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status,
      ).toBe(401)
    expect((await fetch(`${server.url}/api/browser`, { method: 'POST', body: 'token=1' })).status).toBe(415)
  })

  it('lets the command line replace the secret: from this machine, with the key of this start, once', async () => {
    const mint = (purpose: TokenPurpose = 'replace_secret', key = LINK_KEY) => createOneTimeToken(key, purpose, now)
    const command = (token: string, headers: Record<string, string> = {}, path = 'replace_secret', method = 'POST') =>
      fetch(`${server.url}/api/local/${path}`, { method, headers: { 'x-deckhand-token': token, ...headers } }).then(({ status }) => status)
    for (const mode of ['local-trust', 'local-auth', 'bearer-token'] as const) {
      await serve(mode)
      // Browsers and the network get what they get for an unknown path.
      const [token, late] = [mint(), mint()]
      replaced = 0
      expect([await command(token), replaced]).toEqual([200, 1])
      const wrong = ['', 'a.b.c', token, mint('open'), mint('accounts_changed'), mint('replace_secret', 'x'.repeat(40))]
      for (const one of wrong) expect(await command(one)).toBe(404)
      expect(await command(mint(), {}, 'something_else')).toBe(404)
      expect(await command(mint(), { origin: server.url })).toBe(401)
      expect(await command(mint(), { 'sec-fetch-site': 'same-origin' })).toBe(401)
      const fromNetwork = await dashboard.respond({
        via: 'http',
        method: 'POST',
        target: '/api/local/replace_secret',
        authorizations: [],
        address: '192.168.1.7',
        header: (name) => (name === 'x-deckhand-token' ? mint() : undefined),
        isSecure: true,
        body: null,
        signal: AbortSignal.timeout(60_000),
      })
      expect(fromNetwork.status).toBe(mode === 'local-trust' ? 404 : 401)
      now += 10 * 60_000 + 1
      expect([await command(late), replaced]).toEqual([404, 1])
    }
    expect(requests).toEqual([])
  })

  it('has a cookie that no script and no other site gets, for thirty days', async () => {
    const token = createBrowserLink(server.url, LINK_KEY, now).split('#open=')[1]
    const cookie = (await post('/api/browser', { token })).headers.get('set-cookie')!
    expect(cookie).toMatch(/^deckhand_[\w-]{8}=[\w.-]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/)
    const proof = await openPage()
    const ask = async () => statusOf(await raw(['GET /api/jobs HTTP/1.1', host(), origin(), ...proof]))
    now += 29 * 86_400_000
    expect(await ask()).toBe(200)
    now += 2 * 86_400_000
    expect(await ask()).toBe(401)
  })

  it('gets the key of the page only for a page that a person opened', async () => {
    const [cookie, key] = await openPage()
    const open = (...headers: string[]) => raw(['GET /jobs HTTP/1.1', host(), 'Accept: text/html', ...headers])
    const byPerson = ['Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document']
    const value = key.split(' ')[1]!
    expect(await open(cookie, ...byPerson)).toContain(`<meta name="deckhand-page" content="${value}">`)
    for (const headers of [
      byPerson,
      [cookie],
      [cookie, 'Sec-Fetch-Site: same-origin', 'Sec-Fetch-Dest: document'],
      [cookie, 'Sec-Fetch-Site: same-origin', 'Sec-Fetch-Dest: empty'],
      [cookie, 'Sec-Fetch-Site: none', 'Sec-Fetch-Dest: iframe'],
    ]) {
      const answer = await open(...headers)
      expect([headers, statusOf(answer), answer.includes(value)]).toEqual([headers, 200, false])
    }
  })

  it('learns whether it is open, and that is all there is in another mode', async () => {
    const ask = async (...headers: string[]) =>
      (await raw(['GET /api/browser HTTP/1.1', host(), origin(), ...headers])).split('\r\n\r\n')[1]
    expect(await ask()).toBe('{"isOpened":false,"needsSignIn":false}')
    expect(await ask(...(await openPage()))).toBe('{"isOpened":true,"needsSignIn":false}')
    await serve('local-auth')
    expect(await ask()).toBe('{"isOpened":false,"needsSignIn":true}')
    await serve('bearer-token')
    expect(await ask()).toContain('unauthorized')
  })
})

describe('local-auth', () => {
  beforeEach(() => serve('local-auth'))

  it('requires the secret for every path over HTTP', async () => {
    for (const path of ['/api/jobs', '/api/missing', '/api/events']) {
      const answer = await fetch(server.url + path)
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({ error: 'unauthorized' })
    }
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200)
    expect((await fetch(server.url)).status).toBe(200)
    expect((await fetch(`${server.url}/api/jobs`, { headers: { authorization: `Bearer ${SECRET}` } })).status).toBe(200)
  })

  it.each([
    ['empty', ''],
    ['no scheme', SECRET],
    ['one short', `Bearer ${SECRET.slice(0, -1)}`],
    ['one more', `Bearer ${SECRET}x`],
    ['a space', `Bearer  ${SECRET}`],
    ['long', `Bearer ${'a'.repeat(8_000)}`],
  ])('refuses a bearer that is %s', async (_case, value) => {
    const answer = await raw(['GET /api/jobs HTTP/1.1', host(), `Authorization: ${value}`])
    expect(statusOf(answer)).toBe(401)
    expect(requests).toEqual([])
  })

  it('is obeyed by the next request of an open connection', async () => {
    let authMode: AuthMode = 'local-trust'
    await serve(() => authMode)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = () =>
      new Promise((resolve, reject) => {
        const asked = get(`${server.url}/api/jobs`, { agent }, (answer) =>
          answer.resume().on('end', () => resolve([answer.statusCode, asked.reusedSocket])),
        ).on('error', reject)
      })
    expect(await ask()).toEqual([200, false])
    authMode = 'local-auth'
    expect(await ask()).toEqual([401, true])
    authMode = 'local-trust'
    expect(await ask()).toEqual([200, true])
    agent.destroy()
  })

  it('refuses two bearers even if one is right', async () => {
    expect(statusOf(await raw(['GET /api/jobs HTTP/1.1', host(), `Authorization: Bearer ${SECRET}`, 'Authorization: Bearer x']))).toBe(401)
  })
})

describe('the window', () => {
  const ask = (path: string, init?: RequestInit) => dashboard.handle(new Request(`app://deckhand${path}`, init), { via: 'window' })

  it('gets the page, the routes and streams without a secret', async () => {
    await serve('local-auth')
    expect(await (await ask('/')).text()).toContain('Deckhand')
    const posted = await ask('/api/agent', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"task":"x"}' })
    expect(posted.status).toBe(200)
    await expect.poll(() => requests[0]).toMatchObject({ body: '{"task":"x"}', headers: { authorization: `Bearer ${SECRET}` } })
    const left = Promise.withResolvers<void>()
    behave = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      response.on('close', () => left.resolve())
    }
    const events = (await ask('/api/events')).body!.getReader()
    expect(new TextDecoder().decode((await events.read()).value)).toBe('data: 1\n\n')
    await events.cancel()
    await left.promise
  })
})

describe('the window, before the runner is ready', () => {
  const ask = () => dashboard.handle(new Request('app://deckhand/api/jobs'), { via: 'window' })

  it('gets a response once the runner is ready', async () => {
    runnerIsThere = false
    const answer = ask()
    soon.resolve({ host: '127.0.0.1', port: (runner.address() as { port: number }).port, secret: SECRET })
    expect((await answer).status).toBe(200)
  })

  it('gets 503 if no runner becomes ready', async () => {
    runnerIsThere = false
    soon.resolve(null)
    expect((await ask()).status).toBe(503)
  })
})

describe('a taken port', () => {
  it('is reported, and nothing is sent to the program that uses it', async () => {
    const { port } = runner.address() as { port: number }
    await expect(
      startDashboardServer({ dashboard, host: '127.0.0.1', port, authMode: () => 'local-trust', appUrl: null, tls: null, log: silentLog }),
    ).rejects.toMatchObject({ name: 'PortTakenError', port })
    expect(requests).toEqual([])
  })
})

describe('a connection that stays silent', () => {
  it.each([[''], ['GET / HT']])('is closed without a response, which a browser would show for its next request: %j', async (sent) => {
    const deadlines = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 10 }
    const place = { host: '127.0.0.1', port: 0, authMode: () => 'local-trust' as const, appUrl: null, tls: null, log: silentLog }
    const impatient = await startDashboardServer({ ...place, dashboard, deadlines })
    let received = ''
    await new Promise((resolve) =>
      connect(impatient.port, '127.0.0.1')
        .on('data', (chunk) => (received += chunk.toString()))
        .on('error', () => undefined)
        .on('close', resolve)
        .write(sent),
    )
    expect(received).toBe('')
    await impatient.close()
  })
})

describe('closing', () => {
  it('ends open streams', async () => {
    behave = (_request, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    // Only a response that the client has can end.
    const answer = await new Promise<IncomingMessage>((resolve, reject) => get(`${server.url}/api/events`, resolve).on('error', reject))
    const ended = new Promise((resolve) =>
      answer
        .on('error', () => undefined)
        .on('close', resolve)
        .resume(),
    )
    await server.close()
    await ended
  })
})
