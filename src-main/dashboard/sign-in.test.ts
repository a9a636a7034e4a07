import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ROUTES, type Route } from '../../src-runner/contract/routes.ts'
import { MAX_FROM_ADDRESS } from '../../src-runner/contract/connection-limit.ts'
import type { AuthMode } from '../../src-runner/contract/port.ts'
import { AUTH_ROUTES } from '../contract/auth-api.ts'
import { inEnglish } from '../../src-runner/lib/messages.ts'
import { shareOf } from '../../src-runner/testing/share-of.ts'
import { silentLog, type LogFields } from '../log/log.ts'
import { createSignIn, type SignIn } from '../sign-in/sign-in.ts'
import { QUICK_HASHING } from '../testing/quick-hashing.ts'
import { createBrowserProof } from './browser-proof.ts'
import { createOneTimeToken, createOneTimeTokens } from './one-time-tokens.ts'
import { createDashboard, type Dashboard } from './dashboard.ts'
import { startDashboardServer, type DashboardServer } from './server.ts'

const SECRET = 'worker-secret-of-this-test-0123456789'
const PASSWORD = 'correct horse battery'
const ID = '019a0000-0000-7000-8000-000000000001'

let folder: string
let runner: Server
let seen: string[]
let behave: (request: IncomingMessage, response: ServerResponse) => void
let mode: AuthMode
let signIn: SignIn
let dashboard: Dashboard
let server: DashboardServer
let logged: string[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-sign-in-'))
  seen = []
  logged = []
  mode = 'local-auth'
  behave = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  runner = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    behave(request, response)
  })
  await new Promise<void>((resolve) => runner.listen(0, '127.0.0.1', () => resolve()))
  const address = { host: '127.0.0.1', port: (runner.address() as { port: number }).port, secret: SECRET }
  const kept = new Map<string, string>()
  const write = (fields: LogFields, message: string) => void logged.push(JSON.stringify(fields) + message)
  const log = { ...silentLog, error: write, warn: write, info: write, hide: () => undefined }
  signIn = createSignIn({
    dataDir: folder,
    vault: { get: async (name) => kept.get(name) ?? null, set: async (name, value) => void kept.set(name, value) },
    log,
    passwords: QUICK_HASHING,
  })
  const tokens = createOneTimeTokens(SECRET)
  dashboard = createDashboard({
    assets: null,
    runner: () => address,
    runnerSoon: async () => address,
    authMode: () => mode,
    secret: () => SECRET,
    signIn,
    log,
    browserProof: createBrowserProof({ tokens, secret: () => SECRET }),
    tokens,
    replaceSecret: async () => undefined,
    createSignInToken: () => '',
    speech: async () => ({ t: inEnglish, locale: 'en' }),
  })
  server = await startDashboardServer({ dashboard, host: '127.0.0.1', port: 0, authMode: () => mode, appUrl: null, tls: null, log })
})
afterEach(async () => {
  await server.close()
  dashboard.close()
  signIn.close()
  runner.closeAllConnections()
  runner.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A browser with our page: it keeps the cookie and the page's key, and sends what browsers send. */
function browser() {
  let cookie = ''
  let pageKey = ''
  return {
    get cookie() {
      return cookie
    },
    async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(server.url + path, {
        method,
        headers: {
          'sec-fetch-site': 'same-origin',
          ...(cookie === '' ? {} : { cookie, 'x-deckhand-page': pageKey }),
          ...(body === undefined ? {} : { 'content-type': 'application/json', origin: server.url }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const given = response.headers.getSetCookie()[0]
      if (given !== undefined) cookie = given.includes('Max-Age=0') ? '' : given.split(';')[0]!
      if (given !== undefined && cookie !== '' && path !== '/api/auth/get-session') pageKey = await pageKeyOf(response)
      return response
    },
  }
}
const pageKeyOf = async (response: Response) => ((await response.clone().json()) as { pageKey: string }).pageKey
type Browser = ReturnType<typeof browser>
const json = async (response: Promise<Response>) => (await response).json() as Promise<Record<string, unknown>>
const windowCall = (method: string, path: string, body?: unknown) =>
  dashboard.handle(
    new Request(`app://deckhand${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }),
    { via: 'window' },
  )
async function owner(): Promise<Browser> {
  expect((await windowCall('POST', '/api/auth/owner', { name: 'anna', password: PASSWORD })).status).toBe(201)
  const anna = browser()
  expect((await anna.call('POST', '/api/auth/sign-in/username', { username: 'anna', password: PASSWORD })).status).toBe(200)
  return anna
}
async function member(anna: Browser): Promise<Browser> {
  const { link } = await json(anna.call('POST', '/api/auth/invitations', { role: 'member' }))
  const ben = browser()
  expect((await ben.call('POST', '/api/auth/sign-up', { link, name: 'ben', password: PASSWORD })).status).toBe(201)
  return ben
}

describe('signing in', () => {
  it('gives a strict cookie that scripts cannot read, and no token to a page', async () => {
    const anna = await owner()
    const response = await anna.call('POST', '/api/auth/sign-in/username', { username: 'anna', password: PASSWORD })
    expect(response.headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Strict$/)
    expect(await response.json()).toEqual({
      person: { id: expect.any(String), name: 'anna', role: 'owner', createdAt: expect.any(Number) },
      pageKey: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(await json(anna.call('GET', '/api/auth/get-session'))).toMatchObject({ hasOwner: true, person: { name: 'anna' } })
    expect((await anna.call('GET', '/api/jobs')).status).toBe(200)
    expect(seen).toEqual(['GET /api/jobs'])
  })

  it('needs the key of the page too, because other servers of this host receive the cookie', async () => {
    const anna = await owner()
    const { cookie } = anna
    const strangers = await member(anna)
    const theirKey = await pageKeyOf(await strangers.call('POST', '/api/auth/sign-in/username', { username: 'ben', password: PASSWORD }))
    for (const key of [undefined, '', cookie.split('=')[1]!, theirKey]) {
      const headers = { cookie, ...(key === undefined ? {} : { 'x-deckhand-page': key }) }
      expect((await browser().call('GET', '/api/jobs', undefined, headers)).status).toBe(401)
      expect((await browser().call('POST', '/api/auth/change-password', {}, headers)).status).toBe(401)
      expect(await json(browser().call('GET', '/api/auth/get-session', undefined, headers))).toMatchObject({ person: null })
    }
    expect(seen).toEqual([])
    expect((await anna.call('GET', '/api/jobs')).status).toBe(200)
  })

  it('gives a script the token of its session', async () => {
    await owner()
    const response = await fetch(`${server.url}/api/auth/sign-in/username`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'anna', password: PASSWORD }),
    })
    const { token, person } = (await response.json()) as { token: string; person: { id: string } }
    expect(await signIn.resolveSession(token)).toEqual({ userId: person.id })
  })

  it('says the same for a wrong name and a wrong password, and the reason of neither', async () => {
    await owner()
    const answers = []
    for (const username of ['anna', 'nobody']) {
      const response = await browser().call('POST', '/api/auth/sign-in/username', { username, password: 'a wrong password' })
      answers.push([response.status, await response.text(), [...response.headers.keys()].join()])
    }
    expect(answers[0]).toEqual([401, '{"error":"sign_in_failed"}', expect.any(String)])
    expect(answers[1]).toEqual(answers[0])
  })

  it('looks at the address of the socket, and at no header', async () => {
    await owner()
    const statuses = []
    for (let i = 0; i < 12; i++) {
      const forged = {
        'x-forwarded-for': `198.51.100.${i}`,
        forwarded: `for=198.51.100.${i}`,
        'x-real-ip': `198.51.100.${i}`,
        'x-socket-address': '1.2.3.4',
      }
      const response = await browser().call(
        'POST',
        '/api/auth/sign-in/username',
        { username: `n${i}`, password: 'a wrong password' },
        forged,
      )
      statuses.push(response.status)
      if (response.status === 429) expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(600)
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429])
  })

  it('refuses a password of a megabyte before it is hashed, and never repeats one', async () => {
    await owner()
    const big = await browser().call('POST', '/api/auth/sign-in/username', { username: 'anna', password: 'x'.repeat(1_000_000) })
    expect(big.status).toBe(413)
    const long = await browser().call('POST', '/api/auth/sign-in/username', { username: 'anna', password: 'long-canary'.repeat(100) })
    expect(long.status).toBe(400)
    const short = await windowCall('POST', '/api/auth/owner', { name: 'x', password: 'canary' })
    const text = (await long.text()) + (await short.text()) + logged.join('')
    expect(text).toContain('"limit":10')
    expect(text).not.toContain('canary')
    expect(logged).toEqual([])
  })

  it('is needed for every route, for unknown ones too, and never by the window or by who knows the secret', async () => {
    await owner()
    const stranger = browser()
    const forged: Record<string, string>[] = [{}, { cookie: 'deckhand.session_token=x.y' }, { authorization: 'Bearer wrong' }]
    for (const [i, route] of ([...Object.values(ROUTES), ...Object.values(AUTH_ROUTES)] as Route[]).entries()) {
      if (route.access === 'public') continue
      const path = route.path.replace(/:\w+/g, ID)
      for (const headers of shareOf(forged, i, forged.length)) {
        const response = await stranger.call(
          route.method,
          path,
          route.method === 'GET' || route.method === 'DELETE' ? undefined : {},
          headers,
        )
        expect(response.status, `${route.method} ${path}`).toBe(401)
      }
    }
    expect((await stranger.call('GET', '/api/unknown')).status).toBe(401)
    expect(seen).toEqual([])
    expect((await fetch(`${server.url}/api/jobs`, { headers: { authorization: `Bearer ${SECRET}` } })).status).toBe(200)
    expect((await windowCall('GET', '/api/jobs')).status).toBe(200)
  })

  it('does not exist in the other modes, and opens nothing there', async () => {
    for (mode of ['local-trust', 'bearer-token'] as const) {
      for (const route of Object.values(AUTH_ROUTES) as Route[]) {
        const path = route.path.replace(/:\w+/g, ID)
        const response = await browser().call(route.method, path, route.method === 'GET' ? undefined : {})
        expect(response.status, `${mode} ${route.method} ${path}`).toBe(404)
      }
    }
    expect(await signIn.hasOwner()).toBe(false)
    mode = 'local-auth'
    for (const path of [
      '/api/auth',
      '/api/auth/',
      '/api/auth/sign-up/email',
      '/api/auth/sign-in/email',
      '/api/auth/update-user',
      '/api/auth/delete-user',
      '/api/auth/ok',
    ])
      for (const method of ['GET', 'POST'])
        expect((await browser().call(method, path, method === 'GET' ? undefined : {})).status, path).toBe(404)
  })
})

const IN_NETWORK = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address

describe.runIf(IN_NETWORK !== undefined)('connections from the network', () => {
  it('are limited for each address, so that this machine always gets in', async () => {
    const shared = await startDashboardServer({
      dashboard,
      host: '0.0.0.0',
      port: 0,
      authMode: () => mode,
      appUrl: null,
      tls: null,
      log: silentLog,
    })
    const sockets: Socket[] = []
    const open = async () => {
      const socket = connect(shared.port, IN_NETWORK).on('error', () => undefined)
      sockets.push(socket)
      socket.write(`GET /api/health HTTP/1.1\r\nHost: ${IN_NETWORK}\r\n\r\n`)
      return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)])
    }
    const accepted = await Promise.all(Array.from({ length: MAX_FROM_ADDRESS }, open))
    expect([accepted.every(Boolean), await open()]).toEqual([true, false])
    expect((await fetch(`http://127.0.0.1:${shared.port}/api/health`)).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    await shared.close()
  })
})

describe('the first account', () => {
  it('is created in the window or with the setup link, never by who comes first', async () => {
    const accounts = await signIn.accounts()
    const link = accounts.createSetupToken()!
    const stranger = browser()
    expect((await stranger.call('POST', '/api/auth/owner', { name: 'mallory', password: PASSWORD })).status).toBe(401)
    const guess = await stranger.call('POST', '/api/auth/sign-up', { link: 'x'.repeat(43), name: 'mallory', password: PASSWORD })
    expect([guess.status, await guess.json()]).toEqual([410, { error: 'link_not_valid' }])
    expect(await json(stranger.call('GET', '/api/auth/get-session'))).toEqual({ hasOwner: false, person: null, damagedFile: null })
    expect(await json(stranger.call('POST', '/api/auth/link', { link }))).toEqual({ role: 'owner', invitedBy: null, isSetup: true })
    expect((await stranger.call('POST', '/api/auth/sign-up', { link, name: 'anna', password: PASSWORD })).status).toBe(201)
    expect((await stranger.call('GET', '/api/auth/people')).status).toBe(200)
    expect((await browser().call('POST', '/api/auth/sign-up', { link, name: 'eve', password: PASSWORD })).status).toBe(410)
    expect((await windowCall('POST', '/api/auth/owner', { name: 'eve', password: PASSWORD })).status).toBe(409)
  })
})

it('says where a damaged file of accounts is only to the window, programs with the secret and owners', async () => {
  writeFileSync(join(folder, 'auth.db'), 'not a database '.repeat(500))
  const damaged = expect.stringContaining(join(folder, 'auth.db.damaged-'))
  const anna = await owner()
  const ben = await member(anna)
  const askWith = (one: Browser, headers?: Record<string, string>) => json(one.call('GET', '/api/auth/get-session', undefined, headers))
  expect(await json(windowCall('GET', '/api/auth/get-session'))).toMatchObject({ damagedFile: damaged })
  expect(await askWith(browser(), { authorization: `Bearer ${SECRET}` })).toMatchObject({ damagedFile: damaged })
  expect(await askWith(anna)).toMatchObject({ damagedFile: damaged })
  expect(await askWith(ben)).toMatchObject({ person: { name: 'ben' }, damagedFile: null })
  expect(await askWith(browser())).toEqual({ hasOwner: true, person: null, damagedFile: null })
})

describe('a member', () => {
  it('may do what an owner may, except what the route tables keep for owners', async () => {
    const anna = await owner()
    const ben = await member(anna)
    const kept = ([...Object.values(ROUTES), ...Object.values(AUTH_ROUTES)] as Route[]).filter(({ ownerOnly }) => ownerOnly)
    expect(kept.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        '/api/auth/people',
        '/api/rules',
        '/api/sample-folder',
        '/api/public-address',
        '/api/backups',
        '/api/models/price',
      ]),
    )
    for (const { method, path } of kept) {
      const response = await ben.call(method, path.replace(/:\w+/g, ID), method === 'GET' || method === 'DELETE' ? undefined : {})
      expect([response.status, await response.json()], path).toEqual([403, { error: 'owner_only' }])
    }
    expect(seen).toEqual([])
    for (const path of ['/api/approve', '/api/pause-all']) expect((await ben.call('POST', path, {})).status).toBe(200)
    expect((await anna.call('POST', '/api/backups', {})).status).toBe(200)
  })

  it('neither connects channels, nor decides who is heard there, nor sees the code that links a phone', async () => {
    const ben = await member(await owner())
    const channel = `/api/channels/${ID}`
    for (const [method, path] of [
      ['POST', '/api/channels'],
      ['PATCH', channel],
      ['DELETE', channel],
      ['PATCH', `${channel}/people/${ID}`],
      ['GET', `/api/messenger/pairing?agentId=${ID}`],
      ['POST', '/api/messenger/pairing'],
    ] as const) {
      const response = await ben.call(method, path, method === 'POST' || method === 'PATCH' ? { agentId: ID } : undefined)
      expect([response.status, await response.json()], `${method} ${path}`).toEqual([403, { error: 'owner_only' }])
    }
    expect(seen).toEqual([])
    for (const path of ['/api/channels', channel]) expect((await ben.call('GET', path)).status).toBe(200)
  })

  it('is named to the runner as one, whatever they send, and an owner is not', async () => {
    const anna = await owner()
    const ben = await member(anna)
    const roles: unknown[] = []
    behave = (request, response) => {
      roles.push(request.headers['x-deckhand-role'])
      response.end('{}')
    }
    for (const who of [ben, anna])
      for (const role of ['owner', 'member', '']) await who.call('POST', '/api/agents', { name: 'x' }, { 'x-deckhand-role': role })
    await windowCall('POST', '/api/agents', { name: 'x' })
    expect(roles).toEqual(['member', 'member', 'member', undefined, undefined, undefined, undefined])
  })

  it('sees and ends their own devices only, and an owner those of everybody', async () => {
    const anna = await owner()
    const ben = await member(anna)
    const devicesOf = async (who: Browser) =>
      (await json(who.call('GET', '/api/auth/devices'))).devices as { id: string; personName: string; isThis: boolean }[]
    const [own, ...others] = await devicesOf(ben)
    expect([own!.isThis, others]).toEqual([true, []])
    const all = await devicesOf(anna)
    const annas = all.find(({ isThis }) => isThis)!
    expect((await ben.call('DELETE', `/api/auth/devices/${annas.id}`)).status).toBe(404)
    expect((await anna.call('DELETE', `/api/auth/devices/${own!.id}`)).status).toBe(200)
    expect((await ben.call('GET', '/api/jobs')).status).toBe(401)
  })

  it('becomes one at the next request after an owner says so', async () => {
    const anna = await owner()
    const ben = await member(anna)
    const { people } = (await json(anna.call('GET', '/api/auth/people'))) as { people: { id: string; name: string }[] }
    const bensId = people.find(({ name }) => name === 'ben')!.id
    await anna.call('PATCH', `/api/auth/people/${bensId}`, { role: 'owner' })
    expect((await ben.call('GET', '/api/auth/people')).status).toBe(200)
    const annasId = people.find(({ name }) => name === 'anna')!.id
    await ben.call('PATCH', `/api/auth/people/${annasId}`, { role: 'member' })
    expect((await anna.call('GET', '/api/auth/people')).status).toBe(403)
    expect((await ben.call('DELETE', `/api/auth/people/${bensId}`)).status).toBe(409)
  })
})

describe('a forgotten password', () => {
  it('is replaced in the window only, not even by an owner or with the secret over the network', async () => {
    const anna = await owner()
    const ben = await member(anna)
    const { people } = (await json(anna.call('GET', '/api/auth/people'))) as { people: { id: string; name: string }[] }
    const path = `/api/auth/people/${people.find(({ name }) => name === 'ben')!.id}/password`
    const body = { password: 'another good password' }
    expect((await anna.call('POST', path, body)).status).toBe(404)
    expect((await ben.call('POST', path, body)).status).toBe(403)
    const bearer = { authorization: `Bearer ${SECRET}` }
    expect((await browser().call('POST', path, body, bearer)).status).toBe(404)
    expect((await ben.call('GET', '/api/jobs')).status).toBe(200)
    expect((await windowCall('POST', path.replace(/[^/]+(?=\/password)/, ID), body)).status).toBe(404)
    expect((await windowCall('POST', path, { password: 'short' })).status).toBe(400)
    expect((await windowCall('POST', path, body)).status).toBe(200)
    expect((await ben.call('GET', '/api/jobs')).status).toBe(401)
    expect((await anna.call('GET', '/api/jobs')).status).toBe(200)
    const again = (password: string) => browser().call('POST', '/api/auth/sign-in/username', { username: 'ben', password })
    expect([(await again(PASSWORD)).status, (await again(body.password)).status]).toEqual([401, 200])
  })
})

describe('a session that ends', () => {
  const openStream = async (who: Browser) => {
    behave = (_request, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    const response = await who.call('GET', '/api/events')
    const reader = response.body!.getReader()
    await reader.read()
    return reader
  }

  it('cuts its event stream, and no other', async () => {
    const anna = await owner()
    const ben = await member(anna)
    const annas = await openStream(anna)
    const bens = await openStream(ben)
    const devices = (await json(anna.call('GET', '/api/auth/devices'))).devices as { id: string; personName: string }[]
    await anna.call('DELETE', `/api/auth/devices/${devices.find(({ personName }) => personName === 'ben')!.id}`)
    await expect(bens.read()).rejects.toThrow()
    expect((await ben.call('GET', '/api/jobs')).status).toBe(401)
    await annas.cancel()
    expect((await json(anna.call('GET', '/api/auth/get-session'))).person).toMatchObject({ name: 'anna' })
  })

  it('does not show to a member what the same person was shown as an owner', async () => {
    const anna = await owner()
    const ben = await member(anna)
    const { people } = (await json(anna.call('GET', '/api/auth/people'))) as { people: { id: string; name: string }[] }
    const bensId = people.find(({ name }) => name === 'ben')!.id
    await anna.call('PATCH', `/api/auth/people/${bensId}`, { role: 'owner' })
    const [annas, bens] = [await openStream(anna), await openStream(ben)]
    expect((await anna.call('PATCH', `/api/auth/people/${bensId}`, { role: 'member' })).status).toBe(200)
    await expect(bens.read()).rejects.toThrow()
    await openStream(ben).then((again) => again.cancel())
    await annas.cancel()
  })

  it('is cut when another process has ended it and says so', async () => {
    const anna = await owner()
    const stream = await openStream(anna)
    const { openAccounts } = await import('../sign-in/accounts.ts')
    const elsewhere = await openAccounts({
      dataDir: folder,
      secret: 'of another process '.repeat(3),
      now: Date.now,
      passwords: QUICK_HASHING,
    })
    expect(await elsewhere.resetPassword(elsewhere.findPerson(' ANNA')!.id, 'another good password')).toBeNull()
    elsewhere.close()
    const token = createOneTimeToken(SECRET, 'accounts_changed')
    const told = await fetch(`${server.url}/api/local/accounts_changed`, { method: 'POST', headers: { 'x-deckhand-token': token } })
    expect(told.status).toBe(200)
    await expect(stream.read()).rejects.toThrow()
    expect((await anna.call('GET', '/api/jobs')).status).toBe(401)
  })

  it('ends at sign-out and at a password change, on open connections too', async () => {
    const anna = await owner()
    const phone = browser()
    await phone.call('POST', '/api/auth/sign-in/username', { username: 'anna', password: PASSWORD })
    const stream = await openStream(phone)
    const before = anna.cookie
    const change = { currentPassword: PASSWORD, newPassword: 'another good password' }
    expect((await anna.call('POST', '/api/auth/change-password', { ...change, currentPassword: 'wrong one' })).status).toBe(403)
    expect((await anna.call('POST', '/api/auth/change-password', change)).status).toBe(200)
    await expect(stream.read()).rejects.toThrow()
    expect((await phone.call('GET', '/api/jobs')).status).toBe(401)
    expect(anna.cookie).not.toBe(before)
    behave = (_request, response) => response.end('{}')
    expect((await anna.call('GET', '/api/jobs')).status).toBe(200)
    const old = anna.cookie
    expect((await anna.call('POST', '/api/auth/sign-out', {})).status).toBe(200)
    expect((await browser().call('GET', '/api/jobs', undefined, { cookie: old })).status).toBe(401)
  })
})
