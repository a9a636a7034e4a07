import type { VaultState } from '../contract/desktop-api.ts'

export type VaultTrouble = Exclude<VaultState['state'], 'ok'>

/** Where secrets are kept. Every method but `state` rejects with a VaultError when the vault cannot be used. */
export type Vault = {
  kind: VaultState['kind']
  get(name: string): Promise<string | null>
  set(name: string, value: string): Promise<void>
  /** No error when there is nothing under that name. */
  delete(name: string): Promise<void>
  /** What the last attempt found; `ok` before the first one. */
  state(): VaultState
  /** Tries again, for example after the person unlocked the keychain. */
  recheck(): Promise<VaultState>
  onState(listener: (state: VaultState) => void): () => void
  /** A call into the system's library is still open. It holds a thread that an ordinary exit would wait for. */
  isHanging(): boolean
}

/** The vault cannot be used right now: what is wrong, and what a person can do about it. */
export class VaultError extends Error {
  override readonly name = 'VaultError'
  readonly trouble: VaultTrouble

  constructor(trouble: VaultTrouble, message: string, options?: ErrorOptions) {
    super(message, options)
    this.trouble = trouble
  }
}

/** Where the one 32-byte key that seals the vault's file is kept. Rejects with a VaultError. */
export type VaultKeySource = {
  /** null: there is none yet. */
  load(): Promise<Buffer | null>
  save(key: Buffer): Promise<void>
  isHanging(): boolean
}

export const VAULT_KEY_BYTES = 32
