import { createHmac, randomUUID } from 'node:crypto'
import { betterAuth } from 'better-auth/minimal'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { hashPassword, verifyPassword } from 'better-auth/crypto'
import { APIError } from 'better-auth/api'
import { username as byName } from 'better-auth/plugins/username'
import { and, desc, eq, gt, lte } from 'drizzle-orm'
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS, type Device, type Person, type Role } from '../contract/auth-api.ts'
import type { AuthDatabase } from './auth-database.ts'
import { nameKey, personOf, type People, type Refused } from './auth-people.ts'
import * as tables from './auth-tables.ts'
import { deviceNameOf } from './device-name.ts'

const DAY_S = 24 * 60 * 60
/** A device that was not used for this long is signed out. */
const SESSION_S = 30 * DAY_S
/** How exact "last seen" is. */
const SEEN_MS = 60_000
const ADDRESS_HEADER = 'x-socket-address'
const SESSION_COOKIE = 'deckhand.session_token'

/**
 * `pageKey`: a browser sends the cookie to every port of this host, so other servers of the machine can read it. The page also
 * sends this key, which it keeps in storage of its own origin, and which cannot be made from the cookie.
 */
export type SignedIn = { person: Person; deviceId: string; pageKey: string }
/** Where a request comes from. `address` is the socket's: headers about it can be made up. */
export type Client = { address: string; userAgent: string; cookie: string | undefined }
/** Hashing is costly on purpose, so tests that are not about it have one that is not. */
export type PasswordHashing = {
  hash(password: string): Promise<string>
  verify(given: { hash: string; password: string }): Promise<boolean>
}
/** scrypt. */
export const SLOW_HASHING: PasswordHashing = { hash: hashPassword, verify: verifyPassword }

/** `cookies`: Set-Cookie values for the browser. `token`: the session's. */
export type Welcome = { person: Person; cookies: string[]; token: string; pageKey: string }

export type SessionDeps = {
  db: AuthDatabase['db']
  people: Pick<People, 'find' | 'get' | 'passwordHash'>
  /** Signs cookies and page keys. At least 32 characters. */
  secret: string
  now: () => number
  passwords: PasswordHashing
  /** Called after sessions ended. */
  ended: () => void
}

/** Passwords, cookies and sessions. Limits on guessing are the caller's. */
export async function createSessions(deps: SessionDeps) {
  const { db, people, now, ended } = deps
  const { user, session } = tables
  const { api, $context } = configureLibrary(deps)
  await $context
  const pageKeyOf = (token: string) => createHmac('sha256', deps.secret).update(`page ${token}`).digest('base64url')

  async function sessionOf(cookie: string | undefined): Promise<SignedIn | null> {
    if (cookie === undefined) return null
    const found = await api.getSession({ headers: new Headers({ cookie }), query: { disableRefresh: true } })
    const at = now()
    if (found === null || found.session.expiresAt.getTime() <= at) return null
    if (at - found.session.updatedAt.getTime() > SEEN_MS)
      db.update(session)
        .set({ updatedAt: new Date(at) })
        .where(eq(session.id, found.session.id))
        .run()
    const person = personOf(found.user as typeof found.user & { role: Role })
    return { person, deviceId: found.session.id, pageKey: pageKeyOf(found.session.token) }
  }

  function end(deviceId: string): boolean {
    const isEnded = db.delete(session).where(eq(session.id, deviceId)).run().changes > 0
    if (isEnded) ended()
    return isEnded
  }

  return {
    sessionOf,

    /** The session of a token as `token` of a welcome and the cookie carry it: with its signature, which auth.db does not hold. */
    async resolve(token: string): Promise<{ userId: string } | null> {
      const found = await sessionOf(`${SESSION_COOKIE}=${encodeURIComponent(token)}`)
      return found === null ? null : { userId: found.person.id }
    },

    async begin(name: string, password: string, client: Client): Promise<Welcome | Refused<'sign_in_failed'>> {
      const hashOf = () => people.passwordHash(people.find(name)?.id ?? '')
      const hash = hashOf()
      const asked = { body: { username: name, password }, headers: headersOf(client), returnHeaders: true } as const
      const answer = await api.signInUsername(asked).catch((error: unknown) => {
        if (error instanceof APIError && error.status === 'UNAUTHORIZED') return null
        throw error
      })
      if (answer === null) return { refused: 'sign_in_failed' }
      // The password was replaced while the old one was being checked.
      if (hashOf() !== hash) {
        db.delete(session).where(eq(session.token, answer.response.token)).run()
        return { refused: 'sign_in_failed' }
      }
      // A browser that signs in again leaves no device behind.
      const before = await sessionOf(client.cookie)
      if (before !== null) end(before.deviceId)
      db.delete(session)
        .where(lte(session.expiresAt, new Date(now())))
        .run()
      const cookies = answer.headers.getSetCookie()
      const { person } = people.get(answer.response.user.id)!
      return { person, cookies, token: signedTokenOf(cookies), pageKey: pageKeyOf(answer.response.token) }
    },

    /** The state of a browser's session, and cookies that prolong it. */
    async refresh(client: Client): Promise<{ person: Person | null; cookies: string[] }> {
      if (client.cookie === undefined) return { person: null, cookies: [] }
      const { headers, response } = await api.getSession({ headers: headersOf(client), returnHeaders: true })
      return { person: response && personOf(response.user as typeof response.user & { role: Role }), cookies: headers.getSetCookie() }
    },

    async signOut(client: Client): Promise<{ cookies: string[] }> {
      const { headers } = await api.signOut({ headers: headersOf(client), returnHeaders: true })
      ended()
      return { cookies: headers.getSetCookie() }
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
          id,
          personId: userId,
          personName,
          address: ipAddress || null,
          ...deviceNameOf(userAgent ?? ''),
          createdAt: createdAt.getTime(),
          lastSeenAt: updatedAt.getTime(),
          isThis: id === of.thisDevice,
        }))
    },

    /** `personId`: only a device of this person. false: there is none. */
    signOutDevice(deviceId: string, personId: string | null): boolean {
      const found = db.select({ userId: session.userId }).from(session).where(eq(session.id, deviceId)).get()
      if (found === undefined || (personId !== null && found.userId !== personId)) return false
      return end(deviceId)
    },

    /** Signs all devices of everybody out. */
    endAll(): void {
      db.delete(session).run()
      ended()
    },
  }
}

function configureLibrary({ db, secret, passwords }: SessionDeps) {
  return betterAuth({
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
      password: passwords,
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
}

function headersOf({ address, userAgent, cookie }: Client): Headers {
  return new Headers({ [ADDRESS_HEADER]: address, 'user-agent': userAgent.slice(0, 500), ...(cookie === undefined ? {} : { cookie }) })
}

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
