import { join } from 'node:path'
import type { Person, Role } from '../contract/auth-api.ts'
import { createListeners } from '../listeners.ts'
import { openAuthDatabase } from './auth-database.ts'
import { createLinks } from './auth-links.ts'
import { createPeople, nameKey, type Refused } from './auth-people.ts'
import { createSessions, SLOW_HASHING, type Client, type PasswordHashing, type Welcome } from './auth-sessions.ts'
import { createGuesses } from './guesses.ts'

type NewPerson = { name: string; password: string }
export type Accounts = Awaited<ReturnType<typeof openAccounts>>

export type AccountsDeps = {
  dataDir: string
  /** Signs the cookies. At least 32 characters. */
  secret: string
  now: () => number
  passwords?: PasswordHashing
}

/**
 * Accounts, sessions and invitations in auth.db, with better-auth for passwords, sessions and cookies. Nothing here asks who may
 * do what; the dashboard does. What a person got wrong is returned as `refused`.
 */
export async function openAccounts({ dataDir, secret, now, passwords = SLOW_HASHING }: AccountsDeps) {
  const database = openAuthDatabase(join(dataDir, 'auth.db'), now)
  const { db } = database
  const listeners = createListeners()
  const guesses = createGuesses(db, now)
  const people = createPeople(db, now)
  const links = createLinks(db, now)
  const sessions = await createSessions({ db, people, secret, now, passwords, ended: listeners.tell })
  const { hasOwner } = people

  const linkFor = (token: string) => {
    const link = links.find(token)
    return link?.isSetup && hasOwner() ? null : link
  }

  /** Runs one check of a password, unless there were too many that failed. */
  async function guess<T extends object, Code extends string>(
    name: string,
    client: Client,
    check: () => Promise<T | Refused<Code>>,
  ): Promise<T | Refused<Code | 'too_many_guesses'>> {
    const attempt = guesses.begin({ address: client.address, account: nameKey(name) })
    if (!attempt.ok) return { refused: 'too_many_guesses', retryAfterMs: attempt.retryAfterMs }
    const result = await check()
    if (!('refused' in result)) attempt.forgive()
    return result
  }

  /** In one transaction, and everybody who follows hears of it. */
  function change<T>(make: () => T): T {
    const result = db.transaction(make)
    listeners.tell()
    return result
  }

  return {
    damagedFile: database.damagedFile,
    hasOwner,
    sessionOf: sessions.sessionOf,
    resolveSession: sessions.resolve,
    refresh: sessions.refresh,
    signOut: sessions.signOut,
    listDevices: sessions.listDevices,
    signOutDevice: sessions.signOutDevice,
    endAllSessions: sessions.endAll,
    listPeople: people.list,
    findPerson: people.find,
    findAccount: people.get,
    listInvitations: links.listInvitations,
    invite: links.invite,
    withdrawInvitation: links.withdrawInvitation,

    /** null: there is an owner. */
    createSetupToken: () => (hasOwner() ? null : links.createSetupToken()),

    /** What a one-time link is for. null: it was used, withdrawn, or has expired. */
    checkLink(token: string): { role: Role; invitedBy: string | null; isSetup: boolean } | null {
      const link = linkFor(token)
      return link && { role: link.role, invitedBy: link.invitedBy, isSetup: link.isSetup }
    },

    signIn: (name: string, password: string, client: Client) => guess(name, client, () => sessions.begin(name, password, client)),

    async signUp(
      token: string,
      { name, password }: NewPerson,
      client: Client,
    ): Promise<Welcome | Refused<'link_not_valid' | 'name_taken' | 'sign_in_failed'>> {
      // Before the costly hash, and again in the transaction.
      if (linkFor(token) === null) return { refused: 'link_not_valid' }
      const hash = await passwords.hash(password)
      const refused = db.transaction(() => {
        const link = linkFor(token)
        if (link === null) return 'link_not_valid'
        if (!people.add(name, hash, link.role)) return 'name_taken'
        link.use()
        return null
      })
      return refused === null ? sessions.begin(name, password, client) : { refused }
    },

    /** The first account, created by a person at the machine. */
    async createOwner({ name, password }: NewPerson): Promise<Person | Refused<'owner_exists' | 'name_taken'>> {
      const hash = await passwords.hash(password)
      return db.transaction(() => {
        if (hasOwner()) return { refused: 'owner_exists' }
        return people.add(name, hash, 'owner') ? people.find(name)! : { refused: 'name_taken' }
      })
    },

    /** By the person themselves. Ends all their sessions and begins a new one. */
    changePassword: (asked: { currentPassword: string; newPassword: string }, person: Person, client: Client) =>
      guess(person.name, client, async (): Promise<Welcome | Refused<'wrong_password' | 'sign_in_failed'>> => {
        const { currentPassword, newPassword } = asked
        const hash = people.passwordHash(person.id)
        if (hash === null || !(await passwords.verify({ hash, password: currentPassword }))) return { refused: 'wrong_password' }
        const newHash = await passwords.hash(newPassword)
        const isReplaced = change(() => {
          // A reset in the meantime wins.
          if (people.passwordHash(person.id) !== hash) return false
          people.replacePassword(person.id, newHash)
          return true
        })
        return isReplaced ? sessions.begin(person.name, newPassword, client) : { refused: 'wrong_password' }
      }),

    /** For somebody at the machine. All devices of the person are signed out, their access tokens and invitations are revoked. */
    async resetPassword(personId: string, password: string): Promise<Refused<'person_not_found'> | null> {
      const hash = await passwords.hash(password)
      return change(() => {
        const found = people.get(personId)
        if (found === null) return { refused: 'person_not_found' as const }
        people.replacePassword(personId, hash)
        people.revokeWhatTheyGaveOut(personId)
        guesses.forget(nameKey(found.person.name))
        return null
      })
    },

    changeRole: (personId: string, role: Role) => change(() => people.changeRole(personId, role)),
    removePerson: (personId: string) => change(() => people.remove(personId)),

    /** Called after sessions ended or roles changed. */
    onChange: listeners.add,

    close: () => database.close(),
  }
}
