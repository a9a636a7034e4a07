import { eq, isNotNull } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { MachineTime } from '../../platform/time/machine-time.ts'
import { FIRES_PER_HOUR } from '../../contract/triggers.ts'
import { triggers } from './triggers-table.ts'
import { findLimit, saveAcceptedRow, type TriggerRow } from './triggers.sql.ts'

/**
 * Limits the accepted deliveries of a trigger within any hour of the machine's running time, so setting the clock changes nothing.
 * The wall clock counts only over a restart of the machine, and for an hour at most.
 *
 * The trigger's row holds the running times of the last deliveries in a ring with as many slots as the limit: delivery n is in slot
 * n % 30. So a delivery overwrites the one that must be an hour old by then.
 */
const HOUR_MS = 3_600_000
const SLOT_BYTES = 8
const RING_BYTES = FIRES_PER_HOUR * SLOT_BYTES

/** `fires` null: no delivery was accepted yet. */
export type LimitRow = Pick<TriggerRow, 'triggerCount' | 'fires'>
type UsedLimit = LimitRow & { fires: Buffer }

/** Milliseconds until the next delivery is accepted; 0: now. */
export function waitMsOf(row: LimitRow, time: MachineTime): number {
  return Math.max(0, opensAt(row) - time.elapsed())
}

/** The running time from which the next delivery is accepted; 0: now. */
export function opensAt({ triggerCount, fires }: LimitRow): number {
  return fires === null || triggerCount < FIRES_PER_HOUR ? 0 : elapsedAt(fires, triggerCount) + HOUR_MS
}

export function findOpensAt(db: Db, triggerSeq: number): number {
  const row = findLimit(db, triggerSeq)
  return row === undefined ? 0 : opensAt(row)
}

/** How many deliveries would be accepted now. */
export function countRoom(db: Db, triggerSeq: number, time: MachineTime): number {
  const row = findLimit(db, triggerSeq)
  return FIRES_PER_HOUR - (row === undefined ? 0 : countThisHour(row, time))
}

export function countThisHour({ triggerCount, fires }: LimitRow, time: MachineTime): number {
  if (fires === null) return 0
  const hourAgo = time.elapsed() - HOUR_MS
  let count = 0
  for (let slot = 0; slot < Math.min(triggerCount, FIRES_PER_HOUR); slot++) if (elapsedAt(fires, slot) > hourAgo) count++
  return count
}

/** The limit after a delivery that is accepted now. */
export function addAccepted({ triggerCount, fires: before }: LimitRow, time: MachineTime): UsedLimit {
  const fires = before ?? Buffer.alloc(RING_BYTES)
  fires.writeDoubleLE(time.elapsed(), slotOf(triggerCount))
  return { triggerCount: triggerCount + 1, fires }
}

/** Saves a trigger whose last delivery was accepted `at` and made this job. */
export function saveAccepted(
  tx: Tx,
  { seq, limit, at, jobSeq, time }: { seq: number; limit: UsedLimit; at: number; jobSeq: number; time: MachineTime },
): void {
  const firesGap = at - elapsedAt(limit.fires, limit.triggerCount - 1)
  saveAcceptedRow(tx, {
    seq,
    triggerCount: limit.triggerCount,
    lastTriggeredAt: at,
    newestJobSeq: jobSeq,
    fires: limit.fires,
    firesBoot: time.boot,
    firesGap,
  })
}

/**
 * To be called at the start. Converts the deliveries of an earlier boot to running times of this one. The wall clock says how long
 * ago they were; one in the future, after the clock was set back, counts as now. The result is saved, so that the next start does
 * not begin their hour again.
 */
export function carryOverLimits(tx: Tx, { now, time }: { now: number; time: MachineTime }): void {
  const elapsed = time.elapsed()
  const { seq, triggerCount, fires, firesBoot, firesGap } = triggers
  for (const row of tx.select({ seq, triggerCount, fires, firesBoot, firesGap }).from(triggers).where(isNotNull(fires)).all()) {
    const ring = row.fires!
    // A restarted container has the boot id of its machine and a running time of its own.
    if (row.firesBoot === time.boot && elapsedAt(ring, row.triggerCount - 1) <= elapsed) continue
    for (let slot = 0; slot < Math.min(row.triggerCount, FIRES_PER_HOUR); slot++) {
      const age = now - (elapsedAt(ring, slot) + row.firesGap!)
      ring.writeDoubleLE(elapsed - Math.min(Math.max(age, 0), HOUR_MS), slotOf(slot))
    }
    tx.update(triggers)
      .set({ fires: ring, firesBoot: time.boot, firesGap: now - elapsed })
      .where(eq(seq, row.seq))
      .run()
  }
}

function slotOf(nth: number): number {
  return (nth % FIRES_PER_HOUR) * SLOT_BYTES
}

function elapsedAt(fires: Buffer, nth: number): number {
  return fires.readDoubleLE(slotOf(nth))
}
