import { randomUUID } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import type { Person, Role } from '../contract/auth-api.ts'
import type { AuthDatabase } from './auth-database.ts'
import { account, invitation, session, user } from './auth-tables.ts'

/** What a person got wrong. */
export type Refused<Code extends string> = { refused: Code; retryAfterMs?: number }

export type People = ReturnType<typeof createPeople>

/** The rows of people and their passwords. Whoever calls puts what belongs together into one transaction. */
export function createPeople(db: AuthDatabase['db'], now: () => number) {
  const rowOf = (id: string) => db.select().from(user).where(eq(user.id, id)).get()
  const owners = () => db.select({ id: user.id }).from(user).where(eq(user.role, 'owner')).all()
  const isOnlyOwner = (id: string) => owners().every((owner) => owner.id === id)
  const passwordOf = (id: string) => and(eq(account.userId, id), eq(account.providerId, 'credential'))
  const withdrawInvitationsOf = (id: string) => db.delete(invitation).where(eq(invitation.invitedBy, id)).run()

  /** By the name with which they sign in. */
  function find(name: string): Person | null {
    const found = db
      .select()
      .from(user)
      .where(eq(user.username, nameKey(name)))
      .get()
    return found === undefined ? null : personOf(found)
  }

  return {
    find,
    hasOwner: () => owners().length > 0,

    /** `tokensSince`: the person's access tokens from before that do not count. In ms. */
    get(id: string): { person: Person; tokensSince: number } | null {
      const found = rowOf(id)
      return found === undefined ? null : { person: personOf(found), tokensSince: found.tokensSince?.getTime() ?? 0 }
    },

    /** null: there is no such person. */
    passwordHash(id: string): string | null {
      return db.select({ password: account.password }).from(account).where(passwordOf(id)).get()?.password ?? null
    },

    list(): Person[] {
      return db.select().from(user).orderBy(user.createdAt, user.id).all().map(personOf)
    },

    /** false: the name is taken. */
    add(name: string, passwordHash: string, role: Role): boolean {
      if (find(name) !== null) return false
      const at = new Date(now())
      const id = randomUUID()
      const dates = { createdAt: at, updatedAt: at }
      db.insert(user)
        .values({ id, name, username: nameKey(name), role, email: `${id}@deckhand.invalid`, ...dates })
        .run()
      db.insert(account)
        .values({ id: randomUUID(), accountId: id, providerId: 'credential', userId: id, password: passwordHash, ...dates })
        .run()
      return true
    },

    changeRole(id: string, role: Role): Person | Refused<'person_not_found' | 'last_owner'> {
      if (rowOf(id) === undefined) return { refused: 'person_not_found' }
      if (role !== 'owner' && isOnlyOwner(id)) return { refused: 'last_owner' }
      db.update(user)
        .set({ role, updatedAt: new Date(now()) })
        .where(eq(user.id, id))
        .run()
      if (role !== 'owner') withdrawInvitationsOf(id)
      return personOf(rowOf(id)!)
    },

    /** Signs the person out everywhere, too. */
    replacePassword(id: string, passwordHash: string): void {
      db.update(account)
        .set({ password: passwordHash, updatedAt: new Date(now()) })
        .where(passwordOf(id))
        .run()
      db.delete(session).where(eq(session.userId, id)).run()
    },

    /** The person's access tokens do not count any more, and their invitations are withdrawn. */
    revokeWhatTheyGaveOut(id: string): void {
      db.update(user)
        .set({ tokensSince: new Date(now()) })
        .where(eq(user.id, id))
        .run()
      withdrawInvitationsOf(id)
    },

    remove(id: string): Refused<'person_not_found' | 'last_owner'> | null {
      if (rowOf(id) === undefined) return { refused: 'person_not_found' }
      if (isOnlyOwner(id)) return { refused: 'last_owner' }
      db.delete(user).where(eq(user.id, id)).run()
      return null
    },
  }
}

/** The form in which names are compared. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
}

export function personOf({ id, name, role, createdAt }: { id: string; name: string; role: Role; createdAt: Date }): Person {
  return { id, name, role, createdAt: createdAt.getTime() }
}
