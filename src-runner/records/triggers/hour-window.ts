import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { MachineTime } from '../../base/time/machine-time.ts'
import { FIRES_PER_HOUR } from '../../contract/triggers.ts'

/**
 * The limit of a trigger: so many accepted fires within any hour. Hours are measured in the machine's running time, which
 * no setting of the clock changes. The wall clock counts only over a restart of the machine, where nothing else is left;
 * and then for an hour at most.
 *
 * The running times of the last fires stand in the trigger's row as a ring with as many places as the limit, eight bytes
 * each: fire n has place n % 30. So the next fire takes the place of the one that must be an hour old by then.
 */
const HOUR_MS = 3_600_000
const BYTES_EACH = 8
const RING_BYTES = FIRES_PER_HOUR * BYTES_EACH

/** What a row keeps of it; null: it never fired. */
export type FiresRow = { trigger_count: number; fires: Buffer | null }
type Fired = FiresRow & { fires: Buffer }

/** How long the next fire has to wait. 0: not at all. */
export function waitOf(row: FiresRow, time: MachineTime): number {
  return Math.max(0, opensAt(row) - time.elapsed())
}

/** From when on the next fire gets in, by the running time. 0: at any time. */
export function opensAt({ trigger_count, fires }: FiresRow): number {
  return fires === null || trigger_count < FIRES_PER_HOUR ? 0 : elapsedAt(fires, trigger_count) + HOUR_MS
}

export function findOpening(db: Db, triggerSeq: number): number {
  const row = db.prepare<FiresRow>('SELECT trigger_count, fires FROM webhook_triggers WHERE seq = ?').get(triggerSeq)
  return row === undefined ? 0 : opensAt(row)
}

/** How many more fires there may be now. */
export function countRoom(db: Db, triggerSeq: number, time: MachineTime): number {
  const row = db.prepare<FiresRow>('SELECT trigger_count, fires FROM webhook_triggers WHERE seq = ?').get(triggerSeq)
  return FIRES_PER_HOUR - (row === undefined ? 0 : countThisHour(row, time))
}

export function countThisHour({ trigger_count, fires }: FiresRow, time: MachineTime): number {
  if (fires === null) return 0
  const hourAgo = time.elapsed() - HOUR_MS
  let count = 0
  for (let place = 0; place < Math.min(trigger_count, FIRES_PER_HOUR); place++) if (elapsedAt(fires, place) > hourAgo) count++
  return count
}

/** The trigger after a fire that is now. */
export function addFire({ trigger_count, fires: before }: FiresRow, time: MachineTime): Fired {
  const fires = before ?? Buffer.alloc(RING_BYTES)
  fires.writeDoubleLE(time.elapsed(), placeOf(trigger_count))
  return { trigger_count: trigger_count + 1, fires }
}

/** Writes down what a trigger is after its last fire, which was `at` and made this job. */
export function recordFires(
  tx: Tx,
  { seq, fired, at, jobSeq, time }: { seq: number; fired: Fired; at: number; jobSeq: number; time: MachineTime },
): void {
  tx.prepare(
    `UPDATE webhook_triggers SET trigger_count = ?, last_triggered_at = ?, newest_job_seq = ?, fires = ?, fires_boot = ?, fires_gap = ?
     WHERE seq = ?`,
  ).run(fired.trigger_count, at, jobSeq, fired.fires, time.boot, at - elapsedAt(fired.fires, fired.trigger_count - 1), seq)
}

type CarriedRow = FiresRow & { seq: number; fires_boot: string; fires_gap: number }

/**
 * For the start: fires of an earlier boot get the running times that they would have in this one. How long ago they were,
 * the wall clock says; a fire of the future, after the clock was set back, was just now. Written down, so that the next
 * start does not let them wait anew.
 */
export function carryOverFires(tx: Tx, { now, time }: { now: number; time: MachineTime }): void {
  const elapsed = time.elapsed()
  const rows = tx.prepare<CarriedRow>(
    'SELECT seq, trigger_count, fires, fires_boot, fires_gap FROM webhook_triggers WHERE fires IS NOT NULL',
  )
  const update = tx.prepare('UPDATE webhook_triggers SET fires = ?, fires_boot = ?, fires_gap = ? WHERE seq = ?')
  for (const { seq, trigger_count, fires, fires_boot, fires_gap } of rows.all()) {
    if (fires === null) continue
    // A container that was started again has the boot of its machine and a running time of its own.
    if (fires_boot === time.boot && elapsedAt(fires, trigger_count - 1) <= elapsed) continue
    for (let place = 0; place < Math.min(trigger_count, FIRES_PER_HOUR); place++) {
      const age = now - (elapsedAt(fires, place) + fires_gap)
      fires.writeDoubleLE(elapsed - Math.min(Math.max(age, 0), HOUR_MS), placeOf(place))
    }
    update.run(fires, time.boot, now - elapsed, seq)
  }
}

function placeOf(fire: number): number {
  return (fire % FIRES_PER_HOUR) * BYTES_EACH
}

function elapsedAt(fires: Buffer, fire: number): number {
  return fires.readDoubleLE(placeOf(fire))
}
