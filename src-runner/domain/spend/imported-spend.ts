import { eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Db, Tx } from '../../platform/db/database.ts'
import { settings } from '../settings/settings-table.ts'
import { addSpend, BUCKET_MS, type SpendEntry } from './add-spend.sql.ts'

/** Micro-dollars by the start of their quarter of an hour. Only of the last days: earlier spend is in no present budget. */
const KEY = 'importedSpend'
const Imported = z.record(z.string(), z.number())
const KEPT_MS = 2 * 86_400_000

/** Counts on the day it was spent, but in no budget: it was spent elsewhere, or before the data was deleted here. */
export function addImportedSpend(tx: Tx, entry: SpendEntry, now: number): void {
  addSpend(tx, entry, { countsForAgent: false })
  if (entry.costMicros === 0 || entry.at < now - KEPT_MS) return
  const bucketAt = entry.at - (entry.at % BUCKET_MS)
  const recent = Object.entries(readAll(tx)).filter(([at]) => Number(at) >= now - KEPT_MS)
  const sums = Object.fromEntries(recent)
  sums[bucketAt] = (sums[bucketAt] ?? 0) + entry.costMicros
  const row = { value: JSON.stringify(sums), updatedAt: now }
  tx.insert(settings)
    .values({ key: KEY, ...row })
    .onConflictDoUpdate({ target: settings.key, set: row })
    .run()
}

/** In micro-dollars: the part of `readSpendOfAll` that was imported. */
export function readImportedSpend(db: Db, { since, until }: { since: number; until: number }): number {
  return Object.entries(readAll(db)).reduce((sum, [at, micros]) => (Number(at) >= since && Number(at) < until ? sum + micros : sum), 0)
}

function readAll(db: Db): Record<string, number> {
  const row = db.select({ value: settings.value }).from(settings).where(eq(settings.key, KEY)).get()
  return row === undefined ? {} : Imported.parse(JSON.parse(row.value))
}
