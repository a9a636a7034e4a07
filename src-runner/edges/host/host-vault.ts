import type { FromRunner, ToRunner } from '../../contract/port.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import type { Vault } from '../../kit/vault.ts'

type Ask = Extract<FromRunner, { type: 'vault.ask' }>
type Answer = Extract<ToRunner, { type: 'vault.answer' }>

export type HostVault = Vault & { answer(message: Answer): void }

/** A keychain may ask the person first; longer than this nobody waits in front of a page. */
const ANSWER_WITHIN_MS = 60_000

/** The host's vault over the port. Answers are matched by number, so they may come in any order. */
export function createHostVault({ send, clock }: { send(message: Ask): void; clock: Clock }): HostVault {
  const waiting = new Map<number, (answer: Answer) => void>()
  let lastId = 0

  function ask(operation: Ask['operation'], key: string, value: string | null): Promise<string | null> {
    const requestId = ++lastId
    const over = new AbortController()
    const answered = new Promise<string | null>((resolve, reject) => {
      waiting.set(requestId, ({ ok, value, message }) =>
        ok ? resolve(value) : reject(new AppError('vault_unavailable', message ?? 'The keychain cannot be used right now.')),
      )
    })
    const late = clock.sleep(ANSWER_WITHIN_MS, over.signal).then(() => {
      throw new AppError('vault_unavailable', 'The keychain did not answer. Unlock it and try again.')
    })
    send({ type: 'vault.ask', requestId, operation, key, value })
    return Promise.race([answered, late]).finally(() => {
      waiting.delete(requestId)
      late.catch(() => {})
      over.abort(new Error('answered'))
    })
  }

  return {
    get: (key) => ask('get', key, null),
    set: async (key, value) => void (await ask('set', key, value)),
    delete: async (key) => void (await ask('delete', key, null)),
    answer: (message) => waiting.get(message.requestId)?.(message),
  }
}
