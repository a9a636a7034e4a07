import { chmod, readFile, rm, stat } from 'node:fs/promises'
import { messageOf } from '../log/log.ts'
import { writeAtomic } from '../settings/write-atomic.ts'
import { VAULT_KEY_BYTES, VaultError, type VaultKeySource } from './vault.ts'

/** The vault's key in a file, for machines without a keychain. Anybody who can read the file can open the vault. */
export function createFileKey(file: string): VaultKeySource {
  return {
    isHanging: () => false,
    async load() {
      let text: string
      try {
        text = await readFile(file, 'utf8')
        if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw new VaultError('denied', { code: 'vault_key_unreadable', params: { file, why: messageOf(error) } }, { cause: error })
      }
      const key = Buffer.from(text.trim(), 'base64')
      if (key.length !== VAULT_KEY_BYTES) {
        throw new VaultError('damaged', { code: 'vault_key_damaged', params: { file } })
      }
      return key
    },
    erase: () => rm(file, { force: true }),
    async save(key) {
      try {
        await writeAtomic(file, `${key.toString('base64')}\n`)
      } catch (error) {
        throw new VaultError('denied', { code: 'vault_key_unwritable', params: { file, why: messageOf(error) } }, { cause: error })
      }
    },
  }
}
