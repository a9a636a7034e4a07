import { createHash, randomUUID } from 'node:crypto'
import { and, count, eq, gt, inArray, lte, min, sql } from 'drizzle-orm'
import ipaddr from 'ipaddr.js'
import type { AuthDatabase } from './auth-database.ts'
import { guess } from './auth-tables.ts'

const WINDOW_MS = 15 * 60_000
/** Checks that did not succeed, in 15 minutes: in all, and for one address or one account. */
const MAX_IN_ALL = 20
const MAX_FOR_ONE = 10

export type Attempt = { ok: true; forgive(): void } | { ok: false; retryAfterMs: number }

export type Guesses = {
  /**
   * Must come before every check of a password. Counts the check before it begins, so that parallel ones cannot exceed the limit.
   * `forgive` after the right password.
   */
  begin(who: { address: string; account: string }): Attempt
  /** Forgives everything that was counted for an account, because it has another password. */
  forget(account: string): void
}

/** Limits on guessing passwords, kept in auth.db, so that a restart resets nothing. */
export function createGuesses(db: AuthDatabase['db'], now: () => number): Guesses {
  // An attacker asks often, so these are prepared once.
  const countSince = db
    .select({ checks: count(), oldest: min(guess.at) })
    .from(guess)
    .where(and(eq(guess.key, sql.placeholder('key')), gt(guess.at, sql.placeholder('from'))))
    .prepare()
  const bringBack = db
    .update(guess)
    .set({ at: sql`${sql.placeholder('now')}` })
    .where(gt(guess.at, sql.placeholder('now')))
    .prepare()

  // A digest, because people type passwords into the wrong field.
  const keyOf = (account: string) => `account ${createHash('sha256').update(account).digest('base64url')}`

  return {
    forget(account) {
      const attempts = db
        .select({ id: guess.attemptId })
        .from(guess)
        .where(eq(guess.key, keyOf(account)))
      db.delete(guess).where(inArray(guess.attemptId, attempts)).run()
    },
    begin({ address, account }) {
      const limits: [key: string, most: number][] = [
        ['all', MAX_IN_ALL],
        [`address ${addressGroup(address)}`, MAX_FOR_ONE],
        [keyOf(account), MAX_FOR_ONE],
      ]
      return db.transaction(
        (tx): Attempt => {
          const at = new Date(now())
          const from = new Date(at.getTime() - WINDOW_MS)
          // After the clock was set back, rows of the future would count for as long as it was ahead.
          bringBack.run({ now: at.getTime() })
          for (const [key, most] of limits) {
            const { checks, oldest } = countSince.get({ key, from: from.getTime() })!
            if (checks >= most) return { ok: false, retryAfterMs: oldest!.getTime() + WINDOW_MS - at.getTime() }
          }
          tx.delete(guess).where(lte(guess.at, from)).run()
          const attemptId = randomUUID()
          tx.insert(guess)
            .values(limits.map(([key]) => ({ attemptId, key, at })))
            .run()
          return { ok: true, forgive: () => void db.delete(guess).where(eq(guess.attemptId, attemptId)).run() }
        },
        { behavior: 'immediate' },
      )
    },
  }
}

/** One client: an IPv4 address, or the /64 network that an IPv6 client has to itself. `::ffff:` forms are IPv4. */
export function addressGroup(address: string): string {
  const bare = address.split('%')[0]!
  if (!ipaddr.isValid(bare)) return 'unknown'
  const parsed = ipaddr.process(bare)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}
