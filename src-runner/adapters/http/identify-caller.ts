import { hash } from 'node:crypto'
import type { Database } from '../../platform/db/database.ts'
import { commitSoon } from '../../platform/db/transact.ts'
import type { SignedInUser } from '../../contract/port.ts'
import { TOKEN_FORM } from '../../contract/tokens.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { findEntityOfUser, joinEntity } from '../../domain/entities/members.ts'
import { findTokenUse, noteTokenUse } from '../../domain/tokens/tokens.ts'
import type { Identify } from './auth.ts'

/** Who is signed in with a session token; null: nobody. Rejects if that cannot be found out. */
export type ResolveSession = (token: string) => Promise<SignedInUser | null>

export type IdentifyDeps = { db: Database; clock: Clock; ids: Ids; log: Log; resolveSession: ResolveSession }

/** How long an answer about a session holds. A session that ended is refused on its next request after that. */
export const SESSION_HOLDS_MS = 2000
/** Longer ones are no session tokens, and would only burden the process that is asked. */
const LONGEST_SESSION_TOKEN = 1000
/** Questions under way at once. With more, somebody is guessing, or nobody answers. */
const MOST_QUESTIONS = 64
const MOST_HELD = 1000

/** Before the first request that changes something, an account has no workspace: there is nothing for it to see. */
const NO_ENTITY = '00000000-0000-0000-0000-000000000000'

/** Finds the workspace of an access token or of a session of the sign-in database. */
export function createIdentify({ db, clock, ids, log, resolveSession }: IdentifyDeps): Identify {
  const readSession = holdAnswers(clock, resolveSession)

  function noteUse(tokenId: string): void {
    commitSoon(db, (tx) => noteTokenUse(tx, tokenId, clock.now())).catch((error: unknown) =>
      log.debug({ error: messageOf(error) }, 'could not note the use of an access token'),
    )
  }

  return async (bearer, { changes }) => {
    if (isToken(bearer)) {
      const use = findTokenUse(db, bearer, clock.now())
      if (use === null) return 'unauthorized'
      const { isUseDue, ...caller } = use
      if (isUseDue) noteUse(caller.tokenId)
      return caller
    }
    if (bearer.length > LONGEST_SESSION_TOKEN) return 'unauthorized'
    let user: SignedInUser | null
    try {
      user = await readSession(bearer)
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'could not check a session')
      return 'sign_in_unavailable'
    }
    if (user === null) return 'unauthorized'
    const { userId } = user
    const known = findEntityOfUser(db, userId)
    const entityId = known ?? (changes ? await commitSoon(db, (tx) => joinEntity(tx, { clock, ids }, user)) : NO_ENTITY)
    return { entityId, userId, tokenId: null }
  }
}

function isToken(bearer: string): boolean {
  return TOKEN_FORM.exec(bearer)?.[0] === bearer
}

type Held = { answer: Promise<SignedInUser | null>; until: number }

/** Asks once for requests that come together or within a moment. Failures are not kept. */
function holdAnswers(clock: Clock, resolve: ResolveSession): ResolveSession {
  const held = new Map<string, Held>()
  let questions = 0

  async function ask(token: string, key: string): Promise<SignedInUser | null> {
    if (questions >= MOST_QUESTIONS) throw new Error('too many sessions are being checked')
    questions++
    try {
      return await resolve(token)
    } catch (error) {
      held.delete(key)
      throw error
    } finally {
      questions--
    }
  }

  return (token) => {
    // A digest, so that this process holds no session tokens.
    const key = hash('sha256', token, 'base64')
    const now = clock.monotonic()
    const known = held.get(key)
    if (known !== undefined && now < known.until) return known.answer
    held.delete(key)
    if (held.size >= MOST_HELD) held.delete(held.keys().next().value!)
    const answer = ask(token, key)
    held.set(key, { answer, until: now + SESSION_HOLDS_MS })
    answer.catch(() => {})
    return answer
  }
}
