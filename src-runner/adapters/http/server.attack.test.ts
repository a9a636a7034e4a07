import { METHODS } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AuthMode } from '../../contract/port.ts'
import { ROUTES as TABLE, type Route, type RouteName as NameInTable } from '../../contract/routes.ts'
import type { Deadlines } from '../../platform/net/node-http.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLog } from '../../lib/log.ts'
import { createLiveJobStreams } from '../../platform/events/live-job-streams.ts'
import { shareOf } from '../../testing/share-of.ts'
import { sendRaw, toBytes, type RawAnswer, type RawRequest } from '../../testing/raw-http.ts'
import type { Handlers } from './handler.ts'
import { MCP_ROUTE } from './mcp/mcp-endpoint.ts'
import { createHttpServer, type HttpServer } from './server.ts'

const SECRET = 'the-worker-secret-of-this-test-0123456789'
const ORIGIN = 'http://127.0.0.1:3000'
const ID = '018f4e9a-7b1c-7c3d-8e4f-0123456789ab'

/** The routes of the table, and the one beside it. */
const ROUTES: Record<RouteName, Route> = {
  ...TABLE,
  mcp: { ...MCP_ROUTE, status: 200, summary: '', errors: [], body: z.unknown(), answer: z.unknown() },
}
type RouteName = NameInTable | 'mcp'
const NAMES = Object.keys(ROUTES) as RouteName[]
const BODY_NAMES = NAMES.filter((name) => 'body' in ROUTES[name])

/** A valid body for each route, so that only the attack can be refused. */
const BODIES: Partial<Record<RouteName, unknown>> = {
  runWorker: { jobId: ID },
  submitTask: { task: 'x' },
  chat: { agentId: ID, message: 'x' },
  chatStream: { agentId: ID, message: 'x' },
  createAgent: { name: 'x' },
  updateAgent: { name: 'x' },
  createProvider: { kind: 'openai', name: 'x' },
  checkCodingProgram: { cli: 'claude' },
  createCodeTask: { agentId: ID, cli: 'claude', folder: '/nowhere', task: 'x' },
  updateProvider: { name: 'x' },
  setModelPrice: { model: { providerId: 'demo', model: 'demo' }, price: null },
  updateSettings: { concurrency: 2 },
  setPauseAll: { pauseAll: false },
  resolveApproval: { approvalId: ID, decision: 'approve' },
  createRule: { effect: 'ask', tool: 'x' },
  simulateCall: { tool: 'x' },
  updateWebSearch: { webSearch: null },
  undoFile: { path: 'Docs/a' },
  createMemory: { text: 'x' },
  updateMemory: { text: 'x' },
  createToken: { name: 'x', expiresAt: null },
  importSetup: { head: { deckhand: 'export', version: 1, at: 0, setup: {} }, dryRun: true },
  createTrigger: { name: 'x', taskTemplate: 'x' },
  previewTemplate: { taskTemplate: 'x', payload: '{}' },
  testTrigger: { payload: '{}' },
  createSchedule: { name: 'x', agentId: ID, cron: '0 9 * * *', timezone: 'UTC', task: 'x' },
  updateSchedule: { name: 'x' },
  runTick: {},
  createChannel: { agentId: ID, kind: 'telegram', token: 'x' },
  updateChannel: { enabled: true },
  updateChannelPerson: { role: 'owner' },
  updateCredential: { name: 'x' },
  createMcpServer: { transport: { kind: 'http', url: 'https://tools.example/mcp' } },
  updateMcpServer: { enabled: true },
  acceptMcpTools: { tools: [{ name: 'x', digest: 'a'.repeat(64), effect: 'read' }] },
  createCredential: { connector: 'github', secret: { key: 'x' } },
  createAuthorization: { connector: 'github' },
  finishPastedAuthorization: { address: 'x' },
  beginAuthorization: { provider: 'github', session: 'x' },
  finishAuthorization: { provider: 'github', session: 'x', query: 'code=x' },
  installSkillBySource: { source: '/nowhere' },
  uninstallSkillBySlug: { slug: 'x' },
  updateSkillBySlug: { slug: 'x' },
  previewUpdateBySlug: { slug: 'x' },
  acknowledgeUpdateBySlug: { slug: 'x' },
  previewSkill: { source: '/nowhere' },
  installSkill: { source: '/nowhere', expectedDigest: `sha256:${'0'.repeat(64)}` },
  browseSkills: { source: '/nowhere' },
  checkSkill: { files: [] },
  createSkill: { files: [] },
  saveSkill: { files: [], expectedDigest: `sha256:${'0'.repeat(64)}` },
  previewSkillUpdate: {},
  updateSkillSettings: { agent: { agentId: ID, has: false } },
  updateSkill: { expectedDigest: `sha256:${'0'.repeat(64)}` },
  startPairing: { agentId: ID },
  updatePublicAddress: { url: null },
  startTunnel: { program: 'ngrok' },
  deleteDue: { kind: 'jobs' },
  importHistory: { lines: [] },
  importMcpServers: { chosen: ['0'.repeat(64)] },
  signInToMcpServer: {},
  readMcpPaste: { text: 'x' },
  mcp: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_agents', arguments: {} } },
}
/** The required query of a route. */
const QUERIES: Partial<Record<RouteName, string>> = {
  getFileDiff: '?path=Docs%2Fa',
  getRetained: '?kind=jobs',
  getCodeTaskDiff: '?path=a',
  listCodeRepositories: `?agentId=${ID}`,
  previewCron: '?cron=x&timezone=UTC',
  sumUpSchedules: '?from=0',
  getPairing: `?agentId=${ID}`,
  searchMcpRegistry: '?q=x',
}

/** Each name meets one value in eight in each mode, and others in the other modes. */
const SHARES = 8

/** For `it.each`: each value with its place and their count. */
function numbered<Value>(values: readonly Value[]): [Value, number, number][] {
  return values.map((value, n) => [value, n, values.length])
}

const MODES: AuthMode[] = ['local-trust', 'local-auth', 'bearer-token']

describe.each(MODES)('the server in %s', (authMode) => {
  /** The cases that meet the value at place `n` of `count`. */
  const share = <Case>(cases: readonly Case[], n: number, count: number) =>
    shareOf(cases, n + MODES.indexOf(authMode), Math.min(SHARES, count))
  let server: HttpServer
  let port: number
  let handled: RouteName[] = []

  const create = (deadlines?: Deadlines) =>
    createHttpServer({
      // The tool of the request to /mcp lists agents.
      handlers: recordingHandlers((name) => handled.push(name)),
      auth: { authMode, workerSecret: SECRET },
      // Nobody but the holder of the secret is known here.
      limited: { identify: async () => 'unauthorized', confine: (_route, input) => input },
      gate: { authMode, hosts: new Set(['deckhand.lan']), origins: new Set() },
      clock: systemClock,
      log: silentLog,
      deadlines,
      mcp: { liveStreams: createLiveJobStreams(), answersApprovals: () => true, newSessionId: () => ID },
    })
  beforeAll(async () => {
    server = create()
    port = (await server.listen('127.0.0.1', 0)).port
  })
  afterAll(() => server.close())

  /** A valid request to a route, which the test changes. */
  function good(name: RouteName): RawRequest {
    const route: Route = ROUTES[name]
    const body = BODIES[name] === undefined ? undefined : JSON.stringify(BODIES[name])
    const headers: [string, string][] = [
      ['Host', '127.0.0.1:3001'],
      ['Connection', 'close'],
      ['Authorization', `Bearer ${SECRET}`],
    ]
    if (name === 'mcp') headers.push(['Accept', 'application/json, text/event-stream'])
    if (body !== undefined) headers.push(['Content-Type', 'application/json'], ['Content-Length', String(Buffer.byteLength(body))])
    return { method: route.method, target: route.path.replace(':number', '1').replace(/:\w+/g, ID) + (QUERIES[name] ?? ''), headers, body }
  }

  function without(request: RawRequest, name: string): RawRequest {
    return { ...request, headers: request.headers.filter(([header]) => header.toLowerCase() !== name) }
  }

  function having(request: RawRequest, ...headers: [string, string][]): RawRequest {
    const replaced = headers.reduce((sofar, [name]) => without(sofar, name.toLowerCase()), request)
    return { ...replaced, headers: [...replaced.headers, ...headers] }
  }

  function withBody(request: RawRequest, body: string | Buffer): RawRequest {
    return { ...having(request, ['Content-Type', 'application/json'], ['Content-Length', String(Buffer.byteLength(body))]), body }
  }

  async function send(request: RawRequest, to = port): Promise<RawAnswer & { handled: RouteName[] }> {
    handled = []
    const answer = await sendRaw(to, toBytes(request))
    return { ...answer, handled }
  }

  async function expectRefused(request: RawRequest, status: number, code: string): Promise<void> {
    const answer = await send(request)
    expect({ status: answer.status, error: errorOf(answer), handled: answer.handled }).toEqual({ status, error: code, handled: [] })
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  }

  async function expectHandled(request: RawRequest, name: RouteName): Promise<void> {
    const answer = await send(request)
    expect({ status: answer.status, handled: answer.handled }).toEqual({
      status: ROUTES[name].status,
      handled: [name === 'mcp' ? 'listAgents' : name],
    })
  }

  it('handles a valid request on every route', async () => {
    for (const name of NAMES) await expectHandled(good(name), name)
  })

  it('accepts a request without a secret only where the route table says so', async () => {
    for (const name of NAMES) {
      const { access } = ROUTES[name]
      const request = without(good(name), 'authorization')
      if (access === 'worker') await expectRefused(request, 403, 'invalid_worker_secret')
      else if (access === 'runner' && authMode !== 'local-trust') await expectRefused(request, 401, 'unauthorized')
      else await expectHandled(request, name)
    }
  })

  it.each(
    numbered([
      'evil.example',
      'evil.example:3001',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '127.0.0.1@evil.example',
      '[::ffff:127.0.0.1]',
      '2130706433',
      '0x7f000001',
      '0.0.0.0:3001',
      '127.1',
      'localhost..',
      'localhost:3001:1',
      'a'.repeat(300),
      '',
    ]),
  )('refuses the host %j on routes and on unknown paths', async (host, n, count) => {
    for (const name of share(NAMES, n, count)) await expectRefused(having(good(name), ['Host', host]), 403, 'forbidden_host')
    await expectRefused({ ...having(good('health'), ['Host', host]), target: '/nowhere' }, 403, 'forbidden_host')
  })

  it.each(numbered(['LOCALHOST', 'localhost.', 'localhost:3001', '127.0.0.1', '[::1]:3001', 'deckhand.lan:3001']))(
    'lets the host %j in',
    async (host, n, count) => {
      for (const name of share(NAMES, n, count)) await expectHandled(having(good(name), ['Host', host]), name)
    },
  )

  it('refuses a missing host and two hosts, in either order and in HTTP/1.0 too', async () => {
    const attacks: ([string, string] | 'HTTP/1.0')[] = [
      ['localhost', 'evil.example'],
      ['evil.example', 'localhost'],
      ['localhost', 'localhost'],
      'HTTP/1.0',
    ]
    for (const [i, name] of NAMES.entries()) {
      const request = without(good(name), 'host')
      await expectRefused(request, 403, 'forbidden_host')
      for (const hosts of share(attacks, i, attacks.length)) {
        if (hosts === 'HTTP/1.0') {
          const old = await sendRaw(port, toBytes(request).toString('latin1').replace('HTTP/1.1', hosts))
          expect({ status: old.status, handled }).toEqual({ status: 403, handled: [] })
        } else {
          await expectRefused({ ...request, headers: [...request.headers, ['Host', hosts[0]], ['host', hosts[1]]] }, 403, 'forbidden_host')
        }
      }
    }
  })

  it.each(numbered(['https://evil.example', 'null', 'http://localhost:5173', `${ORIGIN}.evil`, 'file://', `${ORIGIN}/`, '']))(
    'refuses the origin %j on routes',
    async (origin, n, count) => {
      for (const name of share(NAMES, n, count)) await expectRefused(having(good(name), ['Origin', origin]), 403, 'forbidden_origin')
    },
  )

  it('refuses every request of a web page', async () => {
    const sites = ['cross-site', 'same-site', 'Cross-Site', 'same-origin']
    const attacks: [string, string][][] = [
      ...sites.map((site): [string, string][] => [['Sec-Fetch-Site', site]]),
      ...sites.map((site): [string, string][] => [
        ['Host', 'localhost:3001'],
        ['Sec-Fetch-Site', site],
      ]),
      ...[ORIGIN, 'http://127.0.0.1:3001', 'http://localhost:3001'].map((origin): [string, string][] => [['Origin', origin]]),
    ]
    for (const [i, name] of NAMES.entries()) {
      for (const headers of share(attacks, i, attacks.length)) await expectRefused(having(good(name), ...headers), 403, 'forbidden_origin')
      // Typed by a person, not sent by a page.
      await expectHandled(having(good(name), ['Sec-Fetch-Site', 'none']), name)
    }
  })

  it('refuses HTTP/1.0, which a plain reverse proxy speaks', async () => {
    for (const name of NAMES) {
      handled = []
      const old = await sendRaw(port, toBytes(good(name)).toString('latin1').replace('HTTP/1.1', 'HTTP/1.0'))
      expect([name, old.status, errorOf(old), handled]).toEqual([name, 403, 'forbidden_forwarded', []])
    }
  })

  it('lets no page of another origin embed a response', async () => {
    const requests = [good('health'), having(good('health'), ['Host', 'evil.example']), { ...good('health'), target: '/nowhere' }]
    for (const bytes of [
      ...requests.map(toBytes),
      'no http\r\n\r\n',
      'POST /webhooks/a/b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ]) {
      expect((await sendRaw(port, bytes)).headers.get('cross-origin-resource-policy')).toBe('same-origin')
    }
  })

  it('refuses a POST of a page without a body or preflight', async () => {
    const request = having(without(good('cancelJob'), 'content-type'), ['Sec-Fetch-Site', 'cross-site'], ['Sec-Fetch-Mode', 'no-cors'])
    await expectRefused(request, 403, 'forbidden_origin')
  })

  it.each(numbered(['X-Forwarded-For', 'X-Forwarded-Host', 'Forwarded', 'X-Real-IP', 'CF-Connecting-IP', 'Via']))(
    'judges a request forwarded with %s',
    async (header, n, count) => {
      for (const name of share(NAMES, n, count)) {
        const request = having(good(name), [header, '127.0.0.1'])
        if (authMode === 'local-trust') await expectRefused(request, 403, 'forbidden_forwarded')
        else await expectHandled(request, name)
      }
    },
  )

  it('lets only the webhook path around the gate', async () => {
    const foreign = { ...having(good('health'), ['Host', 'evil.example'], ['X-Forwarded-For', '1.2.3.4']), method: 'POST' }
    await expectRefused({ ...foreign, target: '/webhooks/a/b' }, 404, 'not_found')
    for (const target of ['/webhooks/a', '/webhooks/a/b/c', '//webhooks/a/b', '/Webhooks/a/b', 'http://evil.example/webhooks/a/b']) {
      await expectRefused({ ...foreign, target }, 403, 'forbidden_host')
    }
    await expectRefused({ ...foreign, method: 'GET', target: '/webhooks/a/b' }, 403, 'forbidden_host')
  })

  it('sends the same bytes for a webhook slug of any length and encoding', async () => {
    const slugs = ['a', 'a%2Fb', 'a%00b', '%2e%2e', 'a'.repeat(100), 'a'.repeat(101), 'b'.repeat(5000), '%F0%9F%98%80', '%zz']
    const answers: string[] = []
    for (const slug of slugs) {
      const answer = await send({ ...good('health'), method: 'POST', target: `/webhooks/${slug}/s3cret` })
      answers.push(answer.text.replace(/Date: .*/, ''))
    }
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toContain('{"error":"not_found"}')
  })

  it.each(
    numbered([
      'text/plain',
      'text/plain;application/json',
      'application/json\ta',
      'application/json; charset=utf-7',
      'application/json; charset=utf-8; boundary=x',
      'application/jsonp',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/vnd.api+json',
      '',
    ]),
  )('refuses a body of type %j on routes with a body', async (type, n, count) => {
    for (const name of share(BODY_NAMES, n, count))
      await expectRefused(having(good(name), ['Content-Type', type]), 415, 'unsupported_media_type')
  })

  it.each(
    numbered([
      'application/json',
      'APPLICATION/JSON',
      ' application/json',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ]),
  )('accepts a body of type %j', async (type, n, count) => {
    for (const name of share(BODY_NAMES, n, count)) await expectHandled(having(good(name), ['Content-Type', type]), name)
  })

  it('refuses a body without a type or with compression', async () => {
    for (const [i, name] of BODY_NAMES.entries()) {
      await expectRefused(without(good(name), 'content-type'), 415, 'unsupported_media_type')
      for (const encoding of share(['gzip', 'br', 'deflate'], i, 3))
        await expectRefused(having(good(name), ['Content-Encoding', encoding]), 415, 'unsupported_media_type')
    }
  })

  it('takes an empty body in chunks for none, whatever its type, and refuses one that is not empty', async () => {
    const chunked = (name: RouteName, body: string): RawRequest => {
      const request = without(without(good(name), 'content-length'), 'content-type')
      return { ...having(request, ['Transfer-Encoding', 'chunked']), body }
    }
    const form: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded']
    for (const name of NAMES.filter((name) => ROUTES[name].method !== 'GET' && (name === 'runTick' || BODIES[name] === undefined))) {
      await expectHandled(chunked(name, '0\r\n\r\n'), name)
      await expectHandled(having(chunked(name, '0\r\n\r\n'), form), name)
      await expectRefused(having(chunked(name, '1\r\nx\r\n0\r\n\r\n'), form), 415, 'unsupported_media_type')
    }
  })

  it('checks the secret before the body', async () => {
    for (const name of BODY_NAMES.filter((name) => authMode !== 'local-trust' || ROUTES[name].access === 'worker')) {
      const request = having(good(name), ['Content-Type', 'text/plain'], ['Authorization', 'Bearer wrong'])
      const [status, code] = ROUTES[name].access === 'worker' ? ([403, 'invalid_worker_secret'] as const) : ([401, 'unauthorized'] as const)
      await expectRefused(request, status, code)
    }
  })

  it('responds to OPTIONS with 404, and to wrong methods with 405 and Allow', async () => {
    for (const name of NAMES) {
      await expectRefused({ ...without(good(name), 'authorization'), method: 'OPTIONS' }, 404, 'not_found')
    }
    for (const method of METHODS.filter((method) => !['CONNECT', 'GET', 'HEAD', 'OPTIONS'].includes(method))) {
      const answer = await send({ ...without(good('health'), 'authorization'), method })
      expect([method, answer.status, answer.headers.get('allow'), errorOf(answer)]).toEqual([
        method,
        405,
        'GET, HEAD',
        'method_not_allowed',
      ])
    }
    const unknown = await send({ ...good('health'), method: 'DELETE', target: '/nowhere' })
    expect([unknown.status, unknown.body]).toEqual([404, '{"error":"not_found"}'])
  })

  it('ignores a method in a header', async () => {
    await expectHandled(having(good('getAgent'), ['X-HTTP-Method-Override', 'DELETE'], ['X-Method-Override', 'DELETE']), 'getAgent')
  })

  it('responds to HEAD like GET without a body, and opens no stream', async () => {
    const head = await send({ ...good('health'), method: 'HEAD' })
    const length = (await send(good('health'))).headers.get('content-length')
    expect([head.status, head.body, head.headers.get('content-length')]).toEqual([200, '', length])
    expect((await send({ ...good('streamEvents'), method: 'HEAD' })).status).toBe(405)
  })

  it.each(
    numbered<[string, (path: string) => string]>([
      ['upper case', (path) => path.replace('/api/', '/API/')],
      ['double slash', (path) => `/${path}`],
      ['encoded slash', (path) => path.replace('/api/', '/api%2f')],
      ['trailing slash', (path) => `${path}/`],
      ['semicolon', (path) => `${path};x`],
      ['dot segment', (path) => path.replace('/api/', '/api/./')],
      ['parent segment', (path) => path.replace('/api/', '/x/../api/')],
      ['double encoding', (path) => path.replace('/api/', '/api%252f')],
      ['broken escape', (path) => `${path}%zz`],
      ['NUL', (path) => `${path}%00`],
      ['backslash', (path) => path.replaceAll('/', '\\')],
    ]).map(([[what, spoil], n, count]) => ({ what, spoil, n, count })),
  )('does not match an altered path: $what', async ({ spoil, n, count }) => {
    // A provider's id is any text, so with more text it is another id, which the handler refuses.
    const names = NAMES.filter((name) => name !== 'mcp' && !ROUTES[name].path.endsWith(':providerId'))
    for (const name of share(names, n, count)) {
      const [path, query] = good(name).target.split('?')
      const request = { ...good(name), target: spoil(path!) + (query === undefined ? '' : `?${query}`) }
      const answer = await send(request)
      expect([400, 404, 405]).toContain(answer.status)
      expect(answer.handled).toEqual([])
      expect(answer.body).not.toContain(request.target)
    }
  })

  it.each(['/MCP', '//mcp', '/mcp/', '/mcp;x', '/mcp%00', '/./mcp', '/x/../mcp', '/mcp%2f', '/%2fmcp', '\\mcp', '/mcp/x'])(
    'does not take %s for /mcp',
    async (target) => {
      const answer = await send({ ...good('mcp'), target })
      expect([400, 404]).toContain(answer.status)
      expect(answer.handled).toEqual([])
    },
  )

  it('sends the same bytes for every unknown path', async () => {
    const bodies = new Set<string>()
    for (const target of [
      '/',
      '/nowhere',
      '/api',
      '/api/%zz',
      `/${'x'.repeat(101)}`,
      `/${'x'.repeat(9000)}`,
      '/api/agents/a/b/c',
      '/<script>',
    ]) {
      for (const request of [good('health'), without(good('health'), 'authorization')]) {
        const answer = await send({ ...request, target })
        expect(answer.status).toBe(404)
        bodies.add(answer.body)
      }
    }
    expect([...bodies]).toEqual(['{"error":"not_found"}'])
  })

  it('refuses a target that names an authority', async () => {
    for (const [i, name] of NAMES.entries()) {
      for (const authority of share(['evil.example', '127.0.0.1:3001'], i, 2))
        await expectRefused({ ...good(name), target: `http://${authority}${good(name).target}` }, 400, 'invalid_request')
    }
  })

  it('refuses every upgrade and closes the connection', async () => {
    for (const [i, name] of NAMES.entries()) {
      const request = having(without(good(name), 'connection'), ['Connection', 'Upgrade'], ['Upgrade', 'websocket'])
      for (const isOfPage of share([false, true], i, 2)) {
        if (isOfPage) await expectRefused(having(request, ['Origin', 'https://evil.example']), 403, 'forbidden_origin')
        else await expectRefused(request, 400, 'invalid_request')
      }
    }
    await expectRefused({ ...having(good('health'), ['Upgrade', 'websocket']), target: '/nowhere' }, 400, 'invalid_request')
    const connectAnswer = await sendRaw(port, 'CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(connectAnswer.status).not.toBe(200)
  })

  it('ignores an offer of HTTP/2', async () => {
    await expectHandled(having(good('health'), ['Connection', 'close, Upgrade'], ['Upgrade', 'h2c']), 'health')
  })

  it.each(
    numbered([
      ['empty', ['Authorization', '']],
      ['no scheme', ['Authorization', SECRET]],
      ['Basic', ['Authorization', `Basic ${SECRET}`]],
      ['one byte short', ['Authorization', `Bearer ${SECRET.slice(0, -1)}`]],
      ['one byte more', ['Authorization', `Bearer ${SECRET}x`]],
      ['a second word', ['Authorization', `Bearer ${SECRET} x`]],
      ['other case', ['Authorization', `Bearer ${SECRET.toUpperCase()}`]],
      ['10 kB', ['Authorization', `Bearer ${'x'.repeat(10_000)}`]],
      ['not ASCII', ['Authorization', 'Bearer \xe9\xff']],
    ] as [string, [string, string]][]).map(([[what, header], n, count]) => ({ what, header, n, count })),
  )('does not trust a bearer that is wrong: $what', async ({ header, n, count }) => {
    for (const name of share(NAMES, n, count)) {
      const { access } = ROUTES[name]
      const request = having(good(name), header)
      if (access === 'worker') await expectRefused(request, 403, 'invalid_worker_secret')
      else if (access === 'runner' && authMode !== 'local-trust') await expectRefused(request, 401, 'unauthorized')
      else await expectHandled(request, name)
    }
  })

  it('accepts any type without a body', async () => {
    for (const name of ['pauseTrigger', 'cancelJob', 'runTick'] as const) {
      const request = { ...without(good(name), 'content-type'), body: '' }
      for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
        await expectHandled(having(request, ['Content-Type', type], ['Content-Length', '0']), name)
      }
      await expectRefused(having(withBody(request, 'x'), ['Content-Type', 'text/plain']), 415, 'unsupported_media_type')
    }
  })

  it('does not trust two bearers, even if one is right', async () => {
    const request = good('runWorker')
    await expectRefused({ ...request, headers: [...request.headers, ['authorization', 'Bearer other']] }, 403, 'invalid_worker_secret')
  })

  it('closes a connection whose header is too large or contains NUL', async () => {
    for (const value of ['x'.repeat(1_000_000), 'a\0b']) {
      const answer = await sendRaw(port, toBytes(having(good('health'), ['Authorization', `Bearer ${value}`]))).catch(() => null)
      expect(answer === null || answer.status === 400 || answer.status === 0).toBe(true)
    }
    await expectHandled(good('health'), 'health')
  })

  it.each([
    ['nothing', ''],
    ['half an object', '{"task":'],
    ['a trailing comma', '{"task":"x",}'],
    ['NaN', '{"task":NaN}'],
    ['single quotes', "{'task':'x'}"],
    ['null', 'null'],
    ['a string', '"str"'],
    ['a list', '[]'],
    ['a number beyond double', '1e400'],
    ['100,000 open brackets', '['.repeat(100_000)],
    ['480,000 nested lists', '['.repeat(480_000) + ']'.repeat(480_000)],
    ['nested objects', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ] as [string, string | Buffer][])('refuses a body of %s with 400, without repeating it', async (_what, body) => {
    for (const name of ['submitTask', 'chat', 'chatStream', 'runWorker', 'createProvider'] as const) {
      const answer = await send(withBody(good(name), body))
      expect({ status: answer.status, error: errorOf(answer), handled: answer.handled }).toEqual({
        status: 400,
        error: 'invalid_request',
        handled: [],
      })
      expect(answer.body.length).toBeLessThan(1000)
    }
  })

  it('refuses prototype keys like any unknown field', async () => {
    for (const extra of [
      '"__proto__":{"polluted":1}',
      '"constructor":{"prototype":{"polluted":1}}',
      '"hasOwnProperty":1',
      '"toString":null',
    ]) {
      await expectRefused(withBody(good('submitTask'), `{${extra},"task":"x"}`), 400, 'unknown_field')
      await expectRefused(withBody(good('submitTask'), `{"__proto__":{"task":"x"}}`), 400, 'invalid_request')
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('accepts duplicate keys, a byte order mark and a lone surrogate', async () => {
    await expectHandled(withBody(good('submitTask'), '{"task":1,"task":"x"}'), 'submitTask')
    await expectHandled(withBody(good('submitTask'), '\ufeff{"task":"x"}'), 'submitTask')
    await expectHandled(withBody(good('submitTask'), '{"task":"\\ud800"}'), 'submitTask')
  })

  it('accepts an optional body as none, as {} and as a type alone', async () => {
    for (const name of NAMES.filter((name) => ROUTES[name].method === 'POST' && !('body' in ROUTES[name]))) {
      const bare = without(without({ ...good(name), body: undefined }, 'content-type'), 'content-length')
      await expectHandled(bare, name)
      await expectHandled(withBody(good(name), '{}'), name)
      await expectHandled(having(bare, ['Content-Type', 'application/json']), name)
      await expectRefused(withBody(good(name), '{'), 400, 'invalid_request')
    }
  })

  it('accepts the longest task, and refuses a larger body with 413', async () => {
    const longest = JSON.stringify({ task: 'é'.repeat(200_000) }).replaceAll('é', '\\u00e9')
    await expectHandled(withBody(good('submitTask'), longest), 'submitTask')
    const pairs = (count: number) => JSON.stringify({ task: 'x'.repeat(count) }).replaceAll('x', '\\ud83d\\ude00')
    await expectHandled(withBody(good('submitTask'), pairs(200_000)), 'submitTask')
    await expectRefused(withBody(good('submitTask'), pairs(200_001)), 400, 'invalid_request')
    await expectRefused(withBody(good('submitTask'), `{"task":"${'x'.repeat(200_001)}"}`), 400, 'invalid_request')
    const announced = await send(having({ ...good('submitTask'), body: '' }, ['Content-Length', '2500001']))
    expect([announced.status, errorOf(announced)]).toEqual([413, 'payload_too_large'])
    const chunk = `${(65_536).toString(16)}\r\n${' '.repeat(65_536)}\r\n`
    const chunked = without(having(good('submitTask'), ['Transfer-Encoding', 'chunked']), 'content-length')
    const answer = await send({ ...chunked, body: chunk.repeat(39) })
    expect([answer.status, errorOf(answer), answer.handled]).toEqual([413, 'payload_too_large', []])
  })

  it('closes a connection whose body does not match its length, without affecting others', async () => {
    const request = good('submitTask')
    const both = await send({ ...having(request, ['Transfer-Encoding', 'chunked']), body: '0\r\n\r\n' })
    expect([both.status, both.handled]).toEqual([400, []])
    const badChunk = await send({
      ...without(having(request, ['Transfer-Encoding', 'chunked']), 'content-length'),
      body: 'zz\r\n{}\r\n0\r\n\r\n',
    })
    expect([badChunk.status, badChunk.handled]).toEqual([400, []])
    // More bytes are sent than announced. The rest is read as the next request, which is invalid and ends the connection.
    const tooMuch = await send({ ...having(without(request, 'connection'), ['Content-Length', '12']), body: '{"task":"x"}GARBAGE\r\n\r\n' })
    expect(tooMuch.text).toContain('HTTP/1.1 400')
    // The connection has ended before its account is known.
    expect(tooMuch.handled).toEqual(authMode === 'local-trust' ? [] : ['submitTask'])
  })

  it('closes connections that send headers or a body too slowly', async () => {
    const dribbled = [
      'GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-',
      'POST /api/agent HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
        `Authorization: Bearer ${SECRET}\r\nContent-Length: 500\r\n\r\n{"`,
    ]
    const impatient = create({ headersMs: 300, requestMs: 300, checkEveryMs: 50 })
    const { port: impatientPort } = await impatient.listen('127.0.0.1', 0)
    const slow = Array.from({ length: 100 }, (_, i) => closedAfterDribbling(impatientPort, dribbled[i % 2]!))
    let other = await send(good('health'), impatientPort)
    // On a busy machine this request may be too slow as well.
    while (other.status === 408) other = await send(good('health'), impatientPort)
    expect([other.status, other.handled]).toEqual([200, ['health']])
    for (const answer of await Promise.all(slow)) expect(answer).toMatch(/^(HTTP\/1\.1 408[^]*request_timeout[^]*)?$/)
    await impatient.close()
  })
})

function recordingHandlers(record: (name: RouteName) => void): Handlers {
  const entries = (Object.keys(TABLE) as NameInTable[]).map((name) => [
    name,
    () => {
      record(name)
      return 'stream' in TABLE[name] ? (sink: { end(): void }) => (sink.end(), () => {}) : {}
    },
  ])
  return Object.fromEntries(entries) as Handlers
}

function errorOf(answer: RawAnswer): unknown {
  try {
    return (JSON.parse(answer.body) as { error?: unknown }).error
  } catch {
    return undefined
  }
}

/** Writes a first piece, then a byte every 20 ms, until the server closes the connection. */
function closedAfterDribbling(port: number, first: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    let dribble: NodeJS.Timeout | undefined
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.write(first)
      dribble = setInterval(() => socket.write('x'), 20)
    })
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(dribble)
      resolve(text)
    })
  })
}
