import type { Tx } from '../../base/db/transact.ts'
import { rowInsert, rowUpdate, writeRows } from '../../base/db/write-rows.ts'
import type { RecordedEvent } from '../../contract/events.ts'
import type { OccurrenceState } from '../../contract/schedules.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import type { OccurrenceRow, Waiting } from './schedule-rows.ts'

/** Due times in a row of which nothing else is to be said have a row each up to so many; more share one. */
export const MOST_ROWS_IN_A_ROW = 1000

/** What an occurrence is that made a job. */
export type RunState = Extract<OccurrenceState, 'ran' | 'caught_up'>
type Unrun = Exclude<OccurrenceState, RunState>

const OCCURRENCES = rowInsert(
  'occurrences',
  'schedule_seq, due_at, origin, id, state, reason, noted_at, decided_at, job_seq',
  '?, ?, ?, ?, ?, ?, ?, ?, ?',
)

const DECIDED = rowUpdate('occurrences', 'seq', ['state', 'reason', 'decided_at', 'id', 'job_seq'])

export type NewRun = {
  scheduleSeq: number
  dueAt: number
  origin: OccurrenceRow['origin']
  state: RunState
  reason: string
  jobSeq: number
}

/**
 * Writes occurrences that made a job. Answers the key of the first; those of the others follow it. A due time that the ledger
 * has already is refused by the database.
 */
export function insertRuns(tx: Tx, { clock }: Pick<ScheduleDeps, 'clock'>, runs: readonly NewRun[]): number {
  const now = clock.now()
  return writeRows(
    tx,
    OCCURRENCES,
    runs.map(({ scheduleSeq, dueAt, origin, state, reason, jobSeq }) => [
      scheduleSeq,
      dueAt,
      origin,
      null,
      state,
      reason,
      now,
      now,
      jobSeq,
    ]),
  )
}

export type Notes = ReturnType<typeof createNotes>

/**
 * What deciding many schedules comes to, kept until all of it is written together: a statement for each would be most of the
 * time that ten thousand take.
 */
export function createNotes(tx: Tx, { clock, ids }: Pick<ScheduleDeps, 'clock' | 'ids'>) {
  const now = clock.now()
  let unrun: unknown[][] = []
  let decided: unknown[][] = []
  let events: RecordedEvent[] = []
  return {
    /** Due times that came to nothing, or to nothing yet. */
    addUnrun(scheduleSeq: number, dueTimes: readonly number[], state: Unrun, reason: string): void {
      const decidedAt = state === 'due' ? null : now
      for (const dueAt of dueTimes) unrun.push([scheduleSeq, dueAt, 'clock', ids.next(), state, reason, now, decidedAt, null])
    },
    /** What became of a due time that waited. */
    decide(waiting: Waiting, state: Exclude<Unrun, 'due'>, reason: string): void {
      decided.push([waiting.seq, state, reason, now, waiting.id, null])
    },
    decideRun(waiting: Waiting, state: RunState, reason: string, jobSeq: number): void {
      decided.push([waiting.seq, state, reason, now, null, jobSeq])
    },
    tell(event: RecordedEvent): void {
      events.push(event)
    },
    /** What waited makes way before the next due time of its schedule waits. */
    write(): void {
      writeRows(tx, DECIDED, decided)
      writeRows(tx, OCCURRENCES, unrun)
      if (events.length > 0) tx.emitAll(events)
      unrun = []
      decided = []
      events = []
    },
  }
}

/** The newest due times of a schedule before these, as long as they came to the same. */
const TAIL = `
  SELECT ifnull(sum(times), 0) AS times, min(due_at) AS first_at FROM occurrences
  WHERE schedule_seq = @seq AND origin = 'clock' AND due_at < @before AND due_at > ifnull(
    (SELECT due_at FROM occurrences
      WHERE schedule_seq = @seq AND origin = 'clock' AND due_at < @before AND state <> @state ORDER BY due_at DESC LIMIT 1), -1)`

/**
 * Notes that nothing came of these due times, the oldest first, between which the ledger has none. A watcher that was off for
 * a year missed half a million: when there are more in a row than anybody reads one by one (`more` tells that others follow),
 * all share one row.
 */
export function noteTimes(
  tx: Tx,
  notes: Notes,
  { clock }: Pick<ScheduleDeps, 'clock'>,
  scheduleSeq: number,
  { times, state, reason, more }: { times: readonly number[]; state: 'missed' | 'paused'; reason: string; more: boolean },
): void {
  const before = times[0]
  if (before === undefined) return
  const tail = tx.prepare<{ times: number; first_at: number | null }>(TAIL).get({ seq: scheduleSeq, before, state })!
  const total = tail.times + times.length
  if (total + (more ? 1 : 0) <= MOST_ROWS_IN_A_ROW) {
    notes.addUnrun(scheduleSeq, times, state, reason)
    return
  }
  const firstAt = tail.first_at ?? before
  if (tail.first_at === null) notes.addUnrun(scheduleSeq, [firstAt], state, reason)
  notes.write()
  tx.prepare("DELETE FROM occurrences WHERE schedule_seq = ? AND origin = 'clock' AND due_at > ? AND due_at < ?").run(
    scheduleSeq,
    firstAt,
    before,
  )
  if (total === 1) return
  tx.prepare("UPDATE occurrences SET times = ?, until_at = ?, noted_at = ? WHERE schedule_seq = ? AND due_at = ? AND origin = 'clock'").run(
    total,
    times.at(-1)!,
    clock.now(),
    scheduleSeq,
    firstAt,
  )
}
