import { hash } from 'node:crypto'
import { desc, eq } from 'drizzle-orm'
import { transact, type Database, type Tx } from '../../platform/db/database.ts'
import { INBOX_KEEPS } from '../../contract/triggers.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import { findSeq } from '../jobs/read-jobs.ts'
import type { IndexedTrigger } from './trigger-index.ts'
import { refusals, triggers } from './triggers-table.ts'
import { pruneRefusals, trimBodies } from './triggers.sql.ts'

type Row = typeof refusals.$inferSelect

/** `payload` is stored only for a delivery with a valid secret and signature. */
export type Refusal = Pick<Row, 'outcome' | 'status' | 'receivedAt'> &
  Partial<Pick<Row, 'bytes' | 'payload' | 'headers' | 'senderId' | 'eventName'>> & {
    /** The job of the delivery that it repeats. */
    jobId?: string | null
  }

const FLUSH_AFTER_MS = 1000
/**
 * Rows for each trigger without a payload. They do not count with deliveries that are accepted or have a payload, so a flood of them
 * pushes none of those out.
 */
const WITHOUT_PAYLOAD_KEPT = 50
/** Payloads in memory, of all triggers. Before there are more, they are written. */
const MAX_WAITING_BYTES = 16_000_000

/** The refusals of one trigger, counted by outcome, sender id and payload, in the order in which each first came. */
type Counted = { triggerId: string; refusals: Map<string, { times: number; last: Refusal }> }

export type DeliveryLog = ReturnType<typeof createDeliveryLog>

/**
 * Records refused deliveries and trims the inboxes. A refusal costs the sender nothing, so it must cost little here: refusals are
 * counted in memory and written together about once a second. A crash or a failed commit loses only the last second of them.
 */
export function createDeliveryLog({ db, ids }: { db: Database; ids: Ids }) {
  const counted = new Map<number, Counted>()
  const toTrim = new Set<number>()
  let isPlanned = false

  function flushSoon(): void {
    if (isPlanned) return
    isPlanned = true
    void db.clock.sleep(FLUSH_AFTER_MS).then(() => {
      isPlanned = false
      flush()
      if (counted.size > 0) flushSoon()
    })
  }

  function flush(): void {
    if ((counted.size === 0 && toTrim.size === 0) || !db.connection.open) return
    try {
      transact(db, (tx) => {
        for (const [triggerSeq, one] of counted) writeRefusals(tx, ids, triggerSeq, one)
        for (const triggerSeq of toTrim) trimBodies(tx, triggerSeq)
      })
      counted.clear()
      toTrim.clear()
    } catch (error) {
      // Most likely a full disk. They stay in memory, which holds few because they are counted by kind.
      db.log.warn({ err: error }, `refused deliveries could not be written yet: ${messageOf(error)}`)
    }
  }

  function hasRoom(triggerSeq: number, { payload }: Refusal): boolean {
    const kinds = counted.get(triggerSeq)?.refusals.size ?? 0
    if (payload == null) return kinds < WITHOUT_PAYLOAD_KEPT
    return kinds < INBOX_KEEPS && countBytes(counted) + payload.length <= MAX_WAITING_BYTES
  }

  return {
    addRefusal({ seq, id }: Pick<IndexedTrigger, 'seq' | 'id'>, refusal: Refusal): void {
      const kind = kindOf(refusal)
      const isKnown = () => counted.get(seq)?.refusals.has(kind) === true
      if (refusal.payload != null && !isKnown() && !hasRoom(seq, refusal)) flush()
      // A flood of sender ids is counted only by outcome, and so are payloads that could not be written.
      const countedAs = isKnown() || hasRoom(seq, refusal) ? kind : refusal.outcome
      if (!counted.has(seq)) counted.set(seq, { triggerId: id, refusals: new Map() })
      const { refusals } = counted.get(seq)!
      refusals.set(countedAs, { times: (refusals.get(countedAs)?.times ?? 0) + 1, last: refusal })
      flushSoon()
    },
    /** Writes the trigger's refusals so far, so that they come before the delivery that this transaction accepts. */
    writeBefore(tx: Tx, triggerSeq: number): void {
      const one = counted.get(triggerSeq)
      if (one === undefined) return
      counted.delete(triggerSeq)
      writeRefusals(tx, ids, triggerSeq, one)
    },
    /** To be called when the trigger has accepted deliveries, so that old ones are trimmed soon. */
    trimLater(triggerSeq: number): void {
      toTrim.add(triggerSeq)
      flushSoon()
    },
    /** Writes everything now, before reading and before the end. */
    flush,
  }
}

function kindOf({ outcome, senderId, payload }: Refusal): string {
  return `${outcome} ${payload == null ? '' : hash('sha256', payload)} ${senderId ?? ''}`
}

function countBytes(counted: ReadonlyMap<number, Counted>): number {
  let bytes = 0
  for (const { refusals } of counted.values()) for (const { last } of refusals.values()) bytes += last.payload?.length ?? 0
  return bytes
}

function writeRefusals(tx: Tx, ids: Ids, triggerSeq: number, { triggerId, refusals: counted }: Counted): void {
  const trigger = tx.select({ newestJobSeq: triggers.newestJobSeq }).from(triggers).where(eq(triggers.seq, triggerSeq)).get()
  // The trigger was deleted meanwhile.
  if (trigger === undefined) return
  const written = new Set<Refusal['outcome']>()
  for (const { times, last } of counted.values()) {
    const jobSeq = last.jobId == null ? null : (findSeq(tx, last.jobId) ?? null)
    // The job of the first delivery was deleted, and what repeats it went with it.
    if (last.outcome === 'duplicate' && jobSeq === null) continue
    writeRefusal(tx, ids, { triggerSeq, afterJobSeq: trigger.newestJobSeq ?? 0, jobSeq }, times, last)
    written.add(last.outcome)
  }
  pruneRefusals(tx, triggerSeq, { withPayload: INBOX_KEEPS, withoutPayload: WITHOUT_PAYLOAD_KEPT })
  for (const outcome of written) tx.emit({ type: 'delivery.refused', payload: { triggerId, outcome } })
}

/** Adds to the newest row if that has the same outcome, sender id and payload, and no delivery was accepted since. */
function writeRefusal(
  tx: Tx,
  ids: Ids,
  { jobSeq, ...place }: { triggerSeq: number; afterJobSeq: number; jobSeq: number | null },
  times: number,
  last: Refusal,
): void {
  const newest = tx
    .select()
    .from(refusals)
    .where(eq(refusals.triggerSeq, place.triggerSeq))
    .orderBy(desc(refusals.afterJobSeq), desc(refusals.seq))
    .limit(1)
    .get()
  const { outcome, status, receivedAt, bytes = 0, senderId = null, eventName = null, headers = null, payload = null } = last
  const row = { status, receivedAt, bytes, senderId, eventName, jobSeq, headers, payload }
  const isSame = newest?.outcome === outcome && newest.senderId === senderId && isSamePayload(newest.payload, payload)
  if (isSame && newest.afterJobSeq === place.afterJobSeq) {
    tx.update(refusals)
      .set({ ...row, times: newest.times + times })
      .where(eq(refusals.seq, newest.seq))
      .run()
    return
  }
  tx.insert(refusals)
    .values({ ...row, ...place, id: ids.next(), outcome, times })
    .run()
}

function isSamePayload(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b)
}
