import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { transact } from '../../platform/db/database.ts'
import type { GuardedFetch } from '../../platform/net/guarded-fetch.ts'
import type { Services } from '../../platform/services.ts'
import type { Connector } from '../../contract/connectors.ts'
import type { Authorization, CreateAuthorization } from '../../contract/credentials.ts'
import type { Message } from '../../contract/messages.ts'
import { AppError, messageOf, problemOf, required } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { authorizationKey, credentialKey } from '../../lib/vault.ts'
import { findConnector, isGeneral } from '../../domain/connectors/connectors.ts'
import {
  beginAuthorization,
  endAuthorization,
  findAuthorizationRow,
  getAuthorization,
  insertAuthorization,
  isAuthorizationOpen,
  listExpired,
  listInterrupted,
  pruneAuthorizations,
  takeAnswer,
  type AuthorizationRow,
  type DeviceCode,
} from '../../domain/credentials/authorizations.ts'
import { deleteCredential, findCredentialRow, getCredential } from '../../domain/credentials/credentials.ts'
import { readCredentialSecret } from '../../domain/credentials/credential-secret.ts'
import { signMcpServerOut } from '../../domain/mcp/mcp-servers.ts'
import { readAuthorizationSecret, writeAuthorizationSecret, type AuthorizationSecret } from './authorization-secret.ts'
import type { OAuthClient, OAuthService } from './oauth-client.ts'
import { createDevicePolls, type PollResult } from './device-polls.ts'
import { isSafeAddress } from './safe-endpoints.ts'
import { MCP_CONNECTOR, planAuthorization } from './plan-authorization.ts'
import { serviceOf } from './renewals.ts'
import { createStoreAccount } from './store-account.ts'

export type AuthorizationsDeps = Pick<Services, 'db' | 'vault' | 'clock' | 'ids' | 'log'> & {
  client: OAuthClient
  fetch: GuardedFetch
  /** The dashboard's address, to which services send people back. Never taken from a request. */
  appUrl(): string
  /** Default: the catalogue. */
  findConnector?: (slug: string) => Connector | null
}

/** What the dashboard passes on of the service's answer. `session`: whose browser it is, as at the beginning. */
export type BrowserAnswer = { provider: string; session: string; query: string }

const LOOK_EVERY_MS = 30_000
const MAX_DEVICE_LIVES_MS = 30 * 60_000
const MAX_POLL_S = 60
const STATE_BYTES = 32
const VERIFIER_BYTES = 32

/**
 * Sign-ins at services. Each is a row, and its secrets are in the vault: nothing waits in memory, so a restart in the middle loses
 * nothing. The state that comes back counts once, for one sign-in of one browser session at one service.
 */
export function createAuthorizations(deps: AuthorizationsDeps) {
  const { db, vault, clock, ids, log, client } = deps
  const findService = deps.findConnector ?? findConnector
  const storeAccount = createStoreAccount({ ...deps, findConnector: findService })
  const devices = createDevicePolls({ db, clock, log, poll })
  let stop = () => {}

  /** The segment of the redirect address. An MCP server has its own, so that no server gets the answer of another one. */
  function providerOf({ connector, mcpServerId }: Pick<AuthorizationRow, 'connector' | 'mcpServerId'>): string {
    if (connector === MCP_CONNECTOR) return `mcp-${mcpServerId}`
    const known = findService(connector)
    return known !== null && isGeneral(known) ? known.kind : connector
  }

  function redirectUriOf(subject: Pick<AuthorizationRow, 'connector' | 'mcpServerId'>): string {
    return `${deps.appUrl().replace(/\/+$/, '')}/api/oauth/${providerOf(subject)}/callback`
  }

  async function create(input: CreateAuthorization): Promise<Authorization> {
    const mcpServerId = input.mcpServerId ?? null
    const { entityId, plan, clientId, clientSecret, resource, credential } = await planAuthorization(
      { ...deps, findConnector: findService },
      input,
    )
    const id = ids.next()
    const secret: AuthorizationSecret = { clientId, clientSecret, verifier: randomText(VERIFIER_BYTES), nonce: null, deviceCode: null }
    const { connector } = input
    const redirectUri = redirectUriOf({ connector, mcpServerId })
    const row = {
      id,
      entityId,
      connector,
      method: input.method,
      plan,
      redirectUri,
      credentialId: credential?.id ?? null,
      mcpServerId,
      resource,
    }
    const device = input.method === 'device' ? await startDevice(signInService(row, secret), plan.scopes) : null
    // First the secret: a row without it could not go on, a secret without its row is deleted with the sign-in.
    await writeAuthorizationSecret(vault, id, { ...secret, deviceCode: device?.deviceCode ?? null })
    const made = transact(db, (tx) => insertAuthorization(tx, { clock }, row, device?.shown))
    devices.plan()
    return made
  }

  /** Throws AppError authorization_refused. */
  async function startDevice(service: OAuthService, scopes: readonly string[]): Promise<{ deviceCode: string; shown: DeviceCode }> {
    if (service.endpoints.deviceUrl === null)
      throw new AppError('authorization_refused', createMessage('oauth_no_device', { service: service.name }))
    const given = await client.startDevice(service, scopes)
    if (given.state !== 'started') throw new AppError('authorization_refused', given.problem)
    const { device_code: deviceCode, user_code: userCode, verification_uri_complete: complete, interval = 5, expires_in: expiresIn } = given
    const verificationUrl = complete !== undefined && isSafeAddress(complete) ? complete : given.verification_uri
    if (!isSafeAddress(verificationUrl) || !/^[\x21-\x7e]{1,40}$/.test(userCode)) {
      throw new AppError('authorization_refused', createMessage('oauth_bad_answer', { service: service.name }))
    }
    const livesMs = Math.min(expiresIn * 1000, MAX_DEVICE_LIVES_MS)
    const pollIntervalMs = Math.min(Math.max(interval, 1), MAX_POLL_S) * 1000
    return { deviceCode, shown: { userCode, verificationUrl, pollIntervalMs, expiresAt: clock.now() + livesMs } }
  }

  async function poll(row: AuthorizationRow): Promise<PollResult> {
    const secret = await readAuthorizationSecret(vault, row.id)
    if (row.expiresAt <= clock.now() || secret?.deviceCode == null) {
      await endOld()
      return secret?.deviceCode == null ? endWith(row.id, createMessage('error_authorization_over')) : 'ended'
    }
    const service = signInService(row, secret)
    const answer = await client.pollDevice(service, secret.deviceCode)
    if (answer.state === 'refused') return endWith(row.id, answer.problem)
    if (answer.state !== 'issued') return answer.state
    try {
      await storeAccount(row, service, answer.tokens)
      await forgetSecret(row.id)
      return 'ended'
    } catch (error) {
      // The code counts once, so asking again would change nothing.
      return endWith(row.id, problemOf(error))
    }
  }

  async function endWith(authorizationId: string, problem: Message): Promise<'ended'> {
    await fail(authorizationId, problem)
    await forgetSecret(authorizationId)
    return 'ended'
  }

  /** Where to send the browser. Throws AppError authorization_over. */
  async function begin(authorizationId: string, { provider, session }: { provider: string; session: string }) {
    const row = required(findAuthorizationRow(db, authorizationId), 'authorization_not_found')
    if (row.method !== 'browser' || providerOf(row) !== provider) throw new AppError('authorization_not_found')
    const before = required(await readAuthorizationSecret(vault, row.id), 'authorization_over')
    // A second click gets another state, verifier and nonce: what the first one opened no longer counts.
    const nonce = row.plan.endpoints.issuer !== null && row.plan.scopes.includes('openid') ? randomText(STATE_BYTES) : null
    const secret = { ...before, verifier: randomText(VERIFIER_BYTES), nonce }
    const state = randomText(STATE_BYTES)
    const { scopes } = row.plan
    const request = { redirectUri: row.redirectUri, scopes, state, verifier: secret.verifier, nonce }
    const url = await client.authorizationUrl(signInService(row, secret), request)
    const digests = { stateDigest: digestOf(state), sessionDigest: digestOf(session) }
    if (!transact(db, (tx) => beginAuthorization(tx, row.id, digests, clock.now()))) throw new AppError('authorization_over')
    await writeAuthorizationSecret(vault, row.id, secret)
    if (!isAuthorizationOpen(db, row.id)) {
      // It was cancelled meanwhile, and its secret was deleted before it was written.
      await forgetSecret(row.id)
      throw new AppError('authorization_over')
    }
    return { url: url.href, state }
  }

  /** Throws AppError authorization_refused: with the reason of the service, or because the answer is not the one that is awaited. */
  async function finish(authorizationId: string, { provider, session, query }: BrowserAnswer): Promise<Authorization> {
    const row = findAuthorizationRow(db, authorizationId)
    const isOfSession = row?.sessionDigest != null && timingSafeEqual(row.sessionDigest, digestOf(session))
    if (row === null || !isOfSession || providerOf(row) !== provider) throw unexpected()
    return take(row, new URLSearchParams(query))
  }

  /** The person pastes the address at which their browser ended: it runs on a device that cannot open Deckhand's address. */
  async function finishPasted(authorizationId: string, address: string): Promise<Authorization> {
    const row = required(findAuthorizationRow(db, authorizationId), 'authorization_not_found')
    const text = address.trim()
    const isOurs = URL.canParse(text) && withoutQuery(text) === row.redirectUri
    if (!isOurs) throw new AppError('authorization_refused', createMessage('oauth_pasted_other', { redirectUri: row.redirectUri }))
    return take(row, new URL(text).searchParams)
  }

  async function take(row: AuthorizationRow, answer: URLSearchParams): Promise<Authorization> {
    const [state, ...more] = answer.getAll('state')
    const digest = digestOf(state ?? '')
    const isExpected = state !== undefined && more.length === 0 && row.stateDigest !== null && timingSafeEqual(row.stateDigest, digest)
    // Only one request gets past this.
    if (!isExpected || !transact(db, (tx) => takeAnswer(tx, row.id, digest, clock.now()))) throw unexpected()
    try {
      const secret = required(await readAuthorizationSecret(vault, row.id), 'authorization_over')
      const service = signInService(row, secret)
      const url = new URL(row.redirectUri)
      url.search = answer.toString()
      const issued = await client.exchange(service, { answer: url, state, verifier: secret.verifier, nonce: secret.nonce })
      if (issued.state !== 'issued') throw new AppError('authorization_refused', issued.problem)
      await storeAccount(row, service, issued.tokens)
      return getAuthorization(db, row.id)
    } catch (error) {
      await fail(row.id, problemOf(error))
      throw error
    } finally {
      await forgetSecret(row.id)
    }
  }

  async function fail(authorizationId: string, problem: Message): Promise<void> {
    transact(db, (tx) => endAuthorization(tx, authorizationId, 'failed', { problem }))
  }

  async function cancel(authorizationId: string): Promise<Authorization> {
    getAuthorization(db, authorizationId)
    transact(db, (tx) => endAuthorization(tx, authorizationId, 'cancelled'))
    await forgetSecret(authorizationId)
    return getAuthorization(db, authorizationId)
  }

  async function forgetSecret(authorizationId: string): Promise<void> {
    await vault.delete(authorizationKey(authorizationId)).catch((error: unknown) => {
      log.warn({ error: messageOf(error), authorizationId }, 'could not delete the secrets of a sign-in')
    })
  }

  /** Ends sign-ins whose time is over. */
  async function endOld(): Promise<void> {
    const expired = listExpired(db, clock.now())
    transact(db, (tx) => {
      for (const { id } of expired) endAuthorization(tx, id, 'expired', { problem: createMessage('oauth_expired') })
      pruneAuthorizations(tx, clock.now())
    })
    for (const { id } of expired) await forgetSecret(id)
  }

  async function endInterrupted(): Promise<void> {
    for (const { id, plan } of listInterrupted(db)) {
      await fail(id, createMessage('oauth_interrupted', { service: plan.name }))
      await forgetSecret(id)
    }
  }

  function signInService(
    { plan, resource }: Pick<AuthorizationRow, 'plan' | 'resource'>,
    { clientId, clientSecret }: AuthorizationSecret,
  ): OAuthService {
    return { name: plan.name, endpoints: plan.endpoints, clientId, clientSecret, resource }
  }

  /** Revokes its tokens at the service, and deletes it. null: the service has no revocation. Throws AppError credential_not_found. */
  async function disconnect(credentialId: string): Promise<boolean | null> {
    getCredential(db, credentialId)
    const row = findCredentialRow(db, credentialId)!
    const secret = await readCredentialSecret(vault, credentialId)
    // With the refresh token, all access tokens end (RFC 7009).
    const revoked =
      secret?.kind === 'tokens' ? await client.revoke(serviceOf(row, secret), secret.refreshToken ?? secret.accessToken) : null
    // First the secret: a row without it is shown and can be deleted again, a secret without its row is never found.
    await vault.delete(credentialKey(credentialId))
    transact(db, (tx) => {
      if (row.mcpServerId !== null) signMcpServerOut(tx, row.mcpServerId, credentialId)
      deleteCredential(tx, credentialId)
    })
    return revoked
  }

  return {
    ...{ create, begin, finish, finishPasted, cancel, disconnect, redirectUriOf },
    read: (authorizationId: string) => getAuthorization(db, authorizationId),
    start(): void {
      const inBackground = (work: () => Promise<void>) => () => {
        work().catch((error: unknown) => log.warn({ error: messageOf(error) }, 'could not end old sign-ins this time'))
      }
      inBackground(endInterrupted)()
      stop = clock.every(LOOK_EVERY_MS, inBackground(endOld))
      devices.plan()
    },
    stop(): void {
      devices.stop()
      stop()
    },
  }
}

function unexpected(): AppError {
  return new AppError('authorization_refused', createMessage('oauth_unexpected'))
}

function withoutQuery(address: string): string {
  const url = new URL(address)
  return `${url.origin}${url.pathname}`
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
