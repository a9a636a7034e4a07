import type { Message } from '../../contract/messages.ts'
import type { Tx } from '../../platform/db/transact.ts'
import { rowInsert, rowUpdate, writeRows } from '../../platform/db/write-rows.ts'
import type { RecordedEvent } from '../../contract/events.ts'
import type { FireContext, OccurrenceState } from '../../contract/schedules.ts'
import type { JobToMake } from '../jobs/enqueue-job.ts'
import type { ScheduleChange } from './daily-budget.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import type { Waiting } from './schedule-rows.ts'
import { schedules } from './schedules-table.ts'
import type { OccurrenceRow, ScheduleToDecide } from './schedules.sql.ts'

/** Due times that came to nothing together have a row each up to this many; more share one. */
export const MOST_SINGLE_ROWS = 1000

type RunState = Extract<OccurrenceState, 'ran' | 'caught_up'>
type UnrunState = Exclude<OccurrenceState, RunState>

/** A due time that runs, or a run that a person asked for. */
export type Run = {
  schedule: ScheduleToDecide
  dueAt: number
  origin: OccurrenceRow['origin']
  state: RunState
  reason: Message
  /** Its row, if it waited for the run before it. */
  waiting: Waiting | null
}

const OCCURRENCES = rowInsert(
  'occurrences',
  'schedule_seq, due_at, origin, id, state, reason, times, until_at, noted_at, decided_at, job_seq',
  '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?',
)
const DECIDED = rowUpdate('occurrences', 'seq', ['state', 'reason', 'decided_at', 'id', 'job_seq'])

/**
 * What becomes of due times, collected and written together: a statement for each would be most of the time that ten
 * thousand take. A due time that the run history has already is refused by the database.
 */
export function createRunRecords(tx: Tx, { clock, ids, jobs }: Pick<ScheduleDeps, 'clock' | 'ids' | 'jobs'>) {
  const now = clock.now()
  const unrun: unknown[][] = []
  const decided: unknown[][] = []
  const events: RecordedEvent[] = []
  const runs: Run[] = []

  function addUnrun(scheduleSeq: number, times: readonly number[], state: UnrunState, reason: Message): void {
    const decidedAt = state === 'due' ? null : now
    const add = (dueAt: number, count: number, untilAt: number | null) =>
      void unrun.push([scheduleSeq, dueAt, 'clock', ids.next(), state, JSON.stringify(reason), count, untilAt, now, decidedAt, null])
    if (times.length > MOST_SINGLE_ROWS) add(times[0]!, times.length, times.at(-1)!)
    else for (const dueAt of times) add(dueAt, 1, null)
  }

  return {
    addUnrun,
    addRun: (run: Run) => void runs.push(run),
    decideWaiting: ({ seq, id }: Waiting, state: Exclude<UnrunState, 'due'>, reason: Message) =>
      void decided.push([seq, state, JSON.stringify(reason), now, id, null]),
    tell: (event: RecordedEvent) => void events.push(event),
    /** Returns what was made of each run, in their order. */
    write(): { jobId: string; occurrenceSeq: number }[] {
      // The row that waited makes way before the next due time of its schedule waits.
      writeRows(tx, DECIDED, decided)
      writeRows(tx, OCCURRENCES, unrun)
      if (events.length > 0) tx.emitAll(events)
      return runs.length === 0 ? [] : writeRuns()
    },
  }

  function writeRuns(): { jobId: string; occurrenceSeq: number }[] {
    const made = jobs
      .insertAll(
        tx,
        runs.map((run) => jobFor(run, now)),
      )
      .map((job, i) => ({ job, run: runs[i]! }))
    const fresh = made.filter(({ run }) => run.waiting === null)
    const waited = made.filter(({ run }) => run.waiting !== null)
    let nextSeq = writeRows(
      tx,
      OCCURRENCES,
      fresh.map(({ job, run: { schedule, dueAt, origin, state, reason } }) => [
        ...[schedule.seq, dueAt, origin, null, state, JSON.stringify(reason), 1, null, now, now, job.seq],
      ]),
    )
    writeRows(
      tx,
      DECIDED,
      waited.map(({ job, run: { waiting, state, reason } }) => [waiting!.seq, state, JSON.stringify(reason), now, null, job.seq]),
    )
    return made.map(({ job, run }) => ({ jobId: job.id, occurrenceSeq: run.waiting?.seq ?? nextSeq++ }))
  }
}

export type RunRecords = ReturnType<typeof createRunRecords>

/** A due time that waited gives its job the id that it had itself. */
function jobFor({ schedule, dueAt, origin, state, waiting }: Run, now: number): JobToMake {
  const { id: scheduleId, name, agentId, task, previousAt: at, previousStatus: status, previousResult: result } = schedule
  const previousRun = at === null || status === null ? null : { at, status, result }
  const timing = { dueAt, origin, caughtUp: state === 'caught_up', lateMs: Math.max(0, now - dueAt) }
  const context: FireContext = { schedule: { id: scheduleId, name }, ...timing, previousRun }
  return { job: { agentId, channel: 'schedule', task, title: name, scheduleId, context }, id: waiting?.id }
}

/** Writes the columns that changed and no others: each costs the indices that it is in. */
export function saveChanges(tx: Tx, changes: readonly { seq: number; change: ScheduleChange }[]): void {
  for (const alike of Map.groupBy(changes, ({ change }) => Object.keys(change).join()).values()) {
    const keys = Object.keys(alike[0]!.change) as (keyof ScheduleChange)[]
    if (keys.length === 0) continue
    const columns = keys.map((key) => schedules[key].name)
    const rows = alike.map(({ seq, change }) => [seq, ...Object.values(change)])
    writeRows(tx, rowUpdate('schedules', 'seq', columns), rows)
  }
}
