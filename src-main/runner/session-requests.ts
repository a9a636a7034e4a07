import type { FromRunner, SignedInUser, ToRunner } from '../../src-runner/contract/port.ts'
import { messageOf, type Log } from '../log/log.ts'

/** Who is signed in with a session token of the sign-in database; null: nobody. */
export type ResolveSession = (token: string) => Promise<SignedInUser | null>

/** Answers the runner, which accepts sessions in the mode `bearer-token`. `resolve` null: there are no accounts. Tokens are never logged. */
export async function handleSessionRequest(
  resolve: ResolveSession | null,
  { requestId, token }: Extract<FromRunner, { type: 'session.ask' }>,
  log: Log,
): Promise<Extract<ToRunner, { type: 'session.answer' }>> {
  const answer = { type: 'session.answer', requestId } as const
  try {
    return { ...answer, ok: true, user: (await resolve?.(token)) ?? null }
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'could not look up a session for the runner')
    return { ...answer, ok: false, user: null }
  }
}
