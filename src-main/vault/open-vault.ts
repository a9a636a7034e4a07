import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Log } from '../log/log.ts'
import { createFileKey } from './file-key.ts'
import { createKeychainKey, type KeychainKeyOptions } from './keychain-key.ts'
import { createSealedVault } from './sealed-vault.ts'
import { VaultError, type Vault, type VaultKeySource } from './vault.ts'

/**
 * The vault of one data folder. The two kinds use different files, so switching between them hides secrets but loses
 * none.
 */
export function openVault(kind: Vault['kind'], dataDir: string, keychain: Partial<KeychainKeyOptions> = {}): Vault {
  const keySource = kind === 'file' ? createFileKey(join(dataDir, 'vault-file.key')) : keychainKeyOf(dataDir, keychain)
  return createSealedVault({ kind, file: join(dataDir, `vault-${kind}.json`), keySource })
}

function keychainKeyOf(dataDir: string, keychain: Partial<KeychainKeyOptions>): VaultKeySource {
  const folder = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 12)
  return createKeychainKey({ account: `vault-key ${folder}`, ...keychain })
}

/** Deletes the key of the vault from the keychain, unless there never was a vault there. Rejects with a VaultError. */
export async function eraseVaultKeys(dataDir: string, keychain: Partial<KeychainKeyOptions> = {}): Promise<void> {
  if (existsSync(join(dataDir, 'vault-keychain.json'))) await keychainKeyOf(dataDir, keychain).erase()
}

const WORKER_SECRET_NAME = 'worker_secret'
const WORKER_SECRET_BYTES = 32

/** The secret that Deckhand created. null: none yet. Rejects with a VaultError. */
export function readCreatedSecret(vault: Vault): Promise<string | null> {
  return vault.get(WORKER_SECRET_NAME)
}

/** Creates another secret and stores it. Rejects with a VaultError; the old one is then still stored. */
export async function replaceWorkerSecret(vault: Pick<Vault, 'set'>): Promise<string> {
  const created = createSecret()
  await vault.set(WORKER_SECRET_NAME, created)
  return created
}

function createSecret(): string {
  return randomBytes(WORKER_SECRET_BYTES).toString('base64url')
}

/**
 * WORKER_SECRET: the given one, or the one in the vault, created at the first start.
 *
 * If the vault cannot be used, `local-trust` continues with a secret for this run only: no other process needs it there,
 * and a locked keyring must not stop jobs. In the other modes scripts use the stored secret, so this rejects (VaultError).
 */
export async function readWorkerSecret(options: {
  vault: Vault
  given: string | null
  authMode: 'local-trust' | 'local-auth' | 'bearer-token'
  log: Log
}): Promise<string> {
  if (options.given !== null) return options.given
  try {
    const kept = await options.vault.get(WORKER_SECRET_NAME)
    if (kept !== null) return kept
    return await replaceWorkerSecret(options.vault)
  } catch (error) {
    if (!(error instanceof VaultError) || options.authMode !== 'local-trust') throw error
    options.log.warn(
      { vault: options.vault.kind, trouble: error.trouble },
      `${error.message} Until then Deckhand works without stored keys.`,
    )
    return createSecret()
  }
}
