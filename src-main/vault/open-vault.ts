import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createFileKey } from './file-key.ts'
import { createKeychainKey, type KeychainKeyOptions } from './keychain-key.ts'
import { createSealedVault } from './sealed-vault.ts'
import type { Vault, VaultKeySource } from './vault.ts'

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
