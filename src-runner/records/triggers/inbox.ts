import type { Database } from '../../base/db/database.ts'
import { transact, type Tx } from '../../base/db/transact.ts'
import type { DeliveryOutcome } from '../../contract/triggers.ts'
import { messageOf } from '../../kit/errors.ts'
import type { Ids } from '../../kit/ids.ts'
import { forgetBodies, newestDelivered } from './delivered-jobs.ts'
import type { KnownTrigger } from './trigger-index.ts'

export type Refusal = {
  outcome: Exclude<DeliveryOutcome, 'accepted'>
  status: number
  receivedAt: number
  bytes?: number
  /** Of a delivery that came with everything it needs; of the others nothing is kept. */
  payload?: Buffer | null
  headers?: string | null
  senderId?: string | null
  eventName?: string | null
  /** The job of the delivery that it repeats. */
  jobId?: string | null
}

/**
 * What is written about deliveries beside the way of those that are taken. A refusal costs the sender nothing, so it must
 * cost us next to nothing: refusals are counted here and written together about once a second. A crash loses the last
 * second of them, and nothing else.
 */
export type Inbox = {
  refused(trigger: Pick<KnownTrigger, 'seq' | 'id'>, refusal: Refusal): void
  /** For the transaction that keeps a delivery: what the trigger refused before it comes before it. */
  catchUp(tx: Tx, triggerSeq: number): void
  /** The trigger was given another delivery to keep; the one too many goes later. */
  grew(triggerSeq: number): void
  /** Writes what is due now. For whoever is about to look, and before the end. */
  settle(): void
}

const GATHER_MS = 1000
/** Rows of refusals for each trigger, beside those that were taken: no flood of them pushes out what was taken. */
const REFUSALS_KEPT = 50

/** What is written of a refusal, by which it is seen whether that still stands. */
type Written = { id: string; times: number }
/**
 * Of one trigger, in the order in which each kind came first: those of one outcome and one id of the sender are counted as one.
 * `written`: in a transaction that may still be undone.
 */
type Counted = { triggerId: string; refusals: Map<string, { times: number; last: Refusal }>; written: Written | null }

export function createInbox({ db, ids }: { db: Database; ids: Ids }): Inbox {
  const counted = new Map<number, Counted>()
  const grown = new Set<number>()
  let expected = false

  function expectWork(): void {
    if (expected) return
    expected = true
    void db.clock.sleep(GATHER_MS).then(() => {
      expected = false
      settle()
      if (counted.size > 0) expectWork()
    })
  }

  function settle(): void {
    if ((counted.size === 0 && grown.size === 0) || !db.connection.open) return
    try {
      transact(db, (tx) => {
        for (const [triggerSeq, refused] of counted) writeRefusals(tx, ids, triggerSeq, refused)
        for (const triggerSeq of grown) forgetBodies(tx, triggerSeq)
      })
      counted.clear()
      grown.clear()
    } catch (error) {
      // A full disk, most likely. They are kept in mind, as few as there are kinds of them.
      db.log.warn({ err: error }, `refused deliveries could not be written down yet: ${messageOf(error)}`)
    }
  }

  /** What was refused in the same transaction has been counted by now, and is still to be written. */
  function forgetWritten(triggerSeq: number, refused: Counted, written: readonly { kind: string; times: number }[]): void {
    const { refusals } = refused
    refused.written = null
    for (const { kind, times } of written) {
      const known = refusals.get(kind)!
      known.times -= times
      if (known.times === 0) refusals.delete(kind)
    }
    if (refusals.size === 0) counted.delete(triggerSeq)
  }

  return {
    refused({ seq, id }, refusal) {
      let ofTrigger = counted.get(seq)
      if (ofTrigger === undefined) counted.set(seq, (ofTrigger = { triggerId: id, refusals: new Map(), written: null }))
      const kind = kindOf(ofTrigger.refusals, refusal)
      const known = ofTrigger.refusals.get(kind)
      if (known === undefined) ofTrigger.refusals.set(kind, { times: 1, last: refusal })
      else {
        known.times++
        known.last = refusal
      }
      expectWork()
    },
    catchUp(tx, triggerSeq) {
      const refused = counted.get(triggerSeq)
      // Deliveries that share a commit write what came before them once; one that failed took what it wrote with it.
      if (refused === undefined || (refused.written !== null && stands(tx, refused.written))) return
      refused.written = writeRefusals(tx, ids, triggerSeq, refused)
      const written = Array.from(refused.refusals, ([kind, { times }]) => ({ kind, times }))
      tx.afterCommit(() => forgetWritten(triggerSeq, refused, written))
    },
    grew(triggerSeq) {
      grown.add(triggerSeq)
      expectWork()
    },
    settle,
  }
}

/** A flood of ids is counted by its outcome alone, as if it had none. */
function kindOf(refusals: Counted['refusals'], { outcome, senderId }: Refusal): string {
  const kind = `${outcome} ${senderId ?? ''}`
  return refusals.size < REFUSALS_KEPT || refusals.has(kind) ? kind : outcome
}

/** Answers what was written last; null: the trigger is gone. */
function writeRefusals(tx: Tx, ids: Ids, triggerSeq: number, { triggerId, refusals }: Counted): Written | null {
  if (tx.prepare('SELECT 1 FROM webhook_triggers WHERE seq = ?').get(triggerSeq) === undefined) return writeNothing(tx)
  let written: Written | null = null
  for (const { times, last } of refusals.values()) {
    written = writeRefusal(tx, ids, triggerSeq, times, last)
    tx.emit({ type: 'delivery.refused', payload: { triggerId, outcome: last.outcome } })
  }
  return written
}

function stands(tx: Tx, { id, times }: Written): boolean {
  return tx.prepare('SELECT 1 FROM webhook_refusals WHERE id = ? AND times = ?').get(id, times) !== undefined
}

/**
 * Takes as long as to write a refusal down, which is to wait for the disk. Everybody else waits meanwhile, so whoever tries an
 * address that is not there must not be able to hear a second later that nothing was written of it.
 */
function writeNothing(tx: Tx): null {
  const { lastInsertRowid } = tx.prepare("INSERT INTO events (at, type, payload) VALUES (0, 'delivery.refused', '{}')").run()
  tx.prepare('DELETE FROM events WHERE id = ?').run(lastInsertRowid)
  return null
}

function writeRefusal(tx: Tx, ids: Ids, triggerSeq: number, times: number, last: Refusal): Written {
  const afterJobSeq = newestDelivered(tx, triggerSeq) ?? 0
  const newest = tx
    .prepare<Written & { seq: number; after_job_seq: number; outcome: string; sender_id: string | null }>(
      `SELECT seq, id, times, after_job_seq, outcome, sender_id FROM webhook_refusals WHERE trigger_seq = ? ORDER BY after_job_seq DESC, seq DESC LIMIT 1`,
    )
    .get(triggerSeq)
  const row = [last.status, last.receivedAt, last.bytes ?? 0, last.senderId, last.eventName, last.jobId, last.headers, last.payload].map(
    (value) => value ?? null,
  )
  if (newest?.outcome === last.outcome && newest.sender_id === (last.senderId ?? null) && newest.after_job_seq === afterJobSeq) {
    tx.prepare(
      `UPDATE webhook_refusals SET times = times + ?, status = ?, received_at = ?, bytes = ?, sender_id = ?, event_name = ?,
         job_seq = (SELECT seq FROM agent_jobs WHERE id = ?), headers = ?, payload = ? WHERE seq = ?`,
    ).run(times, ...row, newest.seq)
    return { id: newest.id, times: newest.times + times }
  }
  const id = ids.next()
  tx.prepare(
    `INSERT INTO webhook_refusals (id, trigger_seq, after_job_seq, outcome, times, status, received_at, bytes, sender_id, event_name, job_seq,
       headers, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT seq FROM agent_jobs WHERE id = ?), ?, ?)`,
  ).run(id, triggerSeq, afterJobSeq, last.outcome, times, ...row)
  tx.prepare(
    `DELETE FROM webhook_refusals WHERE seq IN
       (SELECT seq FROM webhook_refusals WHERE trigger_seq = ? ORDER BY after_job_seq DESC, seq DESC LIMIT -1 OFFSET ?)`,
  ).run(triggerSeq, REFUSALS_KEPT)
  return { id, times }
}
