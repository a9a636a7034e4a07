import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findConnector } from '../../src-runner/domain/connectors/connectors.ts'
import type { AuthMode } from '../../src-runner/contract/port.ts'
import { inEnglish } from '../../src-runner/lib/messages.ts'
import { createTestRunner, TEST_SECRET, type TestRunner } from '../../src-runner/testing/create-test-runner.ts'
import { startOAuthServer, type OAuthServer } from '../../src-runner/testing/oauth-server/oauth-server.ts'
import { createBrowserLink, createBrowserProof } from '../dashboard/browser-proof.ts'
import { createDashboard, type Dashboard } from '../dashboard/dashboard.ts'
import { createOneTimeToken, createOneTimeTokens } from '../dashboard/one-time-tokens.ts'
import { startDashboardServer, type DashboardServer } from '../dashboard/server.ts'
import { silentLog } from '../log/log.ts'
import { createSignIn, type SignIn } from '../sign-in/sign-in.ts'

const LINK_KEY = 'link-key-of-this-test-0123456789-abcd'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

let folder: string
let now: number
let mode: AuthMode
let runner: TestRunner
let notes: OAuthServer
let signIn: SignIn
let dashboard: Dashboard
let server: DashboardServer

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-oauth-'))
  now = Date.now()
  mode = 'local-trust'
  const kept = new Map<string, string>()
  const log = { ...silentLog, hide: () => undefined }
  signIn = createSignIn({
    dataDir: folder,
    vault: { get: async (name) => kept.get(name) ?? null, set: async (name, value) => void kept.set(name, value) },
    log,
  })
  const tokens = createOneTimeTokens(LINK_KEY, () => now)
  const endpoint = () => ({ host: '127.0.0.1', port: runner.port, secret: TEST_SECRET })
  dashboard = createDashboard({
    assets: null,
    runner: endpoint,
    runnerSoon: async () => endpoint(),
    authMode: () => mode,
    secret: () => TEST_SECRET,
    signIn,
    log,
    browserProof: createBrowserProof({ tokens, secret: () => TEST_SECRET, now: () => now }),
    createSignInToken: (id) => createOneTimeToken(LINK_KEY, `sign_in:${id}`, now),
    speech: async () => ({ t: inEnglish, locale: 'en' }),
    tokens,
    now: () => now,
    replaceSecret: async () => undefined,
  })
  server = await startDashboardServer({ dashboard, host: '127.0.0.1', port: 0, authMode: () => mode, appUrl: null, tls: null, log })
  const redirectUris = ['notes', 'other', 'oauth2', 'generic-oauth2'].map((provider) => `${server.url}/api/oauth/${provider}/callback`)
  notes = await startOAuthServer({ redirectUris })
  runner = await createTestRunner({
    config: { appUrl: server.url },
    findConnector: (slug) =>
      slug === 'notes' || slug === 'other' ? notes.connector(slug) : slug === 'generic-oauth2' ? findConnector(slug) : null,
  })
  await runner.client.ok('updateSettings', { body: { openedHosts: [notes.host] } })
})
afterEach(async () => {
  await runner.stop()
  await notes.stop()
  await server.close()
  dashboard.close()
  signIn.close()
  rmSync(folder, { recursive: true, force: true })
})

const fromOwnPage = () => ({ origin: server.url, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'document', accept: 'text/html' })
/** The head of the request by which a service sends a browser back. */
const fromService = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html' }

function start(
  fields: Record<string, string>,
  { provider = 'notes', headers = {} }: { provider?: string; headers?: Record<string, string> } = {},
) {
  return fetch(`${server.url}/api/oauth/${provider}/start`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...FORM, ...headers },
    body: new URLSearchParams(fields).toString(),
  })
}

const client = () => ({ client_id: notes.clientId, client_secret: notes.clientSecret })
const cookieOf = (response: Response) => response.headers.getSetCookie()[0]!.split(';')[0]!

function come(back: URL | string, cookie: string, headers: Record<string, string> = fromService) {
  return fetch(back, { redirect: 'manual', headers: { ...headers, ...(cookie === '' ? {} : { cookie }) } })
}

async function prepare(connector = 'notes') {
  const { clientId, clientSecret } = notes
  const { authorization } = await runner.client.ok('createAuthorization', { body: { connector, clientId, clientSecret } })
  return authorization
}

async function accounts() {
  return (await runner.client.ok('listCredentials')).credentials
}

describe('signing in at a service', () => {
  it('begins with a form, goes to the service, and comes back to a page that says so', async () => {
    const begun = await start(client())
    expect(begun.status).toBe(303)
    const cookie = begun.headers.getSetCookie()
    expect(cookie).toHaveLength(1)
    expect(cookie[0]).toMatch(
      /^deckhand_sign_in_[0-9a-f]{16}=\S+; Path=\/api\/oauth\/notes\/callback; Max-Age=600; HttpOnly; SameSite=Lax$/,
    )
    const back = await notes.agree(begun.headers.get('location')!)
    expect(`${back.origin}${back.pathname}`).toBe(`${server.url}/api/oauth/notes/callback`)
    const done = await come(back, cookieOf(begun))
    expect({ status: done.status, location: done.headers.get('location') }).toEqual({ status: 303, location: '/connect/done' })
    expect(done.headers.getSetCookie()[0]).toContain('Max-Age=0')
    const page = await come(`${server.url}/connect/done`, '')
    expect(await page.text()).toContain('You can close this window.')
    expect(await accounts()).toMatchObject([{ connector: 'notes', accountName: 'ada', status: 'connected' }])
  })

  it.each(['oauth2', 'generic-oauth2'])('signs in at any service by the type of its credential (%s)', async (provider) => {
    const { host } = new URL(notes.url)
    const addresses = { authorization_url: `${notes.url}/auth`, token_url: `${notes.url}/token` }
    const form = { ...client(), ...addresses, hosts: host, scope: 'notes:read', name: 'Other notes' }
    const begun = await start(form, { provider })
    const to = new URL(begun.headers.get('location')!)
    expect([to.origin, to.searchParams.get('redirect_uri')]).toEqual([notes.url, `${server.url}/api/oauth/${provider}/callback`])
    expect((await come(await notes.agree(to.href), cookieOf(begun))).status).toBe(303)
    expect(await accounts()).toMatchObject([{ connector: 'generic-oauth2', name: 'Other notes', hosts: [host], scopes: ['notes:read'] }])
    expect((await start({ ...form, hosts: 'http://evil.example@b' }, { provider })).status).toBe(400)
    expect((await start({ ...form, token_url: 'http://id.example/token' }, { provider })).status).toBe(400)
  })

  it('takes an empty field of the form for one that was not given', async () => {
    const scopeOf = async (fields: Record<string, string>) =>
      new URL((await start({ ...client(), ...fields })).headers.get('location')!).searchParams.get('scope')
    const preset = await scopeOf({})
    expect(preset).toContain('notes:read')
    expect(await scopeOf({ client_secret: '', name: ' ', scope: '', authorization_url: '' })).toBe(preset)
    const addresses = { authorization_url: `${notes.url}/auth`, token_url: `${notes.url}/token` }
    const form = { ...client(), ...addresses, scope: '', name: '', hosts: `${new URL(notes.url).host}, ` }
    expect((await start(form, { provider: 'oauth2' })).status).toBe(303)
  })

  it('returns to a path of its own only', async () => {
    const begun = await start({ ...client(), next: '/connections' })
    const done = await come(await notes.agree(begun.headers.get('location')!), cookieOf(begun))
    expect(done.headers.get('location')).toBe('/connect/done?next=%2Fconnections')
    const page = (path: string) => come(server.url + path, '').then((answer) => answer.text())
    expect(await page('/connect/done?next=%2Fconnections')).toContain('content="0; url=/connections"')
    expect(await page('/connect/done?next=%2F%2Fevil')).not.toContain('evil')
    for (const next of ['//evil', 'https:evil', '/\\evil', 'https://evil.example', '/%0d%0aset-cookie: a=b', '/a\r\nb: c', '', '/a b']) {
      expect((await start({ ...client(), next })).status).toBe(400)
    }
  })

  it('starts in the browser of the system by a link that works once, for one sign-in', async () => {
    const authorization = await prepare()
    const link = new URL((await dashboard.linkToSignIn(authorization.id))!)
    expect(`${link.origin}${link.pathname}${link.search}`).toBe(`${server.url}/connect`)
    const [provider, id, token] = link.hash.slice(1).split('/') as [string, string, string]
    const page = await come(`${server.url}/connect`, '', { accept: 'text/html', 'sec-fetch-site': 'none', 'sec-fetch-dest': 'document' })
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect((await start({ authorization: (await prepare()).id, token }, { provider, headers: fromOwnPage() })).status).toBe(401)
    const begun = await start({ authorization: id, token }, { provider, headers: fromOwnPage() })
    expect(begun.status).toBe(303)
    expect((await start({ authorization: id, token }, { provider, headers: fromOwnPage() })).status).toBe(401)
    await come(await notes.agree(begun.headers.get('location')!), cookieOf(begun))
    expect(await accounts()).toHaveLength(1)
    expect(await dashboard.linkToSignIn(authorization.id)).toBeNull()
  })

  it('starts from a page that a person opened, over a page whose forms may lead to the service', async () => {
    const link = createBrowserLink(server.url, LINK_KEY, now).split('#open=')[1]
    const opened = await fetch(`${server.url}/api/browser`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: link }),
    })
    const { key } = (await opened.json()) as { key: string }
    const headers = { ...fromOwnPage(), cookie: cookieOf(opened) }
    const { id: authorization } = await prepare()
    expect((await start({ authorization }, { headers })).status).toBe(401)
    const ask = (more: Record<string, string>, body: unknown = { authorizationId: authorization }) =>
      fetch(`${server.url}/api/oauth/link`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers, ...more },
        body: JSON.stringify(body),
      })
    expect((await ask({})).status).toBe(401)
    expect((await ask({ 'x-deckhand-page': `${key}x` })).status).toBe(401)
    expect((await ask({ 'x-deckhand-page': key, 'content-type': 'text/plain' })).status).toBe(415)
    expect((await ask({ 'x-deckhand-page': key, origin: 'https://evil.example' })).status).toBe(403)
    for (const body of [{}, null, { authorizationId: '../agents' }, { authorizationId: crypto.randomUUID() }])
      expect((await ask({ 'x-deckhand-page': key }, body)).status).toBe(404)
    const { url } = (await (await ask({ 'x-deckhand-page': key })).json()) as { url: string }
    const [provider, id, token] = new URL(url).hash.slice(1).split('/')
    expect([provider, id]).toEqual(['notes', authorization])
    const begun = await start({ authorization, token: token! }, { headers })
    expect(new URL(begun.headers.get('location')!).origin).toBe(notes.url)
  })

  it('belongs to the session of the person who began it, and ends with it', async () => {
    mode = 'local-auth'
    const people = await signIn.accounts()
    await people.createOwner({ name: 'Ada', password: 'correct horse battery' })
    const enter = async () => {
      const answer = await fetch(`${server.url}/api/auth/sign-in/username`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', origin: server.url },
        body: JSON.stringify({ username: 'Ada', password: 'correct horse battery' }),
      })
      return { cookie: cookieOf(answer), 'x-deckhand-page': ((await answer.json()) as { pageKey: string }).pageKey }
    }
    expect((await start(client(), { headers: fromOwnPage() })).status).toBe(401)
    const session = await enter()
    expect((await start(client(), { headers: { ...fromOwnPage(), cookie: session.cookie } })).status).toBe(401)
    const headers = { ...fromOwnPage(), ...session }
    const [first, second] = [await start(client(), { headers }), await start(client(), { headers })]
    expect((await come(await notes.agree(first.headers.get('location')!), cookieOf(first))).status).toBe(303)
    const back = await notes.agree(second.headers.get('location')!)
    await fetch(`${server.url}/api/auth/sign-out`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}',
    })
    const other = await enter()
    expect((await come(back, `${cookieOf(second)}; ${other.cookie}`)).status).toBe(400)
    expect(await accounts()).toHaveLength(1)
    expect(notes.of('/token')).toHaveLength(1)
  })

  it('is open to programs that know the secret, in every mode, and to nobody else', async () => {
    for (mode of ['local-auth', 'bearer-token'] as const) {
      expect((await start(client())).status).toBe(401)
      expect((await start(client(), { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
      // Nobody else learns what the form lacks.
      expect((await start({ next: '//evil.example' })).status).toBe(401)
      expect((await start(client(), { headers: { 'content-type': 'application/json' } })).status).toBe(401)
      expect((await start({ token: 'x', next: '//evil.example' })).status).toBe(400)
      expect((await start(client(), { headers: { authorization: `Bearer ${TEST_SECRET}` } })).status).toBe(303)
    }
  })
})

describe('somebody else', () => {
  it('starts nothing from another site, without the key of the page, or with anything but a form', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      { 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]) {
      expect((await start(client(), { headers })).status).toBe(403)
    }
    expect((await start(client(), { headers: fromOwnPage() })).status).toBe(401)
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', '']) {
      expect((await start(client(), { headers: { 'content-type': type } })).status).toBe(415)
    }
    const { status, headers } = await fetch(`${server.url}/api/oauth/notes/start`)
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
    expect(notes.requests).toEqual([])
  })

  it.each<[string, Record<string, string>]>([
    ['a line break in the client ID', { client_id: 'a\r\nHost: evil' }],
    ['no client ID', {}],
    ['a sign-in that is no ID', { authorization: '../../agents' }],
  ])('starts nothing with %s', async (_name, fields) => {
    expect((await start(fields)).status).toBe(400)
  })

  it('does not choose the address that the service sends people back to', async () => {
    const { request } = await import('node:http')
    const forged = await new Promise<{ status: number; location: string }>((resolve, reject) => {
      const body = new URLSearchParams(client()).toString()
      const headers = { ...FORM, host: `localhost:${server.port}`, 'content-length': body.length }
      request({ host: '127.0.0.1', port: server.port, method: 'POST', path: '/api/oauth/notes/start', headers }, (response) => {
        response.resume()
        resolve({ status: response.statusCode!, location: response.headers.location ?? '' })
      })
        .on('error', reject)
        .end(body)
    })
    expect(forged.status).toBe(303)
    expect(new URL(forged.location).searchParams.get('redirect_uri')).toBe(`${server.url}/api/oauth/notes/callback`)
    for (const host of ['evil.example', `evil.example:${server.port}`]) {
      const refused = await new Promise<number>((resolve, reject) => {
        request(
          { host: '127.0.0.1', port: server.port, method: 'POST', path: '/api/oauth/notes/start', headers: { ...FORM, host } },
          (response) => {
            response.resume()
            resolve(response.statusCode!)
          },
        )
          .on('error', reject)
          .end('client_id=a')
      })
      expect(refused).toBe(403)
    }
  })

  const replaced = (cookie: string, change: (value: string) => string) =>
    cookie.replace(/=(.*)$/, (_, value: string) => `=${change(value)}`)
  const flip = (text: string, at: number) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)

  it.each<[string, (back: URL, cookie: string) => [URL | string, string]]>([
    ['another state', (back, cookie) => [changed(back, 'state', 'x'.repeat(43)), cookie]],
    ['no state', (back, cookie) => [changed(back, 'state', null), cookie]],
    ['two states', (back, cookie) => [`${back.href}&state=${back.searchParams.get('state')}`, cookie]],
    ['a state with one bit changed', (back, cookie) => [changed(back, 'state', flip(back.searchParams.get('state')!, 3)), cookie]],
    ['no cookie', (back) => [back, '']],
    ['two cookies', (back, cookie) => [back, `${cookie}; ${cookie}`]],
    ['a cookie with a changed signature', (back, cookie) => [back, replaced(cookie, (value) => flip(value, value.length - 2))]],
    ['a cookie with changed content', (back, cookie) => [back, replaced(cookie, (value) => flip(value, 10))]],
    ['an unsigned cookie', (back, cookie) => [back, replaced(cookie, (value) => value.split('.')[0]!)]],
    ['the callback of another provider', (back, cookie) => [back.href.replace('/notes/', '/other/'), cookie]],
    ['the callback of nobody', (back, cookie) => [back.href.replace('/notes/', '/unknown/'), cookie]],
  ])('finishes nothing with %s, and the true answer still counts', async (_name, change) => {
    const begun = await start(client())
    const back = await notes.agree(begun.headers.get('location')!)
    const [to, cookie] = change(back, cookieOf(begun))
    const answer = await come(to, cookie)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('This sign-in was not started in this browser')
    expect([notes.of('/token'), await accounts()]).toEqual([[], []])
    expect((await come(back, cookieOf(begun))).status).toBe(303)
  })

  it.each<[string, (back: URL) => URL]>([
    ['without a code', (back) => changed(back, 'code', null)],
    ['of a person who refused', (back) => changed(changed(back, 'code', null), 'error', 'access_denied')],
    ['of another issuer', (back) => changed(back, 'iss', 'https://evil.example')],
  ])('an answer %s ends in a page with 400 and no account', async (_name, change) => {
    const begun = await start(client())
    const back = await notes.agree(begun.headers.get('location')!)
    const answer = await come(change(back), cookieOf(begun))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect([notes.of('/token'), await accounts()]).toEqual([[], []])
    expect((await come(back, cookieOf(begun))).status).toBe(400)
  })

  it('finishes nothing with an expired or a used answer, or with one that is not a page of its own', async () => {
    const begun = await start(client())
    const back = await notes.agree(begun.headers.get('location')!)
    for (const dest of ['iframe', 'image', 'script', 'empty', 'embed', 'object']) {
      expect((await come(back, cookieOf(begun), { ...fromService, 'sec-fetch-dest': dest })).status).toBe(403)
    }
    now += 10 * 60_000
    expect((await come(back, cookieOf(begun))).status).toBe(400)
    now -= 10 * 60_000
    expect((await come(back, cookieOf(begun))).status).toBe(303)
    expect((await come(back, cookieOf(begun))).status).toBe(400)
    expect(notes.of('/token')).toHaveLength(1)
  })

  it('puts two tabs of one browser together, whichever finishes first', async () => {
    const [older, newer] = [await start({ ...client(), name: 'Older' }), await start({ ...client(), name: 'Newer' })]
    const jar = `${cookieOf(older)}; ${cookieOf(newer)}`
    const backOfOlder = await notes.agree(older.headers.get('location')!)
    notes.account = 'bo'
    const backOfNewer = await notes.agree(newer.headers.get('location')!)
    expect((await come(backOfNewer, jar)).status).toBe(303)
    expect((await come(backOfOlder, jar)).status).toBe(303)
    expect((await accounts()).map(({ name, accountName }) => `${name} ${accountName}`)).toEqual(['Older ada', 'Newer bo'])
  })

  it('does not write into the pages', async () => {
    const begun = await start(client())
    const back = await notes.agree(begun.headers.get('location')!)
    notes.fail('/token', {
      kind: 'answer',
      status: 400,
      body: JSON.stringify({ error: 'invalid_grant', error_description: '<script>alert(1)</script>' }),
    })
    const text = await (await come(back, cookieOf(begun))).text()
    expect(text).toContain('&lt;script&gt;')
    expect(text).not.toContain('<script>')
    expect(text).not.toContain(notes.clientSecret)
  })
})

function changed(back: URL, name: string, value: string | null): URL {
  const url = new URL(back)
  if (value === null) url.searchParams.delete(name)
  else url.searchParams.set(name, value)
  return url
}
