import type { StoredEvent } from '../../contract/events.ts'
import type { Db, Tx } from '../db/database.ts'
import type { events } from '../db/events-table.ts'

/** The recorded events after `afterId`, oldest first. */
export function listEventsAfter(db: Db, afterId: number, limit = 500): StoredEvent[] {
  return db
    .prepare<typeof events.$inferSelect>('SELECT id, at, type, payload FROM events WHERE id > ? ORDER BY id LIMIT ?')
    .all(afterId, limit)
    .map((row) => ({ id: row.id, at: row.at, type: row.type, payload: JSON.parse(row.payload) }) as StoredEvent)
}

/**
 * The ids of the oldest and the newest event. Without events `oldest` is one above `newest`. A reader whose last id is below
 * `oldest - 1` has missed some and must read everything again.
 */
export function findEventBounds(db: Db): { oldest: number; newest: number } {
  const newest = db.prepare<{ id: number | null }>('SELECT max(id) AS id FROM events').get()!.id ?? 0
  const oldest = db.prepare<{ id: number | null }>('SELECT min(id) AS id FROM events').get()!.id ?? newest + 1
  return { oldest, newest }
}

/**
 * Deletes events before `olderThan` and all but the newest `keepRows`, at most `limit` per call, oldest first. Keeps the newest
 * one, because the next id follows from it. Returns how many were deleted.
 */
export function pruneEvents(
  tx: Tx,
  { keepRows, olderThan, limit = 5000 }: { keepRows: number; olderThan: number; limit?: number },
): number {
  const { oldest, newest } = findEventBounds(tx)
  const firstKept = Math.min(oldest + limit, Math.max(newest - keepRows + 1, findFirstSince(tx, olderThan) ?? newest), newest)
  return tx.prepare('DELETE FROM events WHERE id < ?').run(firstKept).changes
}

/** Scans from the oldest event, so it needs no index over time. */
function findFirstSince(db: Db, at: number): number | null {
  return db.prepare<{ id: number }>('SELECT id FROM events WHERE at >= ? ORDER BY id LIMIT 1').get(at)?.id ?? null
}
