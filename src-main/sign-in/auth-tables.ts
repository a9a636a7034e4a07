import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * The tables of auth.db. The first four, and the names of their columns, are what better-auth expects. MIGRATIONS in
 * auth-database.ts creates them; a test compares the two.
 */
const moment = () => integer({ mode: 'timestamp_ms' })
const ROLES = ['owner', 'member'] as const

export const user = sqliteTable(
  'user',
  {
    id: text().primaryKey(),
    /** As the person wrote it. */
    name: text().notNull(),
    /** The name as it is compared: people sign in with it. */
    username: text().notNull().unique(),
    role: text({ enum: ROLES }).notNull(),
    /** better-auth needs one. It is made up, and nothing is ever sent. */
    email: text().notNull().unique(),
    emailVerified: integer({ mode: 'boolean' }).notNull().default(false),
    image: text(),
    createdAt: moment().notNull(),
    updatedAt: moment().notNull(),
    /** Access tokens that the person created before do not count. null: all of them count. */
    tokensSince: moment(),
  },
  (table) => [check('user_role', sql`${table.role} IN ('owner', 'member')`)],
)

export const session = sqliteTable(
  'session',
  {
    id: text().primaryKey(),
    token: text().notNull().unique(),
    userId: text()
      .notNull()
      .references(() => user.id, { onDelete: 'cascade' }),
    expiresAt: moment().notNull(),
    createdAt: moment().notNull(),
    /** When the device was last seen, to the minute. */
    updatedAt: moment().notNull(),
    ipAddress: text(),
    userAgent: text(),
  },
  (table) => [index('session_user').on(table.userId)],
)

/** The password of a person. The columns about other providers stay empty. */
export const account = sqliteTable(
  'account',
  {
    id: text().primaryKey(),
    accountId: text().notNull(),
    providerId: text().notNull(),
    userId: text()
      .notNull()
      .references(() => user.id, { onDelete: 'cascade' }),
    accessToken: text(),
    refreshToken: text(),
    idToken: text(),
    accessTokenExpiresAt: moment(),
    refreshTokenExpiresAt: moment(),
    scope: text(),
    password: text(),
    createdAt: moment().notNull(),
    updatedAt: moment().notNull(),
  },
  (table) => [index('account_user').on(table.userId)],
)

export const verification = sqliteTable('verification', {
  id: text().primaryKey(),
  identifier: text().notNull(),
  value: text().notNull(),
  expiresAt: moment().notNull(),
  createdAt: moment().notNull(),
  updatedAt: moment().notNull(),
})

/** A link that creates one account. The row is deleted when it is used or withdrawn. */
export const invitation = sqliteTable(
  'invitation',
  {
    id: text().primaryKey(),
    /** SHA-256. The link itself is shown once. */
    tokenDigest: text().notNull().unique(),
    role: text({ enum: ROLES }).notNull(),
    /** null: invited in the app's window. */
    invitedBy: text().references(() => user.id, { onDelete: 'cascade' }),
    createdAt: moment().notNull(),
    expiresAt: moment().notNull(),
  },
  (table) => [check('invitation_role', sql`${table.role} IN ('owner', 'member')`)],
)

/** Password checks of the last 15 minutes, one row for each key that one counts for. */
export const guess = sqliteTable(
  'guess',
  {
    /** The same for all rows of one check. */
    attemptId: text().notNull(),
    key: text().notNull(),
    at: moment().notNull(),
  },
  (table) => [index('guess_key').on(table.key)],
)
