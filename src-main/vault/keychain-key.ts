import { messageOf } from '../log/log.ts'
import { VAULT_KEY_BYTES, VaultError, type VaultKeySource, type VaultTrouble } from './vault.ts'

export type Keychain = {
  getPassword(service: string, account: string): Promise<string | null>
  setPassword(service: string, account: string, password: string): Promise<void>
  deletePassword(service: string, account: string): Promise<boolean>
}

export const KEYCHAIN_SERVICE = 'Deckhand'
const TIME_LIMIT_MS = 5_000

export type KeychainKeyOptions = {
  /** Distinguishes data folders, so that a second installation never replaces the first one's key. */
  account: string
  /** Loaded at first use: if the native library is missing, the start must still succeed. */
  loadKeychain?: () => Promise<Keychain>
  timeLimitMs?: number
  platform?: NodeJS.Platform
}

/**
 * The vault's key in the system's keychain. Each call has a time limit, because a keychain that shows a dialog may never
 * return. While a call hangs no other one is made: each would block one of libuv's four threads, which also read files.
 */
export function createKeychainKey(options: KeychainKeyOptions): VaultKeySource {
  const { account, loadKeychain = importKeytar, timeLimitMs = TIME_LIMIT_MS, platform = process.platform } = options
  let hanging = false

  async function call<T>(use: (keychain: Keychain) => Promise<T>): Promise<T> {
    if (hanging) throw trouble('timeout')
    const keychain = await loadKeychain().catch((error: unknown) => {
      throw trouble('absent', error)
    })
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        hanging = true
        reject(trouble('timeout'))
      }, timeLimitMs)
    })
    const result = use(keychain).finally(() => {
      clearTimeout(timer)
      hanging = false
    })
    result.catch(() => undefined)
    return Promise.race([result, limit]).catch((error: unknown) => {
      throw error instanceof VaultError ? error : trouble(troubleOf(messageOf(error)), error)
    })
  }

  return {
    isHanging: () => hanging,
    async load({ isExpected }) {
      const read = () => call((keychain) => keychain.getPassword(KEYCHAIN_SERVICE, account))
      let text = await read()
      if (text === null && isExpected && platform === 'linux') {
        // libsecret finds nothing in a locked keyring whose dialog was dismissed. Only writing says that it is locked.
        const probe = `${account} probe`
        await call((keychain) => keychain.setPassword(KEYCHAIN_SERVICE, probe, 'probe'))
        await call((keychain) => keychain.deletePassword(KEYCHAIN_SERVICE, probe))
        text = await read()
      }
      if (text === null) return null
      const key = Buffer.from(text, 'base64')
      if (key.length !== VAULT_KEY_BYTES) throw trouble('damaged')
      return key
    },
    erase: () => call(async (keychain) => void (await keychain.deletePassword(KEYCHAIN_SERVICE, account))),
    save: (key) => call((keychain) => keychain.setPassword(KEYCHAIN_SERVICE, account, key.toString('base64'))),
  }
}

async function importKeytar(): Promise<Keychain> {
  // CommonJS: only the default export has all functions.
  return ((await import('keytar')) as unknown as { default: Keychain }).default
}

/** Classifies an error by the texts of libsecret, GLib, the macOS Security framework and Windows. */
export function troubleOf(message: string): VaultTrouble {
  if (/timed? ?out|NoReply/i.test(message)) return 'timeout'
  if (/dismissed|cancell?ed|denied|not correct|authoriz|permission/i.test(message)) return 'denied'
  if (/\block(ed)?\b|collection\/|No such secret (item|collection)|user interaction is not allowed|prompt/i.test(message)) return 'locked'
  return 'absent'
}

function trouble(kind: VaultTrouble, cause?: unknown): VaultError {
  return new VaultError(kind, { code: `keychain_${kind}`, params: {} }, cause === undefined ? undefined : { cause })
}
