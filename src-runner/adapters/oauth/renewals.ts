import { transact, type Database } from '../../platform/db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { required } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { credentialKey, type Vault } from '../../lib/vault.ts'
import { isGivenFor, readCredentialSecret, writeCredentialSecret, type Tokens } from '../../domain/credentials/credential-secret.ts'
import { findCredentialRow, noteRenewal, type CredentialRow } from '../../domain/credentials/credentials.ts'
import { isOver, type Renew, type Renewal } from '../../domain/credentials/use-credential.ts'
import type { IssuedTokens, OAuthClient, OAuthService } from './oauth-client.ts'

type Deps = { db: Database; vault: Vault; clock: Clock; client: OAuthClient }
/** `replaces`: the tokens that they were asked for with. */
type Unsaved = { tokens: Tokens; expiresAt: number | null; replaces: Tokens }

/**
 * Gets the next access tokens. The tokens of an answer are stored before anybody gets them: a service that rotates refresh tokens
 * has ended the old one. If Deckhand is killed between the answer and the vault, the service refuses the old token at the next
 * use, and the person signs in again.
 */
export function createRenewals({ db, vault, clock, client }: Deps): Renew {
  const underWay = new Map<string, Promise<Renewal>>()
  /** The vault did not take these. They are stored before anything else is asked for. */
  const unsaved = new Map<string, Unsaved>()

  /** Unless a person signed in again meanwhile, perhaps with another account. Returns the tokens that count. */
  async function saveUnlessReplaced(credentialId: string, issued: Unsaved): Promise<Renewal> {
    unsaved.set(credentialId, issued)
    const now = await readCredentialSecret(vault, credentialId)
    if (now?.kind === 'tokens' && !isSameSignIn(now, issued.replaces)) {
      unsaved.delete(credentialId)
      return { state: 'renewed', tokens: now }
    }
    await save(credentialId, issued)
    return { state: 'renewed', tokens: issued.tokens }
  }

  async function save(credentialId: string, { tokens, expiresAt }: Unsaved): Promise<void> {
    await writeCredentialSecret(vault, credentialId, tokens)
    unsaved.delete(credentialId)
    // It may have been disconnected meanwhile, and nobody would find its tokens again.
    if (!transact(db, (tx) => noteRenewal(tx, credentialId, expiresAt))) await vault.delete(credentialKey(credentialId))
  }

  async function renew(credentialId: string, refused: readonly string[]): Promise<Renewal> {
    const waiting = unsaved.get(credentialId)
    if (waiting !== undefined) await saveUnlessReplaced(credentialId, waiting)
    const row = required(findCredentialRow(db, credentialId), 'credential_not_found')
    const secret = await readCredentialSecret(vault, credentialId)
    if (secret?.kind !== 'tokens' || row.endpoints === null || !isGivenFor(secret, row)) {
      return { state: 'refused', problem: createMessage('credential_secret_gone', { name: row.name }) }
    }
    // Somebody else renewed it while this caller read it.
    if (!isOver(row, clock) && !refused.includes(secret.accessToken)) return { state: 'renewed', tokens: secret }
    if (secret.refreshToken === null) return { state: 'refused', problem: createMessage('credential_expired', { name: row.name }) }
    const answer = await client.refresh(serviceOf(row, secret), secret.refreshToken)
    if (answer.state !== 'issued') return { state: answer.state === 'refused' ? 'refused' : 'unreachable', problem: answer.problem }
    const issued = { tokens: nextTokens(secret, answer.tokens), expiresAt: expiryOf(answer.tokens, clock), replaces: secret }
    return saveUnlessReplaced(credentialId, issued)
  }

  return (credentialId, refused, signal) => {
    const shared = underWay.get(credentialId)
    const renewal = shared ?? renew(credentialId, refused).finally(() => underWay.delete(credentialId))
    if (shared === undefined) underWay.set(credentialId, renewal)
    return signal === undefined ? renewal : unlessAborted(renewal, signal)
  }
}

export function serviceOf(
  { name, endpoints, resource }: Pick<CredentialRow, 'name' | 'endpoints' | 'resource'>,
  tokens: Tokens,
): OAuthService {
  return { name, endpoints: endpoints!, clientId: tokens.clientId, clientSecret: tokens.clientSecret, resource }
}

function isSameSignIn(now: Tokens, before: Tokens): boolean {
  return now.accessToken === before.accessToken && now.refreshToken === before.refreshToken
}

function nextTokens(before: Tokens, { accessToken, refreshToken }: IssuedTokens): Tokens {
  return { ...before, accessToken, refreshToken: refreshToken ?? before.refreshToken }
}

/** null: it does not expire, or the service does not say when. */
export function expiryOf({ expiresInMs }: IssuedTokens, clock: Pick<Clock, 'now'>): number | null {
  return expiresInMs === null ? null : Math.round(clock.now() + expiresInMs)
}

/** Stops waiting. The request goes on for the others. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    // Also if nobody waits for it any more: a failure that nobody hears of would end the process.
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
