import type { Message } from '../../src-runner/contract/messages.ts'
import type { VaultState } from '../contract/desktop-api.ts'
import { MessageError } from '../message-error.ts'

export type VaultTrouble = Exclude<VaultState['state'], 'ok'>

/** Stores secrets. Every method except `state` rejects with a VaultError if the vault cannot be used. */
export type Vault = {
  kind: VaultState['kind']
  get(name: string): Promise<string | null>
  set(name: string, value: string): Promise<void>
  /** Succeeds if there is nothing under that name. */
  delete(name: string): Promise<void>
  /** The result of the last attempt; `ok` before the first one. */
  state(): VaultState
  /** Tries again, for example after the person unlocked the keychain. */
  recheck(): Promise<VaultState>
  onState(listener: (state: VaultState) => void): () => void
  /** A call into the system's library is still open and blocks a thread that a normal exit waits for. */
  isHanging(): boolean
}

/** The vault cannot be used. `detail` says what is wrong and what the person can do. */
export class VaultError extends MessageError {
  override readonly name = 'VaultError'
  readonly trouble: VaultTrouble

  constructor(trouble: VaultTrouble, detail: Message, options?: ErrorOptions) {
    super(detail, options)
    this.trouble = trouble
  }
}

/** Stores the 32-byte key of the vault's file. Rejects with a VaultError. */
export type VaultKeySource = {
  /** null: there is none. `isExpected`: a vault file exists, so there should be one. */
  load(about: { isExpected: boolean }): Promise<Buffer | null>
  save(key: Buffer): Promise<void>
  /** Succeeds if there is none. */
  erase(): Promise<void>
  isHanging(): boolean
}

export const VAULT_KEY_BYTES = 32
