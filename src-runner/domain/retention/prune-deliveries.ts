import { and, eq, gt, lt } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { refusals, triggers } from '../triggers/triggers-table.ts'
import { deleteBodiesBefore } from '../triggers/triggers.sql.ts'

/**
 * Deletes the bodies and headers of a webhook's deliveries from before that moment, and its refused deliveries. Jobs keep their
 * task. Goes on with the webhook after `afterSeq`; returns its seq, or null after the last.
 */
export function pruneDeliveries(
  tx: Tx,
  { before, afterSeq }: { before: number; afterSeq: number },
): { deleted: number; next: number | null } {
  const trigger = tx.select({ seq: triggers.seq }).from(triggers).where(gt(triggers.seq, afterSeq)).orderBy(triggers.seq).limit(1).get()
  if (trigger === undefined) return { deleted: 0, next: null }
  const isOld = and(eq(refusals.triggerSeq, trigger.seq), lt(refusals.receivedAt, before))
  const refused = tx.delete(refusals).where(isOld).run().changes
  return { deleted: refused + deleteBodiesBefore(tx, trigger.seq, before), next: trigger.seq }
}
