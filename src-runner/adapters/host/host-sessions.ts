import type { FromRunner, SignedInUser, ToRunner } from '../../contract/port.ts'
import type { Clock } from '../../lib/clock.ts'
import { createHostQuestions } from './host-questions.ts'

type Ask = Extract<FromRunner, { type: 'session.ask' }>
type Answer = Extract<ToRunner, { type: 'session.answer' }>

/** A request waits for the answer. */
const ANSWER_WITHIN_MS = 3000

/** Asks the host, which keeps the sign-in database, who is signed in. */
export function createHostSessions({ send, clock }: { send(message: Ask): void; clock: Clock }) {
  const questions = createHostQuestions<Answer>({ clock, withinMs: ANSWER_WITHIN_MS })
  return {
    /** null: nobody. Rejects if the host cannot say it, or not in time. */
    async resolve(token: string): Promise<SignedInUser | null> {
      const { ok, user } = await questions.ask(
        (requestId) => send({ type: 'session.ask', requestId, token }),
        () => new Error('the host did not answer in time'),
      )
      if (!ok) throw new Error('the host could not read its sign-in database')
      return user
    },
    answer: questions.answer,
  }
}
