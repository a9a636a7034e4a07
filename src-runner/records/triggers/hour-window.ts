import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { MachineTime } from '../../base/time/machine-time.ts'
import { FIRES_PER_HOUR } from '../../contract/triggers.ts'

/**
 * The limit of a trigger: so many accepted fires within any hour. Hours are measured in the machine's running time. The
 * wall clock counts only over a restart of the machine, where nothing else is left; and then for an hour at most.
 */
const HOUR_MS = 3_600_000

/** The ring has as many places as the limit, so the fire that is overwritten is the one that must be an hour old. */
export const SLOT_OF_NEXT_FIRE = `trigger_count % ${FIRES_PER_HOUR}`

/** How long the next fire has to wait, by the running time of the one whose place it takes. 0: not at all. */
export function waitAfter(elapsedOfOldest: number | null | undefined, time: MachineTime): number {
  if (elapsedOfOldest === null || elapsedOfOldest === undefined) return 0
  return Math.max(0, elapsedOfOldest + HOUR_MS - time.elapsed())
}

/** How long the trigger's next fire has to wait now. */
export function findWait(db: Db, triggerSeq: number, time: MachineTime): number {
  const oldest = db
    .prepare<{ elapsed: number }>(
      `SELECT fire.elapsed FROM webhook_triggers AS t JOIN webhook_fires AS fire ON fire.trigger_seq = t.seq AND fire.slot = t.${SLOT_OF_NEXT_FIRE}
       WHERE t.seq = ?`,
    )
    .get(triggerSeq)
  return waitAfter(oldest?.elapsed, time)
}

/** Counts the fire: `count` is the number of those before it. */
export function recordFire(
  tx: Tx,
  { triggerSeq, count, at, time }: { triggerSeq: number; count: number; at: number; time: MachineTime },
): void {
  tx.prepare('UPDATE webhook_triggers SET trigger_count = trigger_count + 1, last_triggered_at = ? WHERE seq = ?').run(at, triggerSeq)
  tx.prepare('INSERT OR REPLACE INTO webhook_fires (trigger_seq, slot, at, boot, elapsed) VALUES (?, ?, ?, ?, ?)').run(
    triggerSeq,
    count % FIRES_PER_HOUR,
    at,
    time.boot,
    Math.ceil(time.elapsed()),
  )
}

/** Reads on: fires of the last hour of trigger `t`. Takes the parameter of `hourAgo`. */
export const COUNT_FIRES = '(SELECT count(*) FROM webhook_fires AS fire WHERE fire.trigger_seq = t.seq AND fire.elapsed > ?)'

export function hourAgo(time: MachineTime): number {
  return time.elapsed() - HOUR_MS
}

/**
 * For the start: fires of an earlier boot get the running time that they would have in this one. How long ago they were,
 * the wall clock says; a fire of the future, after the clock was set back, was just now. Written down, so that the next
 * start does not let them wait anew.
 */
export function carryOverFires(tx: Tx, { now, time }: { now: number; time: MachineTime }): void {
  const elapsed = Math.ceil(time.elapsed())
  tx.prepare(
    `UPDATE webhook_fires SET boot = ?, at = min(at, ?), elapsed = ? - min(max(? - at, 0), ${HOUR_MS})
     WHERE boot <> ? OR elapsed > ?`,
  ).run(time.boot, now, elapsed, now, time.boot, elapsed)
}
