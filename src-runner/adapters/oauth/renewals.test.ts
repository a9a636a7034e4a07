import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MAX_SCOPE_CHARS, MAX_SCOPES } from '../../contract/credentials.ts'
import { transact } from '../../platform/db/database.ts'
import { shiftClock, systemClock } from '../../lib/clock.ts'
import { createMemoryVault, type Vault } from '../../lib/vault.ts'
import { findCredentialRow, getCredential, reconnectCredential } from '../../domain/credentials/credentials.ts'
import { builtChild } from '../../testing/built-children.ts'
import { startOAuthServer, type OAuthServer } from '../../testing/oauth-server/oauth-server.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { createFileVault, openRenewalRig } from '../../testing/renewal-rig.ts'

const CHILD = builtChild('renewal-kill-child')
const HOUR_MS = 3_600_000
const REDIRECT = 'http://127.0.0.1:3000/api/oauth/notes/callback'

let notes: OAuthServer
let domain: DomainRig
let kept: Vault
let vault: Vault
let rig: ReturnType<typeof openRenewalRig>

beforeEach(async () => {
  domain = openDomainRig()
  kept = createMemoryVault()
  vault = { get: (key) => kept.get(key), set: (key, value) => kept.set(key, value), delete: (key) => kept.delete(key) }
})
afterEach(async () => {
  domain.close()
  await notes.stop()
})

async function open(options: { refreshTokens?: 'rotate' | 'keep' | 'none' } = {}): Promise<string> {
  notes = await startOAuthServer({ redirectUris: [REDIRECT], ...options })
  rig = openRenewalRig({ db: domain.db, vault, clock: domain.clock, ids: domain.ids }, notes.host, notes)
  return rig.signIn()
}

/** An account whose renewal is under way at the service, which answers when it is told. */
async function openWhileRenewing() {
  const id = await open()
  domain.clock.advance(HOUR_MS)
  const { promise: until, resolve: answer } = Promise.withResolvers<void>()
  notes.fail('/token', { kind: 'late', until })
  const late = use(id)
  await expect.poll(() => renewals().length).toBe(1)
  return { id, late, answer }
}

const use = (id: string, options = {}) => rig.credentials.use(id, null, 'read', options)
const tokensOf = async (id: string) => JSON.parse((await kept.get(`credential:${id}`))!) as Record<'accessToken' | 'refreshToken', string>
const renewals = () => notes.of('/token').filter(({ body }) => body.includes('grant_type=refresh_token'))

describe('an access token', () => {
  it('is renewed with one request, however many need it at once, and the next refresh token is stored first', async () => {
    const id = await open()
    const before = await tokensOf(id)
    domain.clock.advance(HOUR_MS - 59_000)
    const used = await Promise.all(Array.from({ length: 500 }, () => use(id)))
    const after = await tokensOf(id)
    expect(renewals()).toHaveLength(1)
    expect(new Set(used.map(({ headers }) => headers['authorization']))).toEqual(new Set([`Bearer ${after.accessToken}`]))
    expect(after.refreshToken).not.toBe(before.refreshToken)
    expect(getCredential(domain.db, id)).toMatchObject({ status: 'connected', expiresAt: domain.clock.now() + HOUR_MS })
    // The service ends a grant whose old refresh token comes again, so the chain proves that each one was stored.
    for (let round = 0; round < 3; round++) {
      domain.clock.advance(HOUR_MS)
      await use(id)
    }
    expect(renewals()).toHaveLength(4)
  })

  it('keeps the permission to be renewed if the service does not list it among those it granted', async () => {
    const id = await open()
    const all = ['openid', 'offline_access', 'notes:read']
    notes.fail('/token', { kind: 'fields', fields: { scope: 'openid notes:read' } })
    await rig.signIn(all, id)
    expect(getCredential(domain.db, id).scopes.toSorted()).toEqual(all.toSorted())
  })

  it('keeps as many permissions as an export may have', async () => {
    const id = await open()
    const granted = ['x'.repeat(MAX_SCOPE_CHARS + 1), ...Array.from({ length: MAX_SCOPES + 1 }, (_, n) => `scope-${n}`)]
    notes.fail('/token', { kind: 'fields', fields: { scope: granted.join(' ') } })
    await rig.signIn(['notes:read'], id)
    expect(getCredential(domain.db, id).scopes).toEqual(granted.slice(1, MAX_SCOPES + 1))
  })

  it('is not renewed before it is needed', async () => {
    const id = await open()
    domain.clock.advance(HOUR_MS - 61_000)
    await use(id)
    expect(renewals()).toEqual([])
  })

  it('that the service refuses is renewed once, also if many learn of it', async () => {
    const id = await open()
    const { secrets } = await use(id)
    const again = await Promise.all(Array.from({ length: 20 }, () => use(id, { refused: secrets })))
    expect(renewals()).toHaveLength(1)
    expect(again[0]!.headers).not.toEqual({ authorization: `Bearer ${secrets[0]}` })
    // Whoever learns of it later gets the new one.
    await use(id, { refused: secrets })
    expect(renewals()).toHaveLength(1)
  })

  it('keeps the refresh token of a service that sends no other', async () => {
    const id = await open({ refreshTokens: 'keep' })
    const { refreshToken } = await tokensOf(id)
    notes.fail('/token', { kind: 'fields', fields: { refresh_token: null } })
    domain.clock.advance(HOUR_MS)
    await use(id)
    expect((await tokensOf(id)).refreshToken).toBe(refreshToken)
  })

  it('without a refresh token ends with a request to sign in', async () => {
    const id = await open({ refreshTokens: 'none' })
    domain.clock.advance(HOUR_MS)
    await expect(use(id)).rejects.toMatchObject({ code: 'credential_refused' })
    expect(getCredential(domain.db, id)).toMatchObject({ status: 'needs_sign_in', problem: { code: 'credential_expired' } })
  })

  it.each([
    ['cut off', { kind: 'reset' }],
    ['down', { kind: 'answer', status: 503, body: '{"error":"temporarily_unavailable"}' }],
    ['behind a network that wants a sign-in', { kind: 'answer', status: 200, type: 'text/html', body: '<form>' }],
    ['busy', { kind: 'answer', status: 429, body: '{"error":"rate_limited"}' }],
    ['busy in other words', { kind: 'answer', status: 429, body: '{"error":"too_many_requests"}' }],
    ['too slow', { kind: 'answer', status: 408, body: '{"error":"request_timeout"}' }],
    ['endless', { kind: 'huge' }],
    ['strange', { kind: 'fields', fields: { expires_in: -1 } }],
  ] as const)('of a service that is %s is asked for again, and nobody is signed out', async (_name, fault) => {
    const id = await open({ refreshTokens: 'keep' })
    domain.clock.advance(HOUR_MS)
    notes.fail('/token', fault)
    await expect(use(id)).rejects.toMatchObject({ code: 'credential_refused' })
    expect(getCredential(domain.db, id).status).toBe('connected')
    await expect(use(id)).resolves.toBeDefined()
  })

  it.each(['invalid_grant', 'invalid_client', 'unauthorized_client', 'bad_refresh_token'])(
    'that is refused with %s asks the person to sign in, and the service no more',
    async (error) => {
      const id = await open()
      domain.clock.advance(HOUR_MS)
      notes.fail('/token', { kind: 'answer', status: 400, body: JSON.stringify({ error }) })
      await expect(use(id)).rejects.toMatchObject({ code: 'credential_refused' })
      for (let i = 0; i < 3; i++) await expect(use(id)).rejects.toMatchObject({ code: 'credential_refused' })
      expect(renewals()).toHaveLength(1)
      expect(getCredential(domain.db, id).status).toBe('needs_sign_in')
    },
  )

  it('is stored later if the keychain is locked when it comes, without asking the service again', async () => {
    const id = await open()
    domain.clock.advance(HOUR_MS)
    const { set } = vault
    vault.set = () => Promise.reject(new Error('locked'))
    await expect(use(id)).rejects.toThrow('locked')
    await expect(use(id)).rejects.toThrow('locked')
    vault.set = set
    await expect(use(id)).resolves.toBeDefined()
    expect(renewals()).toHaveLength(1)
    domain.clock.advance(HOUR_MS)
    await expect(use(id)).resolves.toBeDefined()
  })

  it('that the keychain did not take does not replace that of a person who signed in afterwards', async () => {
    const id = await open()
    domain.clock.advance(HOUR_MS)
    const { set } = vault
    vault.set = () => Promise.reject(new Error('locked'))
    await expect(use(id)).rejects.toThrow('locked')
    vault.set = set
    await rig.signIn(['notes:read'], id)
    const signedIn = await tokensOf(id)
    domain.clock.advance(HOUR_MS)
    await use(id)
    expect(renewals().at(-1)!.body).toContain(`refresh_token=${encodeURIComponent(signedIn.refreshToken)}`)
    expect(getCredential(domain.db, id).status).toBe('connected')
  })

  it('fails for nobody if the only one who needs it has stopped waiting', async () => {
    const id = await open()
    domain.clock.advance(HOUR_MS)
    const tried = Promise.withResolvers<void>()
    vault.set = async () => {
      tried.resolve()
      throw new Error('locked')
    }
    const unheard: unknown[] = []
    const hear = (error: unknown) => void unheard.push(error)
    process.on('unhandledRejection', hear)
    await expect(use(id, { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow('stopped')
    await tried.promise
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', hear)
    expect(unheard).toEqual([])
  })

  it('does not come back after the account was disconnected', async () => {
    const { id, late, answer } = await openWhileRenewing()
    await rig.authorizations.disconnect(id)
    answer()
    await expect(late).rejects.toMatchObject({ code: 'credential_not_found' })
    expect(await kept.get(`credential:${id}`)).toBeNull()
  })

  it('does not replace that of a person who signed in meanwhile', async () => {
    const { id, late, answer } = await openWhileRenewing()
    await rig.signIn(['notes:read'], id)
    const { accessToken } = await tokensOf(id)
    answer()
    await expect(late).resolves.toMatchObject({ headers: { authorization: `Bearer ${accessToken}` } })
    expect((await tokensOf(id)).accessToken).toBe(accessToken)
  })

  it('is revoked at the service when the account is disconnected', async () => {
    const id = await open()
    const { refreshToken } = await tokensOf(id)
    expect(await rig.authorizations.disconnect(id)).toBe(true)
    expect(notes.of('/token/revocation')[0]!.body).toContain(encodeURIComponent(refreshToken))
    const other = await rig.signIn()
    notes.fail('/token/revocation', { kind: 'reset' })
    expect(await rig.authorizations.disconnect(other)).toBe(false)
    expect(await kept.get(`credential:${other}`)).toBeNull()
  })

  it('goes to no address that the account had before, if a restored backup has it', async () => {
    const id = await open()
    const former = (path: string) => `https://former.example/${path}`
    const endpoints = { ...findCredentialRow(domain.db, id)!.endpoints!, tokenUrl: former('token'), revocationUrl: former('revoke') }
    transact(domain.db, (tx) => reconnectCredential(tx, id, { endpoints }))
    domain.clock.advance(HOUR_MS)
    await expect(use(id)).rejects.toMatchObject({ code: 'credential_refused' })
    expect(getCredential(domain.db, id)).toMatchObject({ status: 'needs_sign_in', problem: { code: 'credential_secret_gone' } })

    const { clientId, clientSecret, connector } = notes
    const secretOf = async () => {
      const authorization = await rig.authorizations.create({ connector: 'notes', method: 'browser', credentialId: id })
      return JSON.parse((await kept.get(`authorization:${authorization.id}`))!) as object
    }
    expect(await secretOf()).toMatchObject({ clientId, clientSecret })
    notes.connector = (slug) => connector(slug, { tokenUrl: former('token') })
    expect(await secretOf()).toMatchObject({ clientId, clientSecret: null })
    expect(await rig.authorizations.disconnect(id)).toBe(false)
  })

  // The child starts from source, which takes seconds on a busy machine.
  it('that was lost with its process, between the answer and the vault, leads to a new sign-in', async () => {
    const file = join(domain.folder, 'vault.json')
    writeFileSync(file, '{}')
    vault = createFileVault(file)
    const id = await open()
    // The child is the only one that has the database open.
    domain.db.close()
    const child = spawn(process.execPath, [CHILD, domain.file, file, notes.host, id])
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
    expect(signal).toBe('SIGKILL')
    expect(renewals()).toHaveLength(1)
    domain.reboot()
    const clock = shiftClock(systemClock, HOUR_MS)
    rig = openRenewalRig({ db: domain.db, vault, clock, ids: domain.ids }, notes.host, notes)
    await expect(use(id)).rejects.toMatchObject({ code: 'credential_refused' })
    await expect(use(id)).rejects.toMatchObject({ code: 'credential_refused' })
    expect(renewals()).toHaveLength(2)
    expect(getCredential(domain.db, id)).toMatchObject({ status: 'needs_sign_in', problem: { code: 'oauth_refused' } })
  })
})
