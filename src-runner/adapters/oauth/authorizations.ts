import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { transact } from '../../platform/db/database.ts'
import type { GuardedFetch } from '../../platform/net/guarded-fetch.ts'
import type { Services } from '../../platform/services.ts'
import type { Connector } from '../../contract/connectors.ts'
import type { Authorization, CreateAuthorization } from '../../contract/credentials.ts'
import { AppError, messageOf, problemOf, required } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { findConnector, isGeneral } from '../../domain/connectors/connectors.ts'
import {
  beginAuthorization,
  endAuthorization,
  findAuthorizationRow,
  getAuthorization,
  insertAuthorization,
  isAuthorizationOpen,
  takeAnswer,
  type AuthorizationRow,
} from '../../domain/credentials/authorizations.ts'
import { readAuthorizationSecret, signInService, writeAuthorizationSecret, type AuthorizationSecret } from './authorization-secret.ts'
import { createDeviceSignIns } from './device-sign-ins.ts'
import { disconnectAccount } from './disconnect-account.ts'
import { createAuthorizationCleanup } from './end-authorizations.ts'
import type { OAuthClient } from './oauth-client.ts'
import { MCP_CONNECTOR, planAuthorization } from './plan-authorization.ts'
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
  const cleanup = createAuthorizationCleanup(deps)
  const devices = createDeviceSignIns({ ...deps, cleanup, storeAccount })
  const redirectUriOf = createRedirectUriOf({ ...deps, findConnector: findService })
  let stop = () => {}

  async function create(input: CreateAuthorization): Promise<Authorization> {
    const mcpServerId = input.mcpServerId ?? null
    const { entityId, plan, clientId, clientSecret, resource, credential } = await planAuthorization(
      { ...deps, findConnector: findService },
      input,
    )
    const id = ids.next()
    const secret: AuthorizationSecret = { clientId, clientSecret, verifier: randomText(VERIFIER_BYTES), nonce: null, deviceCode: null }
    const { connector, redirectAs } = input
    const redirectUri = redirectUriOf({ connector, mcpServerId, redirectAs })
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
    const device = input.method === 'device' ? await devices.start(signInService(row, secret), plan.scopes) : null
    // First the secret: a row without it could not go on, a secret without its row is deleted with the sign-in.
    await writeAuthorizationSecret(vault, id, { ...secret, deviceCode: device?.deviceCode ?? null })
    const made = transact(db, (tx) => insertAuthorization(tx, { clock }, row, device?.shown))
    devices.plan()
    return made
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
      await cleanup.forgetSecret(row.id)
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
      cleanup.fail(row.id, problemOf(error))
      throw error
    } finally {
      await cleanup.forgetSecret(row.id)
    }
  }

  async function cancel(authorizationId: string): Promise<Authorization> {
    getAuthorization(db, authorizationId)
    transact(db, (tx) => endAuthorization(tx, authorizationId, 'cancelled'))
    await cleanup.forgetSecret(authorizationId)
    return getAuthorization(db, authorizationId)
  }

  return {
    create,
    begin,
    finish,
    finishPasted,
    cancel,
    redirectUriOf,
    disconnect: (credentialId: string) => disconnectAccount(deps, credentialId),
    read: (authorizationId: string) => getAuthorization(db, authorizationId),
    start(): void {
      const inBackground = (work: () => Promise<void>) => () => {
        work().catch((error: unknown) => log.warn({ error: messageOf(error) }, 'could not end old sign-ins this time'))
      }
      inBackground(cleanup.endInterrupted)()
      stop = clock.every(LOOK_EVERY_MS, inBackground(cleanup.endOld))
      devices.plan()
    },
    stop(): void {
      devices.stop()
      stop()
    },
  }
}

type Subject = Pick<AuthorizationRow, 'connector' | 'mcpServerId'> & { redirectAs?: CreateAuthorization['redirectAs'] }

/** Where services send people back. An MCP server has its own address, so that no server gets the answer of another one. */
function createRedirectUriOf({ appUrl, findConnector }: Required<Pick<AuthorizationsDeps, 'appUrl' | 'findConnector'>>) {
  function nameOf({ connector, mcpServerId, redirectAs }: Subject): string {
    if (connector === MCP_CONNECTOR) return `mcp-${mcpServerId}`
    const known = findConnector(connector)
    return known !== null && isGeneral(known) ? (redirectAs ?? known.kind) : connector
  }
  return (subject: Subject) => `${appUrl().replace(/\/+$/, '')}/api/oauth/${nameOf(subject)}/callback`
}

/** The name of the service in the address that it sends people back to. */
function providerOf({ redirectUri }: Pick<AuthorizationRow, 'redirectUri'>): string {
  return new URL(redirectUri).pathname.split('/').at(-2)!
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
