import { getTableColumns } from 'drizzle-orm'
import type { Message } from '../../contract/messages.ts'
import type { Tx } from '../../platform/db/database.ts'
import { rowInsert, rowUpdate, writeRows, type RowOf } from '../../platform/db/write-rows.ts'
import type { RecordedEvent } from '../../contract/events.ts'
import type { OccurrenceState, RunContext } from '../../contract/schedules.ts'
import type { JobToMake } from '../jobs/enqueue-job.ts'
import type { ScheduleChange } from './daily-budget.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import type { Waiting } from './schedule-rows.ts'
import { occurrences, schedules } from './schedules-table.ts'
import type { OccurrenceRow, ScheduleToDecide } from './schedules.sql.ts'

/** More due times than this without a run share one row. */
export const MAX_SINGLE_ROWS = 1000

type RunState = Extract<OccurrenceState, 'ran' | 'caught_up'>
type UnrunState = Exclude<OccurrenceState, RunState>

/** A due time that runs, or a run that a person started. */
export type Run = Pick<OccurrenceRow, 'dueAt' | 'origin' | 'reason'> & {
  schedule: ScheduleToDecide
  state: RunState
  /** Its row, if it waited for the run before it. */
  waiting: Waiting | null
}

const { seq: _seq, ...INSERTED } = getTableColumns(occurrences)
const OCCURRENCES = rowInsert(occurrences, Object.keys(INSERTED) as (keyof typeof INSERTED)[])
const DECIDED = rowUpdate(occurrences, 'seq', ['state', 'reason', 'decidedAt', 'id', 'jobSeq'])

/**
 * Collects what becomes of due times and writes it together, because one statement for each would take most of the time of ten
 * thousand. The database rejects a due time that is already in the run history.
 */
export function createRunRecords(tx: Tx, { clock, ids, jobs }: Pick<ScheduleDeps, 'clock' | 'ids' | 'jobs'>) {
  const now = clock.now()
  const unrun: RowOf<typeof OCCURRENCES>[] = []
  const decided: RowOf<typeof DECIDED>[] = []
  const events: RecordedEvent[] = []
  const runs: Run[] = []

  return {
    addUnrun(scheduleSeq: number, dueTimes: readonly number[], state: UnrunState, reason: Message): void {
      const decidedAt = state === 'due' ? null : now
      const add = (dueAt: number, times: number, untilAt: number | null) =>
        unrun.push({ scheduleSeq, dueAt, origin: 'clock', id: ids.next(), state, reason, times, untilAt, notedAt: now, decidedAt })
      if (dueTimes.length > MAX_SINGLE_ROWS) add(dueTimes[0]!, dueTimes.length, dueTimes.at(-1)!)
      else for (const dueAt of dueTimes) add(dueAt, 1, null)
    },
    addRun: (run: Run) => void runs.push(run),
    decideWaiting: ({ seq, id }: Waiting, state: Exclude<UnrunState, 'due'>, reason: Message) =>
      void decided.push({ seq, state, reason, decidedAt: now, id }),
    addEvent: (event: RecordedEvent) => void events.push(event),
    /** Returns the job and row of each run, in their order. */
    write(): { jobId: string; occurrenceSeq: number }[] {
      // A waiting row is decided before the next due time of its schedule may wait.
      writeRows(tx, DECIDED, decided)
      writeRows(tx, OCCURRENCES, unrun)
      if (events.length > 0) tx.emitAll(events)
      return runs.length === 0 ? [] : writeRuns()
    },
  }

  function writeRuns(): { jobId: string; occurrenceSeq: number }[] {
    const jobsToMake = runs.map((run) => jobFor(run, now))
    const made = jobs.insertAll(tx, jobsToMake).map((job, i) => ({ job, run: runs[i]! }))
    const inserted = made
      .filter(({ run }) => run.waiting === null)
      .map(({ job, run: { schedule, dueAt, origin, state, reason } }) => {
        const row = { scheduleSeq: schedule.seq, dueAt, origin, state, reason }
        return { ...row, times: 1, notedAt: now, decidedAt: now, jobSeq: job.seq }
      })
    const updated = made.flatMap(({ job, run: { waiting, state, reason } }) =>
      waiting === null ? [] : { seq: waiting.seq, state, reason, decidedAt: now, jobSeq: job.seq },
    )
    let nextSeq = writeRows(tx, OCCURRENCES, inserted)
    writeRows(tx, DECIDED, updated)
    return made.map(({ job, run }) => ({ jobId: job.id, occurrenceSeq: run.waiting?.seq ?? nextSeq++ }))
  }
}

export type RunRecords = ReturnType<typeof createRunRecords>

/** The job of a due time that waited gets its id. */
function jobFor({ schedule, dueAt, origin, state, waiting }: Run, now: number): JobToMake {
  const { id: scheduleId, name, agentId, task, timezone, previousAt: at, previousStatus: status, previousResult: result } = schedule
  const previousRun = at === null || status === null ? null : { at, status, result }
  const timing = { dueAt, timezone, origin, caughtUp: state === 'caught_up', lateMs: Math.max(0, now - dueAt) }
  const context: RunContext = { schedule: { id: scheduleId, name }, ...timing, previousRun }
  return { job: { agentId, channel: 'schedule', task, title: name, scheduleId, context }, id: waiting?.id }
}

/** Writes only the changed columns, because each one costs the indexes that contain it. */
export function saveChanges(tx: Tx, changes: readonly { seq: number; change: ScheduleChange }[]): void {
  for (const alike of Map.groupBy(changes, ({ change }) => Object.keys(change).join()).values()) {
    const keys = Object.keys(alike[0]!.change) as (keyof ScheduleChange)[]
    if (keys.length === 0) continue
    const rows = alike.map(({ seq, change }) => ({ seq, ...(change as Required<ScheduleChange>) }))
    writeRows(tx, rowUpdate(schedules, 'seq', keys), rows)
  }
}
