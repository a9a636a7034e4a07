import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHandClock } from '../testing/hand-clock.ts'
import { TEST_SECRET } from '../testing/create-test-runner.ts'
import { openOAuthRig, SESSION, type OAuthRig } from '../testing/oauth-rig.ts'
import type { OAuthFault } from '../testing/oauth-server/oauth-server.ts'
import { createRunnerClient } from '../testing/runner-client.ts'

/** Cases 50 to 54 of the plan for attacks, as far as they reach the runner. The dashboard's part is in its own test. */
describe('the answer of a service', () => {
  let rig: OAuthRig
  beforeEach(async () => void (rig = await openOAuthRig()))
  afterEach(() => rig.stop())

  /** Refused, without a request for tokens and without an account. */
  async function expectNothing(answer: Awaited<ReturnType<OAuthRig['finish']>>): Promise<void> {
    expect(answer).toMatchObject({ status: 422, body: { error: 'authorization_refused' } })
    expect(rig.notes.of('/token')).toEqual([])
    expect((await rig.runner.client.ok('listCredentials')).credentials).toEqual([])
  }

  const oneBit = (text: string) => String.fromCharCode(text.charCodeAt(0) ^ 1) + text.slice(1)

  it.each<[string, (back: URL, state: string) => void]>([
    ['another state', (back) => back.searchParams.set('state', 'x'.repeat(43))],
    ['no state', (back) => back.searchParams.delete('state')],
    ['an empty state', (back) => back.searchParams.set('state', '')],
    ['a state with one bit changed', (back, state) => back.searchParams.set('state', oneBit(state))],
    ['two states', (back, state) => back.searchParams.append('state', state)],
    ['the end of the state cut off', (back, state) => back.searchParams.set('state', state.slice(0, -1))],
  ])('is refused with %s, and the right one still counts', async (_name, change) => {
    const { authorization, url, state } = await rig.begin()
    const back = await rig.notes.agree(url)
    const changed = new URL(back)
    change(changed, state)
    await expectNothing(await rig.finish(authorization.id, changed))
    expect(await rig.finish(authorization.id, back)).toMatchObject({ status: 200, body: { authorization: { status: 'connected' } } })
  })

  it('is refused in another session, at another provider and for another sign-in', async () => {
    const [first, second] = [await rig.begin(), await rig.begin()]
    const back = await rig.notes.agree(first.url)
    await expectNothing(await rig.finish(first.authorization.id, back, { session: 'session of bo' }))
    await expectNothing(await rig.finish(first.authorization.id, back, { provider: 'oauth2' }))
    await expectNothing(await rig.finish(second.authorization.id, back))
  })

  it.each<[string, (back: URL) => void, string]>([
    ['without a code', (back) => back.searchParams.delete('code'), 'oauth_bad_answer'],
    ['of a person who refused', (back) => (back.search = `?error=access_denied&state=${back.searchParams.get('state')}`), 'oauth_denied'],
    ['of another issuer', (back) => back.searchParams.set('iss', 'https://evil.example'), 'oauth_wrong_issuer'],
    ['of two issuers', (back) => back.searchParams.append('iss', 'https://evil.example'), 'oauth_wrong_issuer'],
    [
      'with an error of another issuer',
      (back) => (back.search += '&error=access_denied&iss=https%3A%2F%2Fevil.example'),
      'oauth_wrong_issuer',
    ],
  ])('%s ends the sign-in, and the true one no longer counts', async (_name, change, code) => {
    const { authorization, url } = await rig.begin()
    const back = await rig.notes.agree(url)
    const changed = new URL(back)
    change(changed)
    const answer = await rig.finish(authorization.id, changed)
    await expectNothing(answer)
    expect(answer.body.detail?.code).toBe(code)
    await expectNothing(await rig.finish(authorization.id, back))
    const { authorization: ended } = await rig.runner.client.ok('getAuthorization', { params: { authorizationId: authorization.id } })
    expect(ended).toMatchObject({ status: 'failed', problem: { code } })
  })

  it('counts once, also if it comes many times at once', async () => {
    const { authorization, url } = await rig.begin()
    const back = await rig.notes.agree(url)
    const answers = await Promise.all(Array.from({ length: 20 }, () => rig.finish(authorization.id, back)))
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(19)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await rig.finish(authorization.id, back)).toMatchObject({ status: 422 })
    expect(rig.notes.of('/token')).toHaveLength(1)
    expect((await rig.runner.client.ok('listCredentials')).credentials).toHaveLength(1)
  })

  it('belongs to its own tab, in whatever order two tabs finish', async () => {
    const [older, newer] = [await rig.begin({ name: 'Older' }), await rig.begin({ name: 'Newer' })]
    rig.notes.account = 'ada'
    const backOfOlder = await rig.notes.agree(older.url)
    rig.notes.account = 'bo'
    const backOfNewer = await rig.notes.agree(newer.url)
    await rig.finish(newer.authorization.id, backOfNewer)
    await rig.finish(older.authorization.id, backOfOlder)
    const { credentials } = await rig.runner.client.ok('listCredentials')
    expect(credentials.map(({ name, accountName }) => `${name}: ${accountName}`)).toEqual(['Older: ada', 'Newer: bo'])
  })

  it('no longer counts after a second click, a cancellation or another account', async () => {
    const { authorization, url } = await rig.begin()
    const back = await rig.notes.agree(url)
    const again = await rig.begin()
    await rig.runner.client.ok('cancelAuthorization', { params: { authorizationId: authorization.id } })
    await expectNothing(await rig.finish(authorization.id, back))
    const backAgain = await rig.notes.agree(again.url)
    const { body } = await rig.finish(again.authorization.id, backAgain)
    rig.notes.account = 'mallory'
    const other = await rig.begin({ credentialId: body.authorization!.credentialId! })
    const answer = await rig.finish(other.authorization.id, await rig.notes.agree(other.url))
    expect(answer).toMatchObject({ status: 422, body: { detail: { code: 'oauth_other_account' } } })
    expect((await rig.runner.client.ok('listCredentials')).credentials).toMatchObject([{ accountName: 'ada' }])
  })

  it.each<[string, OAuthFault, string]>([
    ['endless', { kind: 'huge' }, 'oauth_unreachable'],
    ['HTML', { kind: 'answer', status: 200, type: 'text/html', body: '<p>Sign in to the network' }, 'oauth_bad_answer'],
    ['not JSON', { kind: 'answer', status: 200, body: '{"access_token":' }, 'oauth_bad_answer'],
    ['without a token', { kind: 'answer', status: 200, body: '{"token_type":"bearer"}' }, 'oauth_bad_answer'],
    ['of a strange kind', { kind: 'fields', fields: { token_type: 'mac' } }, 'oauth_bad_answer'],
    ['a token that is an object', { kind: 'fields', fields: { access_token: { a: 1 } } }, 'oauth_bad_answer'],
    ['an expiry in the past', { kind: 'fields', fields: { expires_in: -1 } }, 'oauth_bad_answer'],
    ['without its ID token', { kind: 'fields', fields: { id_token: null } }, 'oauth_bad_answer'],
    [
      'an ID token of somebody else',
      { kind: 'fields', fields: { id_token: `${btoa('{"alg":"RS256"}')}.${btoa('{"iss":"x"}')}.x` } },
      'oauth_bad_answer',
    ],
    ['a redirect to a private address', { kind: 'redirect', to: 'http://169.254.169.254/latest/meta-data' }, 'oauth_unreachable'],
    ['a server error', { kind: 'answer', status: 500, body: '{}' }, 'oauth_bad_answer'],
    ['an error with status 200', { kind: 'answer', status: 200, body: '{"error":"bad_verification_code"}' }, 'oauth_refused'],
    ['a wrong client', { kind: 'answer', status: 401, body: '{"error":"invalid_client"}' }, 'oauth_client_refused'],
    ['cut off', { kind: 'reset' }, 'oauth_unreachable'],
  ])('with tokens that are %s leaves no account', async (_name, fault, code) => {
    const { authorization, url } = await rig.begin()
    const back = await rig.notes.agree(url)
    rig.notes.fail('/token', fault)
    const answer = await rig.finish(authorization.id, back)
    expect(answer).toMatchObject({ status: 422, body: { error: 'authorization_refused', detail: { code } } })
    expect((await rig.runner.client.ok('listCredentials')).credentials).toEqual([])
    expect(JSON.stringify(answer.body)).not.toContain(rig.notes.clientSecret)
  })

  it('with a token that the service itself refuses leaves no account', async () => {
    const { authorization, url } = await rig.begin()
    rig.notes.fail('/me', { kind: 'answer', status: 401, body: '{}' })
    const answer = await rig.finish(authorization.id, await rig.notes.agree(url))
    expect(answer).toMatchObject({ status: 422, body: { detail: { code: 'oauth_token_useless' } } })
    expect((await rig.runner.client.ok('listCredentials')).credentials).toEqual([])
  })

  it('at a service that does not say whose account it is takes no other account for the one before', async () => {
    const { id: credentialId } = await rig.signIn()
    rig.notes.account = 'mallory'
    const { authorization, url } = await rig.begin({ credentialId })
    rig.notes.fail('/me', { kind: 'reset' })
    const answer = await rig.finish(authorization.id, await rig.notes.agree(url))
    expect(answer).toMatchObject({ status: 422, body: { error: 'authorization_refused', detail: { code: 'credential_unreachable' } } })
    expect((await rig.runner.client.ok('listCredentials')).credentials).toMatchObject([{ accountName: 'ada' }])
  })

  it('without a refresh token is an account that does not renew', async () => {
    rig.notes.fail('/token', { kind: 'fields', fields: { refresh_token: null, expires_in: 3600 } })
    expect(await rig.signIn()).toMatchObject({ renews: false, status: 'connected' })
  })

  it('cannot name an account so that it breaks out of its line', async () => {
    rig.notes.fail('/me', { kind: 'answer', status: 200, body: JSON.stringify({ user: { login: `a\u202e\n\u0000b${'x'.repeat(9999)}` } }) })
    const { accountName } = await rig.signIn()
    expect(accountName).toMatch(/^a {3}bx+$/)
    expect(accountName!.length).toBe(200)
  })

  it('cannot do so by an ID token either', async () => {
    rig.notes.account = `a\u202e\n\u0000b${'x'.repeat(300)}`
    rig.notes.fail('/me', { kind: 'answer', status: 200, body: '{}' })
    const { accountName } = await rig.signIn({ scopes: ['openid', 'notes:read'] })
    expect(accountName).toMatch(/^a {3}bx+$/)
    expect(accountName!.length).toBe(200)
  })

  it.each<[string, Record<string, unknown>]>([
    ['an access token', { access_token: 'a\r\nx-evil: 1' }],
    ['a refresh token', { refresh_token: 'a\r\nx-evil: 1' }],
    ['an access token of other letters', { access_token: 'tökén' }],
  ])('with %s that cannot be sent leaves no account', async (_name, fields) => {
    const { authorization, url } = await rig.begin({ scopes: ['notes:read'] })
    rig.notes.fail('/token', { kind: 'fields', fields })
    const answer = await rig.finish(authorization.id, await rig.notes.agree(url))
    expect(answer).toMatchObject({ status: 422, body: { detail: { code: 'oauth_bad_answer' } } })
    expect((await rig.runner.client.ok('listCredentials')).credentials).toEqual([])
    expect(rig.notes.of('/me')).toEqual([])
  })

  it('with a token that lasts for ever is an account', async () => {
    rig.notes.fail('/token', { kind: 'fields', fields: { expires_in: 1e300 } })
    const { expiresAt } = await rig.signIn({ scopes: ['notes:read'] })
    expect(expiresAt! - Date.now()).toBeLessThan(20 * 365 * 24 * 3_600_000)
  })

  it('that does not say whose account it is does not take over the one before', async () => {
    const { id: credentialId } = await rig.signIn()
    rig.notes.account = 'mallory'
    const { authorization, url } = await rig.begin({ credentialId, scopes: ['notes:read'] })
    rig.notes.fail('/me', { kind: 'answer', status: 200, body: '{}' })
    const answer = await rig.finish(authorization.id, await rig.notes.agree(url))
    expect(answer).toMatchObject({ status: 422, body: { detail: { code: 'oauth_account_unknown' } } })
    expect((await rig.runner.client.ok('listCredentials')).credentials).toMatchObject([{ accountName: 'ada' }])
  })

  it('that comes after its account was disconnected leaves no tokens behind', async () => {
    const { id: credentialId } = await rig.signIn()
    const { authorization, url } = await rig.begin({ credentialId })
    const back = await rig.notes.agree(url)
    const asked = rig.notes.of('/me').length
    const answer = Promise.withResolvers<void>()
    rig.notes.fail('/me', { kind: 'late', until: answer.promise })
    const finished = rig.finish(authorization.id, back)
    await expect.poll(() => rig.notes.of('/me').length).toBe(asked + 1)
    await rig.runner.client.ok('deleteCredential', { params: { credentialId } })
    answer.resolve()
    expect((await finished).status).not.toBe(200)
    expect(await rig.runner.vault.get(`credential:${credentialId}`)).toBeNull()
  })

  it('pasted by hand is checked like one that came by itself', async () => {
    const { authorization, url } = await rig.begin()
    const back = await rig.notes.agree(url)
    const params = { authorizationId: authorization.id }
    const paste = (address: string) => rig.runner.client.ask('finishPastedAuthorization', { params, body: { address } })
    const wrong = new URL(back)
    wrong.searchParams.set('state', 'x')
    for (const address of [wrong.href, back.href.replace('127.0.0.1:3000', 'evil.example'), 'nothing', `${back.href}&state=x`]) {
      expect(await paste(address)).toMatchObject({ status: 422, body: { error: 'authorization_refused' } })
    }
    expect(rig.notes.of('/token')).toEqual([])
    expect(await paste(` ${back.href}\n`)).toMatchObject({ status: 200, body: { authorization: { status: 'connected' } } })
    expect(await paste(back.href)).toMatchObject({ status: 422 })
  })
})

describe('a request for a sign-in', () => {
  let rig: OAuthRig
  beforeEach(async () => void (rig = await openOAuthRig()))
  afterEach(() => rig.stop())

  const endpoints = { authorizationUrl: 'https://id.example/a', tokenUrl: 'https://id.example/t' }

  it.each<[string, object]>([
    ['a line break in the client ID', { connector: 'notes', clientId: 'a\r\nHost: evil' }],
    ['a control character in the secret', { connector: 'notes', clientId: 'a', clientSecret: 'a\u0000b' }],
    ['a space in a scope', { connector: 'notes', clientId: 'a', scopes: ['a b'] }],
    ['no client ID', { connector: 'notes' }],
    ['another address for a known service', { connector: 'notes', clientId: 'a', endpoints }],
    [
      'a script as an address',
      {
        connector: 'generic-oauth2',
        clientId: 'a',
        hosts: ['a.example'],
        endpoints: { ...endpoints, authorizationUrl: 'javascript:alert(1)' },
      },
    ],
    [
      'an address without encryption',
      { connector: 'generic-oauth2', clientId: 'a', hosts: ['a.example'], endpoints: { ...endpoints, tokenUrl: 'http://id.example/t' } },
    ],
    [
      'a password in an address',
      {
        connector: 'generic-oauth2',
        clientId: 'a',
        hosts: ['a.example'],
        endpoints: { ...endpoints, tokenUrl: 'https://u:p@id.example/t' },
      },
    ],
    ['no hosts', { connector: 'generic-oauth2', clientId: 'a', endpoints }],
    [
      'something else in place of a host',
      { connector: 'generic-oauth2', clientId: 'a', hosts: ['https://a.example@b.example'], endpoints },
    ],
    ['a host of all hosts', { connector: 'generic-oauth2', clientId: 'a', hosts: ['*'], endpoints }],
    ['hosts of strangers', { connector: 'generic-oauth2', clientId: 'a', hosts: ['*.example.com'], endpoints }],
    ['a host of this machine', { connector: 'generic-oauth2', clientId: 'a', hosts: ['127.0.0.1:3001'], endpoints }],
    [
      'an issuer without encryption',
      { connector: 'generic-oauth2', clientId: 'a', hosts: ['a.example'], endpoints: { issuer: 'http://id.example' } },
    ],
    ['an unknown field of the address', { connector: 'notes', clientId: 'a', fields: { domain: 'evil.example' } }],
  ])('with %s is refused', async (_name, body) => {
    const answer = await rig.runner.client.ask('createAuthorization', { body })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  it('asks for what only this sign-in can answer', async () => {
    const [one, two] = [new URL((await rig.begin()).url), new URL((await rig.begin()).url)]
    for (const name of ['state', 'code_challenge', 'nonce']) {
      expect(one.searchParams.get(name)).toMatch(/^[\w-]{43}$/)
      expect(one.searchParams.get(name)).not.toBe(two.searchParams.get(name))
    }
    expect(one.searchParams.get('code_challenge_method')).toBe('S256')
    expect(one.searchParams.get('redirect_uri')).toBe('http://127.0.0.1:3000/api/oauth/notes/callback')
    expect(one.href).not.toContain(rig.notes.clientSecret)
  })

  it('leaves no secret behind when it is cancelled while its browser opens', async () => {
    const { clientId, clientSecret } = rig.notes
    const { authorization } = await rig.runner.client.ok('createAuthorization', { body: { connector: 'notes', clientId, clientSecret } })
    const params = { authorizationId: authorization.id }
    const { vault } = rig.runner
    const { set } = vault
    vault.set = async (name, value) => {
      vault.set = set
      await rig.runner.client.ok('cancelAuthorization', { params })
      await set(name, value)
    }
    const begun = await createRunnerClient(rig.runner.url, TEST_SECRET).ask('beginAuthorization', {
      params,
      body: { provider: 'notes', session: SESSION },
    })
    expect(begun).toMatchObject({ body: { error: 'authorization_over' } })
    expect(await vault.get(`authorization:${authorization.id}`)).toBeNull()
  })

  it('sends no request to a private address that nobody opened', async () => {
    await rig.runner.client.ok('updateSettings', { body: { openedHosts: [] } })
    const { authorization, url } = await rig.begin()
    const back = await rig.notes.agree(url)
    expect(await rig.finish(authorization.id, back)).toMatchObject({ status: 422, body: { detail: { code: 'oauth_unreachable' } } })
    expect(rig.notes.of('/token')).toEqual([])
  })
})

describe('a sign-in', () => {
  it('ends after ten minutes, and a service that stalls ends it sooner', async () => {
    const clock = createHandClock()
    const rig = await openOAuthRig({ runner: { clock } })
    try {
      const late = await rig.begin({ scopes: ['notes:read'] })
      const back = await rig.notes.agree(late.url)
      clock.advance(10 * 60_000)
      expect(await rig.finish(late.authorization.id, back)).toMatchObject({ status: 422, body: { detail: { code: 'oauth_unexpected' } } })
      clock.advance(30_000)
      const read = () => rig.runner.client.ok('getAuthorization', { params: { authorizationId: late.authorization.id } })
      await expect.poll(async () => (await read()).authorization.status).toBe('expired')

      const slow = await rig.begin({ scopes: ['notes:read'] })
      const answer = await rig.notes.agree(slow.url)
      rig.notes.fail('/token', { kind: 'stall' })
      const finished = rig.finish(slow.authorization.id, answer)
      await expect.poll(() => rig.notes.of('/token').length).toBe(1)
      clock.advance(20_000)
      expect(await finished).toMatchObject({ status: 422, body: { detail: { code: 'oauth_unreachable' } } })
    } finally {
      await rig.stop()
    }
  })

  it('that was interrupted by a crash says so, and one that waited goes on', async () => {
    const rig = await openOAuthRig()
    try {
      const [broken, waiting] = [await rig.begin(), await rig.begin()]
      const backs = [await rig.notes.agree(broken.url), await rig.notes.agree(waiting.url)]
      rig.notes.fail('/token', { kind: 'stall' })
      const lost = rig.finish(broken.authorization.id, backs[0]!).catch(() => null)
      await expect.poll(() => rig.notes.of('/token').length).toBe(1)
      await rig.runner.restart({ crash: true })
      await lost
      const { authorization } = await rig.runner.client.ok('getAuthorization', { params: { authorizationId: broken.authorization.id } })
      expect(authorization).toMatchObject({ status: 'failed', problem: { code: 'oauth_interrupted' } })
      expect(await rig.finish(waiting.authorization.id, backs[1]!)).toMatchObject({ status: 200 })
    } finally {
      await rig.stop()
    }
  })

  it('leaves its secrets in the vault only', async () => {
    const rig = await openOAuthRig()
    try {
      const { authorization, url, state } = await rig.begin()
      const kept = await rig.runner.vault.get(`authorization:${authorization.id}`)
      const { verifier, nonce } = JSON.parse(kept!) as Record<string, string>
      const back = await rig.notes.agree(url)
      const { body } = await rig.finish(authorization.id, back)
      const { credentialId } = body.authorization!
      const tokens = JSON.parse((await rig.runner.vault.get(`credential:${credentialId}`))!) as Record<string, string>
      expect(await rig.runner.vault.get(`authorization:${authorization.id}`)).toBeNull()
      const answers = JSON.stringify([
        body,
        await rig.runner.client.ok('listCredentials'),
        await rig.runner.client.ok('getAuthorization', { params: { authorizationId: authorization.id } }),
      ])
      const secrets = [
        tokens['accessToken'],
        tokens['refreshToken'],
        tokens['clientSecret'],
        verifier,
        nonce,
        state,
        back.searchParams.get('code'),
      ]
      expect(tokens['refreshToken']).toBeTruthy()
      const { dataDir, logLines } = rig.runner
      const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'))
      expect(files.join('').length).toBeGreaterThan(10_000)
      for (const secret of secrets) {
        for (const place of [...files, logLines.join('\n'), answers]) expect(place.includes(secret!)).toBe(false)
      }
      // The code proves itself at the service by the verifier, which nobody on the way has seen.
      expect(rig.notes.requests.map(({ query }) => query).join()).not.toContain(verifier)
    } finally {
      await rig.stop()
    }
  })
})
