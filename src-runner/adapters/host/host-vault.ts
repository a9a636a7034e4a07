import type { FromRunner, ToRunner } from '../../contract/port.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import type { Vault } from '../../lib/vault.ts'
import { createHostQuestions } from './host-questions.ts'

type Ask = Extract<FromRunner, { type: 'vault.ask' }>
type Answer = Extract<ToRunner, { type: 'vault.answer' }>

export type HostVault = Vault & { answer(message: Answer): void }

/** A keychain may ask the person first. */
const ANSWER_WITHIN_MS = 60_000

export function createHostVault({ send, clock }: { send(message: Ask): void; clock: Clock }): HostVault {
  const questions = createHostQuestions<Answer>({ clock, withinMs: ANSWER_WITHIN_MS })

  async function ask(operation: Ask['operation'], key: string, given: string | null): Promise<string | null> {
    const { ok, value, message } = await questions.ask(
      (requestId) => send({ type: 'vault.ask', requestId, operation, key, value: given }),
      () => new AppError('vault_unavailable', createMessage('keychain_silent')),
    )
    if (!ok) throw new AppError('vault_unavailable', message ?? undefined)
    return value
  }

  return {
    get: (key) => ask('get', key, null),
    set: async (key, value) => void (await ask('set', key, value)),
    delete: async (key) => void (await ask('delete', key, null)),
    answer: questions.answer,
  }
}
