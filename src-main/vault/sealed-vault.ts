import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Message } from '../../src-runner/contract/messages.ts'
import type { VaultState } from '../contract/desktop-api.ts'
import { createListeners } from '../listeners.ts'
import { messageOf } from '../log/log.ts'
import { writeAtomic } from '../settings/write-atomic.ts'
import { VAULT_KEY_BYTES, VaultError, type Vault, type VaultKeySource } from './vault.ts'

const Base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/)
const SealedFile = z.object({ version: z.literal(1), iv: Base64, tag: Base64, data: Base64 })
const Entries = z.record(z.string(), z.string())
type Entries = z.infer<typeof Entries>

/** Authenticated data: ciphertext of another kind or version is rejected. */
const PURPOSE = Buffer.from('deckhand vault 1')
const IV_BYTES = 12

/**
 * All secrets in one AES-256-GCM file. Only its key is elsewhere (the keychain, or a file beside it). So a value may have
 * any length (Windows' keychain stops at 2,560 bytes), and the keychain asks the person once instead of once per secret.
 * The key is read once per process.
 *
 * Nothing is replaced silently: a file whose key is missing or wrong is left alone and reported as damaged.
 */
export function createSealedVault({ kind, file, keySource }: { kind: VaultState['kind']; file: string; keySource: VaultKeySource }): Vault {
  let key: Buffer | null = null
  let state: VaultState = { kind, state: 'ok', message: null }
  let last: Promise<unknown> = Promise.resolve()
  const listeners = createListeners<[VaultState]>()

  function report(next: VaultState): void {
    if (next.state === state.state && JSON.stringify(next.message) === JSON.stringify(state.message)) return
    state = next
    listeners.tell(state)
  }

  /** One operation at a time, because `set` reads, changes and writes the whole file. */
  function inTurn<T>(operation: () => Promise<T>): Promise<T> {
    const result = last.then(operation).then(
      (value) => {
        report({ kind, state: 'ok', message: null })
        return value
      },
      (error: unknown) => {
        if (error instanceof VaultError) report({ kind, state: error.trouble, message: error.detail })
        throw error
      },
    )
    last = result.catch(() => undefined)
    return result
  }

  async function read(): Promise<Entries> {
    const sealed = await readSealed(file)
    key ??= await keySource.load({ isExpected: sealed !== null })
    if (sealed === null) return {}
    if (key === null) throw damaged(file, 'vault_no_key')
    return open(sealed, key, file)
  }

  async function write(entries: Entries): Promise<void> {
    if (key === null) {
      const fresh = randomBytes(VAULT_KEY_BYTES)
      // The key first: a sealed file whose key was never kept would be lost.
      await keySource.save(fresh)
      key = fresh
    }
    try {
      await writeAtomic(file, `${JSON.stringify(seal(entries, key))}\n`)
    } catch (error) {
      throw new VaultError('denied', { code: 'vault_unwritable', params: { file, why: messageOf(error) } }, { cause: error })
    }
  }

  return {
    kind,
    get: (name) =>
      inTurn(async () => {
        const entries = await read()
        return Object.hasOwn(entries, name) ? entries[name]! : null
      }),
    set: (name, value) => inTurn(async () => write({ ...(await read()), [name]: value })),
    delete: (name) =>
      inTurn(async () => {
        const entries = await read()
        if (!Object.hasOwn(entries, name)) return
        const { [name]: _gone, ...rest } = entries
        await write(rest)
      }),
    state: () => state,
    async recheck() {
      key = null
      await inTurn(read).catch((error: unknown) => {
        if (!(error instanceof VaultError)) throw error
      })
      return state
    },
    onState: listeners.add,
    isHanging: () => keySource.isHanging(),
  }
}

function seal(entries: Entries, key: Buffer): z.infer<typeof SealedFile> {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(PURPOSE)
  const data = Buffer.concat([cipher.update(JSON.stringify(entries), 'utf8'), cipher.final()])
  return { version: 1, iv: iv.toString('base64'), tag: cipher.getAuthTag().toString('base64'), data: data.toString('base64') }
}

function open(sealed: z.infer<typeof SealedFile>, key: Buffer, file: string): Entries {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(sealed.iv, 'base64'), { authTagLength: 16 })
    decipher.setAAD(PURPOSE).setAuthTag(Buffer.from(sealed.tag, 'base64'))
    const text = Buffer.concat([decipher.update(Buffer.from(sealed.data, 'base64')), decipher.final()]).toString('utf8')
    return Entries.parse(JSON.parse(text))
  } catch (error) {
    throw damaged(file, 'vault_wrong_key', error)
  }
}

async function readSealed(file: string): Promise<z.infer<typeof SealedFile> | null> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new VaultError('denied', { code: 'vault_unreadable', params: { file, why: messageOf(error) } }, { cause: error })
  }
  try {
    return SealedFile.parse(JSON.parse(text))
  } catch (error) {
    throw damaged(file, 'vault_file_changed', error)
  }
}

function damaged(file: string, why: 'vault_no_key' | 'vault_wrong_key' | 'vault_file_changed', cause?: unknown): VaultError {
  const detail: Message = { code: 'vault_damaged', params: { file, why: { code: why, params: {} } } }
  return new VaultError('damaged', detail, cause === undefined ? undefined : { cause })
}
