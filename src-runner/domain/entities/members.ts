import { eq } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/transact.ts'
import type { SignedInUser } from '../../contract/port.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { findDefaultEntity } from './entities.ts'
import { entities } from './entities-table.ts'
import { entityMembers } from './entity-members-table.ts'

/** The workspace of an account. null: it has none yet. */
export function findEntityOfUser(db: Db, userId: string): string | null {
  return db.select({ id: entityMembers.entityId }).from(entityMembers).where(eq(entityMembers.userId, userId)).get()?.id ?? null
}

/** The owner of the installation works in `Personal`. Everybody else gets a workspace of their own. Returns its id. */
export function joinEntity(tx: Tx, { clock, ids }: { clock: Clock; ids: Ids }, { userId, name, isOwner }: SignedInUser): string {
  const known = findEntityOfUser(tx, userId)
  if (known !== null) return known
  const createdAt = clock.now()
  const entityId = isOwner ? findDefaultEntity(tx).id : ids.next()
  if (!isOwner) tx.insert(entities).values({ id: entityId, name, isDefault: false, createdAt }).run()
  tx.insert(entityMembers).values({ userId, entityId, createdAt }).run()
  return entityId
}
