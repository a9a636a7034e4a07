import { eq } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { SignedInUser } from '../../contract/port.ts'
import { findDefaultEntity } from './entities.ts'
import { entities, entityMembers } from './entities-table.ts'

/** The workspace of an account: `Personal` for the owners of the installation, as long as they are. null: it has none yet. */
export function findEntityOfUser(db: Db, { userId, isOwner }: Pick<SignedInUser, 'userId' | 'isOwner'>): string | null {
  if (isOwner) return findDefaultEntity(db).id
  return db.select({ id: entityMembers.entityId }).from(entityMembers).where(eq(entityMembers.userId, userId)).get()?.id ?? null
}

/** Gives an account a workspace of its own, unless it has one. Returns its id. */
export function ensureEntityOfUser(tx: Tx, { clock, ids }: Pick<Services, 'clock' | 'ids'>, user: SignedInUser): string {
  const known = findEntityOfUser(tx, user)
  if (known !== null) return known
  const createdAt = clock.now()
  const entityId = ids.next()
  tx.insert(entities).values({ id: entityId, name: user.name, isDefault: false, createdAt }).run()
  tx.insert(entityMembers).values({ userId: user.userId, entityId, createdAt }).run()
  return entityId
}
