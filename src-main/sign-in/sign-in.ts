import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createListeners } from '../listeners.ts'
import type { MainLog } from '../log/main-log.ts'
import type { Vault } from '../vault/vault.ts'
import type { Accounts, AccountsDeps } from './accounts.ts'

export type SignIn = {
  /** The accounts, opened when they are first needed. Rejects with a VaultError, or if auth.db cannot be used. */
  accounts(): Promise<Accounts>
  /** Does not open anything if there were never accounts. */
  hasOwner(): Promise<boolean>
  /** Signs everybody out. */
  endSessions(): Promise<void>
  /** Whose session this token of better-auth is; null: nobody's, or it has ended. */
  resolveSession(token: string): Promise<{ userId: string } | null>
  /** Called after sessions ended or roles changed. */
  onChange(listener: () => void): () => void
  /** Takes the accounts of a backup that was restored, if there are any to take, and ends all sessions. `accounts` waits for it. */
  reloadRestored(): Promise<void>
  close(): void
}

export type SignInDeps = Pick<AccountsDeps, 'dataDir' | 'passwords'> & {
  vault: Pick<Vault, 'get' | 'set'>
  log: Pick<MainLog, 'error' | 'hide'>
  now?: () => number
}

const SECRET_NAME = 'sign_in_secret'
const SECRET_BYTES = 32

/** Accounts and sign-in of the dashboard. In `local-trust` nothing of it is loaded, unless the person opens its settings. */
export function createSignIn({ dataDir, vault, log, now = Date.now, passwords }: SignInDeps): SignIn {
  let opening: Promise<Accounts> | null = null
  let opened: Accounts | null = null
  const listeners = createListeners()

  async function open(): Promise<Accounts> {
    const { openAccounts } = await import('./accounts.ts')
    const secret = await readSecret()
    log.hide(secret)
    opened = await openAccounts({ dataDir, secret, now, passwords })
    if (opened.damagedFile !== null)
      log.error({ file: opened.damagedFile }, 'the accounts (auth.db) were damaged; the file is kept, and there are no accounts now')
    opened.onChange(listeners.tell)
    return opened
  }

  async function readSecret(): Promise<string> {
    const kept = await vault.get(SECRET_NAME)
    if (kept !== null) return kept
    const created = randomBytes(SECRET_BYTES).toString('base64url')
    await vault.set(SECRET_NAME, created)
    return created
  }

  function accounts(): Promise<Accounts> {
    return opening ?? keep(open())
  }

  function keep(next: Promise<Accounts>): Promise<Accounts> {
    const kept = next.catch((error: unknown) => {
      // A failure is not kept: the person may unlock the keychain and try again.
      if (opening === kept) opening = null
      throw error
    })
    opening = kept
    return kept
  }

  async function reopen(before: Promise<Accounts> | null): Promise<Accounts> {
    await before?.catch(() => {})
    opened?.close()
    opened = null
    return open()
  }

  const hasOwner = async () =>
    (existsSync(join(dataDir, 'auth.db')) || existsSync(join(dataDir, 'auth.db.restored'))) && (await accounts()).hasOwner()

  return {
    accounts,
    hasOwner,
    async endSessions() {
      if (await hasOwner()) (await accounts()).endAllSessions()
    },
    resolveSession: async (token) => (await accounts()).resolveSession(token),
    onChange: listeners.add,
    async reloadRestored() {
      if (!existsSync(join(dataDir, 'auth.db.restored'))) return
      await keep(reopen(opening))
      listeners.tell()
    },
    close() {
      opened?.close()
      opened = null
    },
  }
}
