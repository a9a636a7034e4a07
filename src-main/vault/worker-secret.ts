import { randomBytes } from 'node:crypto'
import type { AuthMode } from '../../src-runner/contract/port.ts'
import type { MainLog } from '../log/main-log.ts'
import { MessageError } from '../message-error.ts'
import { VaultError, type Vault } from './vault.ts'

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

export type WorkerSecretDeps = {
  vault: Vault
  /** By the environment; null: Deckhand creates one. */
  given: string | null
  authMode: () => AuthMode
  log: Pick<MainLog, 'warn' | 'hide'>
}

/**
 * WORKER_SECRET of this process: the given one, or the one in the vault, created at the first start. It is read when it is
 * first needed, and hidden from the log.
 */
export function createWorkerSecret({ vault, given, authMode, log }: WorkerSecretDeps) {
  let known: string | null = null
  let isTemporary = false
  let reading: Promise<string> | null = null

  const keep = (secret: string): string => {
    known = secret
    isTemporary = false
    log.hide(secret)
    return secret
  }

  const readStored = (): Promise<string> =>
    (reading ??= (async () => given ?? (await readCreatedSecret(vault)) ?? (await replaceWorkerSecret(vault)))().finally(
      () => (reading = null),
    ))

  return {
    /** null: not read yet. */
    known: () => known,
    /**
     * If the vault cannot be used, `local-trust` continues with a temporary secret: no other process needs it there, and a
     * locked keyring must not stop jobs. In the other modes scripts use the stored secret, so this rejects (VaultError).
     */
    async read(): Promise<string> {
      if (known !== null) return known
      try {
        return keep(await readStored())
      } catch (error) {
        if (!(error instanceof VaultError) || authMode() !== 'local-trust') throw error
        log.warn(
          { vault: vault.kind, trouble: error.trouble, error: error.message },
          'the vault cannot be used; until it can, Deckhand works without stored keys',
        )
        if (known !== null) return known
        const temporary = keep(createSecret())
        isTemporary = true
        return temporary
      }
    },
    /** Replaces a temporary secret by the stored one. false: it is not temporary. Rejects with a VaultError if it cannot be read. */
    async replaceTemporary(): Promise<boolean> {
      if (!isTemporary) return false
      keep(await readStored())
      return true
    },
    /** Rejects with a VaultError, or if the environment sets it. */
    async replace(): Promise<string> {
      if (given !== null) throw new MessageError({ code: 'secret_given', params: {} })
      return keep(await replaceWorkerSecret(vault))
    },
  }
}
