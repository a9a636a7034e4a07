import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { and, desc, eq, gt, lte } from 'drizzle-orm'
import type { Invitation, Person, Role } from '../contract/auth-api.ts'
import type { AuthDatabase } from './auth-database.ts'
import { invitation, user } from './auth-tables.ts'

const INVITATION_MS = 3 * 24 * 60 * 60_000

/** A link that is valid. `use` makes it invalid. */
export type OneTimeLink = { role: Role; invitedBy: string | null; isSetup: boolean; use(): void }

/** The links by which people create accounts: invitations, and the one for the first owner. auth.db holds no token, only digests. */
export function createLinks(db: AuthDatabase['db'], now: () => number) {
  let setupDigest: Buffer | null = null

  return {
    /** Valid until it is used or Deckhand stops. */
    createSetupToken(): string {
      const token = newToken()
      setupDigest = digestOf(token)
      return token
    },

    /** null: it was used, withdrawn, or has expired. */
    find(token: string): OneTimeLink | null {
      const digest = digestOf(token)
      if (setupDigest !== null && timingSafeEqual(digest, setupDigest))
        return { role: 'owner', invitedBy: null, isSetup: true, use: () => void (setupDigest = null) }
      const found = db
        .select({ id: invitation.id, role: invitation.role, invitedBy: user.name })
        .from(invitation)
        .leftJoin(user, eq(user.id, invitation.invitedBy))
        .where(and(eq(invitation.tokenDigest, digest.toString('base64url')), gt(invitation.expiresAt, new Date(now()))))
        .get()
      if (found === undefined) return null
      const { id, role, invitedBy } = found
      return { role, invitedBy, isSetup: false, use: () => void db.delete(invitation).where(eq(invitation.id, id)).run() }
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
        id: randomUUID(),
        tokenDigest: digestOf(token).toString('base64url'),
        role,
        invitedBy: by?.id ?? null,
        createdAt: new Date(at),
        expiresAt: new Date(at + INVITATION_MS),
      }
      db.delete(invitation).where(lte(invitation.expiresAt, row.createdAt)).run()
      db.insert(invitation).values(row).run()
      return { invitation: invitationOf(row, by?.name ?? null), link: token }
    },

    /** false: there is none. */
    withdrawInvitation(id: string): boolean {
      return db.delete(invitation).where(eq(invitation.id, id)).run().changes > 0
    },
  }
}

function invitationOf(row: { id: string; role: Role; createdAt: Date; expiresAt: Date }, invitedBy: string | null): Invitation {
  return { id: row.id, role: row.role, invitedBy, createdAt: row.createdAt.getTime(), expiresAt: row.expiresAt.getTime() }
}

const newToken = () => randomBytes(32).toString('base64url')
const digestOf = (token: string) => createHash('sha256').update(token).digest()
