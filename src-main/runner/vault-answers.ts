import type { FromRunner, ToRunner } from '../../src-runner/contract/port.ts'
import { messageOf, type Log } from '../log/log.ts'
import type { Vault } from '../vault/vault.ts'

type VaultAsk = Extract<FromRunner, { type: 'vault.ask' }>
type VaultAnswer = Extract<ToRunner, { type: 'vault.answer' }>

/** Serves the vault to the runner. Errors go back as text. Values are never logged. */
export async function answerVault(vault: Vault, asked: VaultAsk, log: Log): Promise<VaultAnswer> {
  const { requestId, operation, key } = asked
  const answer = (ok: boolean, value: string | null, message: string | null): VaultAnswer => ({
    type: 'vault.answer',
    requestId,
    ok,
    value,
    message,
  })
  try {
    if (operation === 'get') return answer(true, await vault.get(key), null)
    if (operation === 'delete') await vault.delete(key)
    else if (asked.value === null) return answer(false, null, 'nothing to keep was given')
    else await vault.set(key, asked.value)
    return answer(true, null, null)
  } catch (error) {
    log.warn({ operation, error: messageOf(error) }, 'the vault could not answer the runner')
    return answer(false, null, messageOf(error))
  }
}
