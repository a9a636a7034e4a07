import { commitSoon, transact } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { CredentialAccess } from '../../contract/credentials.ts'
import type { Message } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import { createMessage, readMessage } from '../../lib/messages.ts'
import { isGivenFor, readCredentialSecret, type CredentialSecret, type Tokens } from './credential-secret.ts'
import { findCredentialRow, findGrant, noteCredentialUse, requireSignIn, type CredentialRow } from './credentials.ts'

/** A token that expires within this time is renewed before it is used: a request takes a while, and clocks differ. */
const EXPIRY_SKEW_MS = 60_000
/** How exact the time of the last use is. Each use would otherwise be a write. */
const LAST_USE_MS = 60_000

/** How a request signs in. */
export type CredentialUse = {
  /** Names in lower case. They go to these hosts only, and only over HTTPS or to this machine. */
  headers: Record<string, string>
  hosts: readonly string[]
  /** What must not be shown: cut from everything that comes back. */
  secrets: readonly string[]
  connector: string
  name: string
  accountName: string | null
}

export type UseOptions = {
  signal?: AbortSignal
  /** The secrets of the use that the service has just refused with 401. Then the token is renewed, unless that has happened meanwhile. */
  refused?: readonly string[]
}

/** refused: only a person can sign in again. */
export type Renewal = { state: 'renewed'; tokens: Tokens } | { state: 'refused' | 'unreachable'; problem: Message }

/**
 * Returns tokens that are valid and not among `refused`, after getting and storing new ones if there are none. Callers at the same
 * time share one request. Throws AppError credential_not_found or vault_unavailable, or the reason of the signal.
 */
export type Renew = (credentialId: string, refused: readonly string[], signal?: AbortSignal) => Promise<Renewal>

export type CredentialStore = {
  /**
   * The only function that returns a token. The grant is checked at this moment; `agentId` null is the person. An expired
   * token is renewed first. Throws AppError credential_not_found (also without a grant), credential_refused with the reason,
   * or vault_unavailable.
   */
  use(credentialId: string, agentId: string | null, access: CredentialAccess, options?: UseOptions): Promise<CredentialUse>
}

type Deps = Pick<Services, 'db' | 'vault' | 'clock' | 'log'> & { renew: Renew }

export function createCredentialStore({ db, vault, clock, log, renew }: Deps): CredentialStore {
  function requireGrant(credentialId: string, agentId: string | null, access: CredentialAccess): CredentialRow {
    const row = findCredentialRow(db, credentialId)
    if (row === null) throw new AppError('credential_not_found')
    if (agentId !== null) {
      const granted = findGrant(db, credentialId, agentId)
      if (granted === null) throw new AppError('credential_not_found')
      if (access === 'write' && granted === 'read') throw refusal('credential_read_only', row)
    }
    if (row.status === 'needs_sign_in') throw new AppError('credential_refused', readMessage(row.problem) ?? undefined)
    return row
  }

  async function currentSecret(row: CredentialRow, { refused = [], signal }: UseOptions): Promise<CredentialSecret> {
    const secret = await readCredentialSecret(vault, row.id)
    if (secret === null || !isGivenFor(secret, row)) throw endSignIn(row, createMessage('credential_secret_gone', { name: row.name }))
    const isRefused = refused.includes(secret.kind === 'tokens' ? secret.accessToken : secret.secrets[0]!)
    if (secret.kind === 'headers') {
      if (isRefused) throw endSignIn(row, createMessage('credential_key_refused', { name: row.name }))
      return secret
    }
    if (!isRefused && !isOver(row, clock)) return secret
    const renewal = await renew(row.id, refused, signal)
    if (renewal.state === 'renewed') return renewal.tokens
    throw renewal.state === 'refused' ? endSignIn(row, renewal.problem) : new AppError('credential_refused', renewal.problem)
  }

  function endSignIn(row: CredentialRow, problem: Message): AppError {
    transact(db, (tx) => requireSignIn(tx, row.id, problem))
    return new AppError('credential_refused', problem)
  }

  function noteUse({ id, lastUsedAt }: CredentialRow): void {
    const now = clock.now()
    if (lastUsedAt !== null && Math.abs(now - lastUsedAt) < LAST_USE_MS) return
    commitSoon(db, (tx) => noteCredentialUse(tx, id, now)).catch((error: unknown) =>
      log.warn({ error: messageOf(error) }, 'could not note the use of an account'),
    )
  }

  return {
    async use(credentialId, agentId, access, options = {}) {
      const secret = await currentSecret(requireGrant(credentialId, agentId, access), options)
      // The person may have taken the account away while its secret was read or renewed.
      const row = requireGrant(credentialId, agentId, access)
      noteUse(row)
      const { hosts, connector, name, accountName } = row
      const sent =
        secret.kind === 'headers'
          ? { headers: lowerNames(secret.headers), secrets: secret.secrets }
          : { headers: { authorization: `Bearer ${secret.accessToken}` }, secrets: secretsOf(secret) }
      return { ...sent, hosts, connector, name, accountName }
    },
  }
}

/** Whether the access token expires too soon to be used. */
export function isOver({ expiresAt }: Pick<CredentialRow, 'expiresAt'>, clock: Pick<Clock, 'now'>): boolean {
  return expiresAt !== null && expiresAt - EXPIRY_SKEW_MS <= clock.now()
}

function refusal(code: 'credential_read_only', { name }: CredentialRow): AppError {
  return new AppError('credential_refused', createMessage(code, { name }))
}

/** The access token first. */
function secretsOf({ accessToken, refreshToken, clientSecret }: Tokens): string[] {
  return [accessToken, refreshToken, clientSecret].filter((secret) => secret !== null)
}

function lowerNames(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
