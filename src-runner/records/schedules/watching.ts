import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Job, TerminalStatus } from '../../contract/jobs.ts'
import type { Brings } from '../../contract/rules.ts'

/** A run that has ended, as the next one is told of it. */
export type PreviousRun = {
  jobId: string
  startedAt: number
  status: TerminalStatus
  quiet: boolean
  error: string | null
  result: string | null
}

/** What a job was told of the runs before it. */
export type JobWatch = { previousJobId: string | null; state: string | null; brings: readonly Brings[] }

type RunRow = {
  seq: number
  id: string
  created_at: number
  status: TerminalStatus
  quiet: number
  error: string | null
  result: string | null
}

const SELECT_RUN = `SELECT job.seq, job.id, job.created_at, job.status, job.quiet, job.error, texts.result
  FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq`

/**
 * The run of the same schedule before this one. A retry of a run is a run too. One that a clock made which was ahead is later
 * than this one by its date, and was before it.
 */
export function findRunBefore(db: Db, { id, scheduleId }: Pick<Job, 'id' | 'scheduleId'>): PreviousRun | null {
  const job = db.prepare<{ seq: number; created_at: number }>('SELECT seq, created_at FROM agent_jobs WHERE id = ?').get(id)
  if (job === undefined) return null
  const newest = (dated: '<=' | '>') =>
    db
      .prepare<RunRow>(
        `${SELECT_RUN} WHERE job.schedule_id = ? AND job.finished_at IS NOT NULL AND job.created_at ${dated} ? AND job.seq < ?
         ORDER BY job.created_at DESC, job.seq DESC LIMIT 1`,
      )
      .get(scheduleId, job.created_at, job.seq)
  const [row, ahead] = [newest('<='), newest('>')]
  const before = row === undefined || (ahead !== undefined && ahead.seq > row.seq) ? ahead : row
  return before === undefined ? null : runOf(before)
}

export function findRun(db: Db, jobId: string): PreviousRun | null {
  const row = db.prepare<RunRow>(`${SELECT_RUN} WHERE job.id = ?`).get(jobId)
  return row === undefined ? null : runOf(row)
}

/** null: no agent has kept anything, or the schedule is gone. */
export function findWatchState(db: Db, scheduleId: string): { state: string; brings: Brings[] } | null {
  const row = db
    .prepare<{ watch_state: string | null; watch_brings: string | null }>('SELECT watch_state, watch_brings FROM schedules WHERE id = ?')
    .get(scheduleId)
  return row?.watch_state == null ? null : { state: row.watch_state, brings: bringsOf(row.watch_brings) }
}

/** In place of what was kept before. false: there is no such schedule any more. */
export function keepWatchState(tx: Tx, scheduleId: string, state: string, brings: readonly Brings[]): boolean {
  const { changes } = tx
    .prepare('UPDATE schedules SET watch_state = ?, watch_brings = ? WHERE id = ?')
    .run(state, textOf(brings), scheduleId)
  if (changes > 0) tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
  return changes > 0
}

export function findJobWatch(db: Db, jobId: string): JobWatch | null {
  const row = db
    .prepare<{
      previous_job_id: string | null
      state: string | null
      brings: string | null
    }>('SELECT previous_job_id, state, brings FROM job_watches WHERE job_id = ?')
    .get(jobId)
  return row === undefined ? null : { previousJobId: row.previous_job_id, state: row.state, brings: bringsOf(row.brings) }
}

export function recordJobWatch(tx: Tx, jobId: string, { previousJobId, state, brings }: JobWatch): void {
  tx.prepare('INSERT INTO job_watches (job_id, previous_job_id, state, brings) VALUES (?, ?, ?, ?)').run(
    jobId,
    previousJobId,
    state,
    textOf(brings),
  )
}

/** What came into the job with what it was told. */
export function readWatchBrings(db: Db, jobId: string): readonly Brings[] {
  return findJobWatch(db, jobId)?.brings ?? []
}

function runOf({ id, created_at: startedAt, status, quiet, error, result }: RunRow): PreviousRun {
  return { jobId: id, startedAt, status, quiet: quiet === 1, error, result }
}

function bringsOf(text: string | null): Brings[] {
  return (text?.split(',') ?? []) as Brings[]
}

function textOf(brings: readonly Brings[]): string | null {
  return brings.length === 0 ? null : (['private', 'untrusted'] as const).filter((mark) => brings.includes(mark)).join(',')
}
