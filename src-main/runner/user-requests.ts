import type { FromRunner, SignedInUser, ToRunner, UserQuestion } from '../../src-runner/contract/port.ts'
import { messageOf, type Log } from '../log/log.ts'
import type { SignIn } from '../sign-in/sign-in.ts'

/** The account of a session token or of an id; null: there is none. */
export type ResolveUser = (about: UserQuestion) => Promise<SignedInUser | null>

/**
 * Answers the runner, which accepts sessions in the mode `bearer-token`. `resolve` null: there are no accounts. Tokens are never
 * logged.
 */
export async function handleUserRequest(
  resolve: ResolveUser | null,
  { requestId, about }: Extract<FromRunner, { type: 'user.ask' }>,
  log: Log,
): Promise<Extract<ToRunner, { type: 'user.answer' }>> {
  const answer = { type: 'user.answer', requestId } as const
  try {
    return { ...answer, ok: true, user: (await resolve?.(about)) ?? null }
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'could not look up an account for the runner')
    return { ...answer, ok: false, user: null }
  }
}

/** Looks accounts up in the sign-in database. Opens nothing if there were never accounts. */
export function resolveUserIn(signIn: Pick<SignIn, 'hasOwner' | 'accounts'>): ResolveUser {
  return async (about) => {
    if (!(await signIn.hasOwner())) return null
    const accounts = await signIn.accounts()
    const userId = 'token' in about ? (await accounts.resolveSession(about.token))?.userId : about.userId
    const found = userId === undefined ? null : accounts.findAccount(userId)
    if (found === null) return null
    const { person, tokensSince } = found
    return { userId: person.id, name: person.name, isOwner: person.role === 'owner', tokensSince }
  }
}
