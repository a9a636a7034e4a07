import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { required } from '../../lib/errors.ts'
import { entities } from './entities-table.ts'

/** A workspace. It owns agents and everything that belongs to them. */
export type Entity = typeof entities.$inferSelect

const isDefault = sql`is_default = 1`
const DEFAULT_ENTITY = prepareOnce((db: Db) => db.select().from(entities).where(isDefault))

/** `Personal`, which the first migration inserts. */
export function findDefaultEntity(db: Db): Entity {
  return DEFAULT_ENTITY(db).get()!
}

export function findEntity(db: Db, entityId: string): Entity | null {
  return db.select().from(entities).where(eq(entities.id, entityId)).get() ?? null
}

/** Throws AppError entity_not_found. */
export function getEntity(db: Db, entityId: string): Entity {
  return required(findEntity(db, entityId), 'entity_not_found')
}
