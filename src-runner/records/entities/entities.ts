import type { Db } from '../../base/db/database.ts'
import { AppError } from '../../kit/errors.ts'

/** A workspace: it owns agents and all that belongs to them. */
export type Entity = { id: string; name: string; isDefault: boolean; createdAt: number }

type EntityRow = { id: string; name: string; is_default: number; created_at: number }

/** `Personal`, which the first migration makes. */
export function findDefaultEntity(db: Db): Entity {
  return entityOf(db.prepare<EntityRow>('SELECT * FROM entities WHERE is_default = 1').get()!)
}

export function findEntity(db: Db, entityId: string): Entity | null {
  const row = db.prepare<EntityRow>('SELECT * FROM entities WHERE id = ?').get(entityId)
  return row === undefined ? null : entityOf(row)
}

/** Throws AppError entity_not_found. */
export function getEntity(db: Db, entityId: string): Entity {
  const entity = findEntity(db, entityId)
  if (entity === null) throw new AppError('entity_not_found', 'There is no such workspace.')
  return entity
}

function entityOf(row: EntityRow): Entity {
  return { id: row.id, name: row.name, isDefault: row.is_default === 1, createdAt: row.created_at }
}
