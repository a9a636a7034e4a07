import type { Tx } from '../../base/db/transact.ts'
import type { FireContext, Occurrence } from '../../contract/schedules.ts'
import type { JobToMake } from '../jobs/enqueueing.ts'
import { createNotes, insertRuns, type RunState } from './noting.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import type { ScheduleToDecide, Waiting } from './schedule-rows.ts'

/** A due time that is to run, or a run that a person asked for. */
export type Fire = {
  schedule: ScheduleToDecide
  dueAt: number
  origin: Occurrence['origin']
  state: RunState
  reason: string
  /** It stands in the ledger already and waited for the run before it. */
  waiting: Waiting | null
}

/** Makes the jobs and writes them into the ledger, many at once. Answers what was made of each, in their order. */
export function fireSchedules(
  tx: Tx,
  deps: Pick<ScheduleDeps, 'clock' | 'ids' | 'jobs'>,
  fires: readonly Fire[],
): { jobId: string; occurrenceSeq: number }[] {
  if (fires.length === 0) return []
  const now = deps.clock.now()
  const jobs = deps.jobs.insertAll(
    tx,
    fires.map((fire) => jobFor(fire, now)),
  )
  const fresh = fires.flatMap(({ schedule: { seq: scheduleSeq }, dueAt, origin, state, reason, waiting }, i) =>
    waiting === null ? { scheduleSeq, dueAt, origin, state, reason, jobSeq: jobs[i]!.seq } : [],
  )
  let nextSeq = insertRuns(tx, deps, fresh)
  const notes = createNotes(tx, deps)
  const made = fires.map(({ waiting, state, reason }, i) => {
    const { id: jobId, seq: jobSeq } = jobs[i]!
    if (waiting === null) return { jobId, occurrenceSeq: nextSeq++ }
    notes.decideRun(waiting, state, reason, jobSeq)
    return { jobId, occurrenceSeq: waiting.seq }
  })
  notes.write()
  return made
}

/** It has the id of its occurrence. */
function jobFor({ schedule, dueAt, origin, state, waiting }: Fire, now: number): JobToMake {
  const { id: scheduleId, name, agent_id: agentId, task, previous_at: at, previous_status: status, previous_result: result } = schedule
  const caughtUp = state === 'caught_up'
  const lateMs = Math.max(0, now - dueAt)
  const previousRun = at === null || status === null ? null : { at, status, result }
  const context: FireContext = { schedule: { id: scheduleId, name }, dueAt, origin, caughtUp, lateMs, previousRun }
  return {
    job: { agentId, channel: 'schedule', task, title: name, scheduleId, context },
    id: waiting?.id,
  }
}
