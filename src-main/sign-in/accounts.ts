import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { betterAuth } from 'better-auth/minimal'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { hashPassword, verifyPassword } from 'better-auth/crypto'
import { APIError } from 'better-auth/api'
import { username as byName } from 'better-auth/plugins/username'
import { and, desc, eq, gt, lte } from 'drizzle-orm'
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS, type Device, type Invitation, type Person, type Role } from '../contract/auth-api.ts'
import { openAuthDatabase } from './auth-database.ts'
import * as tables from './auth-tables.ts'
import { deviceNameOf } from './device-name.ts'
import { createGuesses } from './guesses.ts'

const DAY_S = 24 * 60 * 60
/** A device that was not used for this long is signed out. */
const SESSION_S = 30 * DAY_S
const INVITATION_MS = 3 * DAY_S * 1000
/** How exact "last seen" is. */
const SEEN_MS = 60_000
const ADDRESS_HEADER = 'x-socket-address'

export type SignedIn = { person: Person; deviceId: string }
/** Where a request comes from. `address` is the socket's: headers about it can be made up. */
export type Client = { address: string; userAgent: string; cookie: string | undefined }
type NewPerson = { name: string; password: string }
export type Refused<Code extends string> = { refused: Code; retryAfterMs?: number }
/** `cookies`: Set-Cookie values for the browser. `token`: the session's. */
type Welcome = { person: Person; cookies: string[]; token: string }

export type Accounts = Awaited<ReturnType<typeof openAccounts>>

export type AccountsDeps = {
  dataDir: string
  /** Signs the cookies. At least 32 characters. */
  secret: string
  now: () => number
  /** Called before a password is hashed or compared. Tests count. */
  onPasswordCheck?: () => void
}

const SESSION_COOKIE = 'deckhand.session_token'

/**
 * Accounts, sessions and invitations in auth.db, with better-auth for passwords, sessions and cookies. Nothing here asks who may
 * do what; the dashboard does. What a person got wrong is returned as `refused`.
 */
export async function openAccounts({ dataDir, secret, now, onPasswordCheck }: AccountsDeps) {
  const database = openAuthDatabase(join(dataDir, 'auth.db'), now)
  const { db } = database
  const { user, session, account, invitation } = tables
  const guesses = createGuesses(db, now)
  const listeners = new Set<() => void>()
  let setupDigest: Buffer | null = null

  const auth = betterAuth({
    // Never used: requests do not reach better-auth as such, so it makes no URL and compares no origin.
    baseURL: 'http://deckhand.invalid',
    secret,
    telemetry: { enabled: false },
    logger: { disabled: true },
    rateLimit: { enabled: false },
    database: drizzleAdapter(db, { provider: 'sqlite', schema: tables }),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_CHARS,
      maxPasswordLength: MAX_PASSWORD_CHARS,
      password: {
        hash(password) {
          onPasswordCheck?.()
          return hashPassword(password)
        },
        verify(given) {
          onPasswordCheck?.()
          return verifyPassword(given)
        },
      },
    },
    user: { additionalFields: { role: { type: 'string', required: true, input: false } } },
    session: { expiresIn: SESSION_S, updateAge: DAY_S },
    advanced: {
      cookiePrefix: 'deckhand',
      // The dashboard adds Secure to what it sends over HTTPS.
      useSecureCookies: false,
      defaultCookieAttributes: { sameSite: 'strict', httpOnly: true },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { generateId: () => randomUUID() },
    },
    plugins: [
      byName({
        displayUsername: false,
        minUsernameLength: 1,
        maxUsernameLength: 200,
        usernameNormalization: nameKey,
        usernameValidator: () => true,
      }),
    ],
  })
  await auth.$context

  const headersOf = ({ address, userAgent, cookie }: Client) =>
    new Headers({ [ADDRESS_HEADER]: address, 'user-agent': userAgent.slice(0, 500), ...(cookie === undefined ? {} : { cookie }) })
  const report = () => {
    for (const listener of listeners) listener()
  }
  const hasOwner = () => db.select({ id: user.id }).from(user).where(eq(user.role, 'owner')).limit(1).get() !== undefined
  const isOnlyOwner = (id: string) =>
    db
      .select({ id: user.id })
      .from(user)
      .where(eq(user.role, 'owner'))
      .all()
      .every((owner) => owner.id === id)
  const personWith = (id: string) => db.select().from(user).where(eq(user.id, id)).get()

  /** Inside of a transaction. false: the name is taken. */
  function addPerson(name: string, passwordHash: string, role: Role): boolean {
    const username = nameKey(name)
    if (db.select({ id: user.id }).from(user).where(eq(user.username, username)).get() !== undefined) return false
    const at = new Date(now())
    const id = randomUUID()
    const dates = { createdAt: at, updatedAt: at }
    db.insert(user)
      .values({ id, name, username, role, email: `${id}@deckhand.invalid`, ...dates })
      .run()
    db.insert(account)
      .values({ id: randomUUID(), accountId: id, providerId: 'credential', userId: id, password: passwordHash, ...dates })
      .run()
    return true
  }

  async function welcome(name: string, password: string, client: Client): Promise<Welcome> {
    const { headers, response } = await auth.api.signInUsername({
      body: { username: name, password },
      headers: headersOf(client),
      returnHeaders: true,
    })
    await endSessionOf(client)
    db.delete(session)
      .where(lte(session.expiresAt, new Date(now())))
      .run()
    const cookies = headers.getSetCookie()
    return { person: personOf(personWith(response.user.id)!), cookies, token: signedTokenOf(cookies) }
  }

  /** A browser that signs in again leaves no device behind. */
  async function endSessionOf(client: Client): Promise<void> {
    const before = await sessionOf(client.cookie)
    if (before !== null) endSessions(before.deviceId)
  }

  function endSessions(deviceId: string): boolean {
    const ended = db.delete(session).where(eq(session.id, deviceId)).run().changes > 0
    if (ended) report()
    return ended
  }

  async function sessionOf(cookie: string | undefined): Promise<SignedIn | null> {
    if (cookie === undefined) return null
    const found = await auth.api.getSession({ headers: new Headers({ cookie }), query: { disableRefresh: true } })
    const at = now()
    if (found === null || found.session.expiresAt.getTime() <= at) return null
    if (at - found.session.updatedAt.getTime() > SEEN_MS)
      db.update(session)
        .set({ updatedAt: new Date(at) })
        .where(eq(session.id, found.session.id))
        .run()
    return { person: personOf(found.user as typeof found.user & { role: Role }), deviceId: found.session.id }
  }

  function linkFor(token: string) {
    const digest = digestOf(token)
    if (setupDigest !== null && timingSafeEqual(digest, setupDigest)) {
      return hasOwner() ? null : { role: 'owner' as const, invitedBy: null, isSetup: true, use: () => void (setupDigest = null) }
    }
    const found = db
      .select({ id: invitation.id, role: invitation.role, invitedBy: user.name })
      .from(invitation)
      .leftJoin(user, eq(user.id, invitation.invitedBy))
      .where(and(eq(invitation.tokenDigest, digest.toString('base64url')), gt(invitation.expiresAt, new Date(now()))))
      .get()
    if (found === undefined) return null
    const { id, role, invitedBy } = found
    return { role, invitedBy, isSetup: false, use: () => void db.delete(invitation).where(eq(invitation.id, id)).run() }
  }

  return {
    damagedFile: database.damagedFile,
    hasOwner,
    sessionOf,

    /** The link's token, valid until it is used or Deckhand stops. null: there is an owner. */
    createSetupToken(): string | null {
      if (hasOwner()) return null
      const token = newToken()
      setupDigest = digestOf(token)
      return token
    },

    /** The state of a browser's session, and cookies that prolong it. */
    async refresh(client: Client): Promise<{ person: Person | null; cookies: string[] }> {
      if (client.cookie === undefined) return { person: null, cookies: [] }
      const { headers, response } = await auth.api.getSession({ headers: headersOf(client), returnHeaders: true })
      return { person: response && personOf(response.user as typeof response.user & { role: Role }), cookies: headers.getSetCookie() }
    },

    async signIn(name: string, password: string, client: Client): Promise<Welcome | Refused<'sign_in_failed' | 'too_many_guesses'>> {
      const attempt = guesses.begin({ address: client.address, account: nameKey(name) })
      if (!attempt.ok) return { refused: 'too_many_guesses', retryAfterMs: attempt.retryAfterMs }
      try {
        const welcomed = await welcome(name, password, client)
        attempt.forgive()
        return welcomed
      } catch (error) {
        if (error instanceof APIError && error.status === 'UNAUTHORIZED') return { refused: 'sign_in_failed' }
        throw error
      }
    },

    /** What a one-time link is for. null: it was used, withdrawn, or has expired. */
    checkLink(token: string): { role: Role; invitedBy: string | null; isSetup: boolean } | null {
      const link = linkFor(token)
      return link && { role: link.role, invitedBy: link.invitedBy, isSetup: link.isSetup }
    },

    async signUp(
      token: string,
      { name, password }: NewPerson,
      client: Client,
    ): Promise<Welcome | Refused<'link_not_valid' | 'name_taken'>> {
      // Before the costly hash, and again in the transaction.
      if (linkFor(token) === null) return { refused: 'link_not_valid' }
      const hash = await hashPassword(password)
      const refused = db.transaction(() => {
        const link = linkFor(token)
        if (link === null) return 'link_not_valid'
        if (!addPerson(name, hash, link.role)) return 'name_taken'
        link.use()
        return null
      })
      return refused === null ? welcome(name, password, client) : { refused }
    },

    /** The first account, created by a person at the machine. */
    async createOwner({ name, password }: NewPerson): Promise<Person | Refused<'owner_exists' | 'name_taken'>> {
      const hash = await hashPassword(password)
      const refused = db.transaction(() => {
        if (hasOwner()) return 'owner_exists'
        return addPerson(name, hash, 'owner') ? null : 'name_taken'
      })
      if (refused !== null) return { refused }
      return personOf(
        db
          .select()
          .from(user)
          .where(eq(user.username, nameKey(name)))
          .get()!,
      )
    },

    async signOut(client: Client): Promise<{ cookies: string[] }> {
      const { headers } = await auth.api.signOut({ headers: headersOf(client), returnHeaders: true })
      report()
      return { cookies: headers.getSetCookie() }
    },

    async changePassword(
      change: { currentPassword: string; newPassword: string },
      person: Person,
      client: Client,
    ): Promise<{ cookies: string[] } | Refused<'wrong_password' | 'too_many_guesses'>> {
      const attempt = guesses.begin({ address: client.address, account: nameKey(person.name) })
      if (!attempt.ok) return { refused: 'too_many_guesses', retryAfterMs: attempt.retryAfterMs }
      try {
        const { headers } = await auth.api.changePassword({
          body: { ...change, revokeOtherSessions: true },
          headers: headersOf(client),
          returnHeaders: true,
        })
        attempt.forgive()
        report()
        return { cookies: headers.getSetCookie() }
      } catch (error) {
        if (error instanceof APIError && error.body?.code === 'INVALID_PASSWORD') return { refused: 'wrong_password' }
        throw error
      }
    },

    /** The session of a token as `token` of a welcome and the cookie carry it: with its signature, which auth.db does not hold. */
    async resolveSession(token: string): Promise<{ userId: string } | null> {
      const found = await sessionOf(`${SESSION_COOKIE}=${encodeURIComponent(token)}`)
      return found === null ? null : { userId: found.person.id }
    },

    /** The account of an id. `tokensSince`: its access tokens from before that do not count. In ms. */
    findAccount(personId: string): { person: Person; tokensSince: number } | null {
      const found = personWith(personId)
      return found === undefined ? null : { person: personOf(found), tokensSince: found.tokensSince?.getTime() ?? 0 }
    },

    listDevices(of: { personId: string | null; thisDevice: string | null }): Device[] {
      const alive = gt(session.expiresAt, new Date(now()))
      return db
        .select({ session, personName: user.name })
        .from(session)
        .innerJoin(user, eq(user.id, session.userId))
        .where(of.personId === null ? alive : and(alive, eq(session.userId, of.personId)))
        .orderBy(desc(session.updatedAt), desc(session.id))
        .all()
        .map(({ session: { id, userId, userAgent, ipAddress, createdAt, updatedAt }, personName }) => ({
          ...{ id, personId: userId, personName, address: ipAddress || null },
          ...deviceNameOf(userAgent ?? ''),
          ...{ createdAt: createdAt.getTime(), lastSeenAt: updatedAt.getTime(), isThis: id === of.thisDevice },
        }))
    },

    /** `personId`: only a device of this person. false: there is none. */
    signOutDevice(deviceId: string, personId: string | null): boolean {
      const found = db.select({ userId: session.userId }).from(session).where(eq(session.id, deviceId)).get()
      if (found === undefined || (personId !== null && found.userId !== personId)) return false
      return endSessions(deviceId)
    },

    listPeople(): Person[] {
      return db.select().from(user).orderBy(user.createdAt, user.id).all().map(personOf)
    },

    changeRole(personId: string, role: Role): Person | Refused<'person_not_found' | 'last_owner'> {
      const changed = db.transaction(() => {
        if (personWith(personId) === undefined) return { refused: 'person_not_found' as const }
        if (role !== 'owner' && isOnlyOwner(personId)) return { refused: 'last_owner' as const }
        db.update(user)
          .set({ role, updatedAt: new Date(now()) })
          .where(eq(user.id, personId))
          .run()
        return personOf(personWith(personId)!)
      })
      report()
      return changed
    },

    /** For somebody at the machine. All devices of the person are signed out, and their access tokens do not count any more. */
    async resetPassword(personId: string, password: string): Promise<Refused<'person_not_found'> | null> {
      const hash = await hashPassword(password)
      const refused = db.transaction(() => {
        const person = personWith(personId)
        if (person === undefined) return { refused: 'person_not_found' as const }
        const at = new Date(now())
        db.update(account)
          .set({ password: hash, updatedAt: at })
          .where(and(eq(account.userId, personId), eq(account.providerId, 'credential')))
          .run()
        db.delete(session).where(eq(session.userId, personId)).run()
        db.update(user).set({ tokensSince: at }).where(eq(user.id, personId)).run()
        guesses.forget(person.username)
        return null
      })
      report()
      return refused
    },

    /** Signs all devices of everybody out. */
    endAllSessions(): void {
      db.delete(session).run()
      report()
    },

    /** By the name with which they sign in. */
    findPerson(name: string): Person | null {
      const found = db
        .select()
        .from(user)
        .where(eq(user.username, nameKey(name)))
        .get()
      return found === undefined ? null : personOf(found)
    },

    removePerson(personId: string): Refused<'person_not_found' | 'last_owner'> | null {
      const refused = db.transaction(() => {
        if (personWith(personId) === undefined) return { refused: 'person_not_found' as const }
        if (isOnlyOwner(personId)) return { refused: 'last_owner' as const }
        db.delete(user).where(eq(user.id, personId)).run()
        return null
      })
      report()
      return refused
    },

    listInvitations(): Invitation[] {
      const found = db
        .select({ invitation, invitedBy: user.name })
        .from(invitation)
        .leftJoin(user, eq(user.id, invitation.invitedBy))
        .where(gt(invitation.expiresAt, new Date(now())))
        .orderBy(desc(invitation.createdAt))
        .all()
      return found.map((row) => invitationOf(row.invitation, row.invitedBy))
    },

    invite(role: Role, by: Person | null): { invitation: Invitation; link: string } {
      const token = newToken()
      const at = now()
      const row = {
        ...{ id: randomUUID(), tokenDigest: digestOf(token).toString('base64url'), role, invitedBy: by?.id ?? null },
        ...{ createdAt: new Date(at), expiresAt: new Date(at + INVITATION_MS) },
      }
      db.delete(invitation).where(lte(invitation.expiresAt, row.createdAt)).run()
      db.insert(invitation).values(row).run()
      return { invitation: invitationOf(row, by?.name ?? null), link: token }
    },

    /** false: there is none. */
    withdrawInvitation(id: string): boolean {
      return db.delete(invitation).where(eq(invitation.id, id)).run().changes > 0
    },

    /** Called after sessions ended or roles changed. */
    onChange(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    close: () => database.close(),
  }
}

/** The form in which names are compared. */
function nameKey(name: string): string {
  return name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
}

function personOf({ id, name, role, createdAt }: { id: string; name: string; role: Role; createdAt: Date }): Person {
  return { id, name, role, createdAt: createdAt.getTime() }
}

function invitationOf(row: { id: string; role: Role; createdAt: Date; expiresAt: Date }, invitedBy: string | null): Invitation {
  return { id: row.id, role: row.role, invitedBy, createdAt: row.createdAt.getTime(), expiresAt: row.expiresAt.getTime() }
}

const newToken = () => randomBytes(32).toString('base64url')
const digestOf = (token: string) => createHash('sha256').update(token).digest()

/** For clients that are no browsers: what the cookie of a new session holds. */
function signedTokenOf(cookies: readonly string[]): string {
  const start = `${SESSION_COOKIE}=`
  const [value = ''] =
    cookies
      .find((cookie) => cookie.startsWith(start))
      ?.slice(start.length)
      .split(';') ?? []
  return decodeURIComponent(value)
}
