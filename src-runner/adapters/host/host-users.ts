import type { FromRunner, SignedInUser, ToRunner, UserQuestion } from '../../contract/port.ts'
import type { Clock } from '../../lib/clock.ts'
import { createHostQuestions } from './host-questions.ts'

type Ask = Extract<FromRunner, { type: 'user.ask' }>
type Answer = Extract<ToRunner, { type: 'user.answer' }>

/** A request waits for the answer. The first one may wait until the host has loaded the accounts. */
const ANSWER_WITHIN_MS = 10_000

/** Asks the host, which keeps the sign-in database, for accounts. */
export function createHostUsers({ send, clock }: { send(message: Ask): void; clock: Clock }) {
  const questions = createHostQuestions<Answer>({ clock, withinMs: ANSWER_WITHIN_MS })
  return {
    /** null: nobody. Rejects if the host cannot say it, or not in time. */
    async resolve(about: UserQuestion): Promise<SignedInUser | null> {
      const { ok, user } = await questions.ask(
        (requestId) => send({ type: 'user.ask', requestId, about }),
        () => new Error('the host did not answer in time'),
      )
      if (!ok) throw new Error('the host could not read its sign-in database')
      return user
    },
    answer: questions.answer,
  }
}
