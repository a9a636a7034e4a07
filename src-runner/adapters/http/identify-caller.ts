import { hash } from 'node:crypto'
import { commitSoon } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { SignedInUser, UserQuestion } from '../../contract/port.ts'
import { TOKEN_FORM } from '../../contract/tokens.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { ensureEntityOfUser, findEntityOfUser } from '../../domain/entities/members.ts'
import { findTokenUse, noteTokenUse, revokeTokensOfUser } from '../../domain/tokens/tokens.ts'
import type { Identify } from './auth.ts'
import type { LimitedCaller } from './caller.ts'

/** The account of a session token or of an id; null: there is none. Rejects if that cannot be found out. */
export type ResolveUser = (about: UserQuestion) => Promise<SignedInUser | null>

export type IdentifyDeps = Pick<Services, 'db' | 'clock' | 'ids' | 'log'> & { resolveUser: ResolveUser }

/** How long an answer about an account holds. A session that ended is refused on its next request after that. */
export const ANSWER_HOLDS_MS = 2000
/** Longer ones are no session tokens, and would only burden the process that is asked. */
export const LONGEST_SESSION_TOKEN = 1000
/** Questions under way at once. With more, somebody is guessing, or nobody answers. */
const MAX_QUESTIONS = 64
const MAX_HELD = 1000

/** Before its first request that changes something, an account has no workspace: there is nothing for it to see. */
const NO_ENTITY = '00000000-0000-0000-0000-000000000000'

/** Finds the workspace of an access token, or of a session of the sign-in database. */
export function createIdentify({ db, clock, ids, log, resolveUser }: IdentifyDeps): Identify {
  const readUser = holdAnswers(clock, resolveUser)

  async function identifyToken(token: string): Promise<LimitedCaller | null> {
    const use = findTokenUse(db, token, clock.now())
    if (use === null) return null
    const { isUseDue, createdAt, ...caller } = use
    if (caller.userId !== null) {
      // The account may have been deleted, or be no owner any more.
      const user = await readUser({ userId: caller.userId })
      if (user === null || findEntityOfUser(db, user) !== caller.entityId) return null
      const { tokensSince = 0 } = user
      if (createdAt <= tokensSince) {
        revokeTokens(user.userId, tokensSince)
        return null
      }
    }
    if (isUseDue) noteUse(caller.tokenId)
    return caller
  }

  /** So that lists no longer show them. */
  function revokeTokens(userId: string, tokensSince: number): void {
    commitSoon(db, (tx) => revokeTokensOfUser(tx, { clock }, userId, tokensSince)).catch((error: unknown) =>
      log.debug({ error: messageOf(error) }, 'could not revoke the access tokens of an account whose password was reset'),
    )
  }

  function noteUse(tokenId: string): void {
    commitSoon(db, (tx) => noteTokenUse(tx, tokenId, clock.now())).catch((error: unknown) =>
      log.debug({ error: messageOf(error) }, 'could not note the use of an access token'),
    )
  }

  async function identifySession(token: string, changes: boolean): Promise<LimitedCaller | null> {
    if (token.length > LONGEST_SESSION_TOKEN) return null
    const user = await readUser({ token })
    if (user === null) return null
    const known = findEntityOfUser(db, user)
    const entityId = known ?? (changes ? await commitSoon(db, (tx) => ensureEntityOfUser(tx, { clock, ids }, user)) : NO_ENTITY)
    return { entityId, userId: user.userId, tokenId: null }
  }

  return async (bearer, { changes }) => {
    try {
      const isToken = TOKEN_FORM.exec(bearer)?.[0] === bearer
      return (await (isToken ? identifyToken(bearer) : identifySession(bearer, changes))) ?? 'unauthorized'
    } catch (error) {
      if (!(error instanceof AccountsUnavailable)) throw error
      log.warn({ error: messageOf(error.cause) }, 'could not look up an account')
      return 'sign_in_unavailable'
    }
  }
}

class AccountsUnavailable extends Error {}

type Held = { answer: Promise<SignedInUser | null>; until: number }

/** Asks once for requests that come together or within a moment. Failures are not kept. Rejects with AccountsUnavailable. */
function holdAnswers(clock: Clock, resolve: ResolveUser): ResolveUser {
  const held = new Map<string, Held>()
  let questions = 0

  async function ask(about: UserQuestion): Promise<SignedInUser | null> {
    questions++
    try {
      if (questions > MAX_QUESTIONS) throw new Error('too many accounts are being looked up')
      return await resolve(about)
    } catch (cause) {
      throw new AccountsUnavailable('', { cause })
    } finally {
      questions--
    }
  }

  return (about) => {
    // A digest, so that this process holds no session tokens.
    const key = hash('sha256', JSON.stringify(about), 'base64')
    const now = clock.monotonic()
    const known = held.get(key)
    if (known !== undefined && now < known.until) return known.answer
    held.delete(key)
    if (held.size >= MAX_HELD) held.delete(held.keys().next().value!)
    const answer = ask(about)
    held.set(key, { answer, until: now + ANSWER_HOLDS_MS })
    answer.catch(() => held.delete(key))
    return answer
  }
}
