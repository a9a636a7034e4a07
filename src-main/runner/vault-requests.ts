import type { FromRunner, ToRunner } from '../../src-runner/contract/port.ts'
import { messageOf, type Log } from '../log/log.ts'
import { problemOf } from '../message-error.ts'
import type { Vault } from '../vault/vault.ts'

type VaultAsk = Extract<FromRunner, { type: 'vault.ask' }>
type VaultAnswer = Extract<ToRunner, { type: 'vault.answer' }>

/** Serves the vault to the runner. Errors are returned as messages. Values are never logged. */
export async function handleVaultRequest(vault: Vault, request: VaultAsk, log: Log): Promise<VaultAnswer> {
  const { requestId, operation, key } = request
  const answer = { type: 'vault.answer', requestId, value: null, message: null } as const
  try {
    if (operation === 'get') return { ...answer, ok: true, value: await vault.get(key) }
    if (operation === 'delete') await vault.delete(key)
    else if (request.value === null) throw new Error('no value was given')
    else await vault.set(key, request.value)
    return { ...answer, ok: true }
  } catch (error) {
    log.warn({ operation, error: messageOf(error) }, 'the vault could not serve the runner')
    return { ...answer, ok: false, message: problemOf(error) }
  }
}
