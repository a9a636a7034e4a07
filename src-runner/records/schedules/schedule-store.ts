import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { CreateSchedule, Occurrence, Schedule, ScheduleLastStatus, UpdateSchedule } from '../../contract/schedules.ts'
import type { TerminalStatus } from '../../contract/jobs.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Ids } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import type { MovedJob } from '../jobs/job-deps.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { createSchedule, deleteSchedule, pauseSchedule, requireRow, resumeSchedule, runScheduleNow, updateSchedule } from './changing.ts'
import { decideSchedule, decideSchedules, type Decision } from './deciding.ts'
import { forgetOldOccurrences } from './forgetting.ts'
import { listOccurrences, listSchedules } from './listing.ts'
import type { ScheduleDeps, ScheduleHooks, ScheduleWatcher } from './schedule-deps.ts'
import { findOccurrence, scheduleOf } from './schedule-rows.ts'
import { type SummedSpan, sumUpSchedules } from './summing-up.ts'
import { isPossible, turnBackSome } from './turning-back.ts'
import { listUpcoming } from './upcoming.ts'

export type ScheduleStore = ReturnType<typeof createScheduleStore>

const LAST_STATUS_OF: Record<TerminalStatus, ScheduleLastStatus> = { completed: 'success', failed: 'failed', cancelled: 'cancelled' }

/** One after the other in the order of time; both may grow while they are read. */
const DUE = `SELECT seq, id, next_due_at AS at FROM schedules INDEXED BY schedules_due
  WHERE status <> 'paused' AND next_due_at <= ? AND (next_due_at, seq) > (?, ?) ORDER BY next_due_at, seq LIMIT ?`
const PAUSED_DUE = `SELECT seq, id, next_due_at AS at FROM schedules INDEXED BY schedules_paused_due
  WHERE status = 'paused' AND next_due_at <= ? AND (next_due_at, seq) > (?, ?) ORDER BY next_due_at, seq LIMIT ?`
const TO_RESUME = 'SELECT id FROM schedules WHERE resume_at <= ? ORDER BY resume_at LIMIT 1000'
/** Due times whose way is free: the run before them has ended while nobody heard of it. */
const FREED = `SELECT schedule.id FROM occurrences AS waiting INDEXED BY occurrences_one_due
  CROSS JOIN schedules AS schedule ON schedule.seq = waiting.schedule_seq
  WHERE waiting.state = 'due' AND NOT EXISTS (SELECT 1 FROM agent_jobs AS job INDEXED BY agent_jobs_open_fires WHERE job.schedule_id = schedule.id
  AND job.status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child'))`
const WAITS = "SELECT 1 FROM occurrences WHERE schedule_seq = (SELECT seq FROM schedules WHERE id = ?) AND state = 'due'"
const NEXT_DUE = "SELECT min(next_due_at) AS at FROM schedules INDEXED BY schedules_due WHERE status <> 'paused' AND next_due_at > ?"
const NEXT_RESUME = 'SELECT min(resume_at) AS at FROM schedules INDEXED BY schedules_to_resume WHERE resume_at > ?'

/** A place in the list of what is due. */
export type DuePosition = { at: number; seq: number }

/**
 * Schedules and what becomes of their due times. Functions that write take the transaction they are part of. They know
 * no timer: whoever has one asks `nextAt` when to look, and decides one schedule after the other.
 */
export function createScheduleStore({
  clock,
  money = clock,
  age = clock,
  ids,
  log,
  jobs,
  hooks,
  safeMode = false,
}: {
  clock: Clock
  /** Whose day a budget is for. */
  money?: Pick<Clock, 'now'>
  /** By which the ledger forgets. */
  age?: Pick<Clock, 'now'>
  ids: Ids
  log: Log
  jobs: Pick<JobStore, 'insertAll'>
  hooks?: Partial<ScheduleHooks>
  safeMode?: boolean
}) {
  const watchers = new Set<ScheduleWatcher>()
  const deps: ScheduleDeps = {
    ...{ clock, money, ids, log, jobs, safeMode },
    hooks: { exhausted: (tx, schedule) => hooks?.exhausted?.(tx, schedule) },
    notify: {
      changed: () => watchers.forEach((watcher) => watcher.changed?.()),
      freed: (scheduleId) => watchers.forEach((watcher) => watcher.freed?.(scheduleId)),
    },
    clockSeen: (now) => (latestSeen = Math.max(latestSeen, now)),
  }
  let forgotUpTo = 0
  /** The latest moment of the clock at which something was computed. After a start nobody knows which that was. */
  let latestSeen = Infinity

  const get = (db: Db, scheduleId: string): Schedule =>
    scheduleOf(db, requireRow(db, scheduleId), { now: clock.now(), moneyNow: money.now() })

  return {
    /** Throws AppError schedule_not_found. */
    get,
    list: (db: Db, filter: { agentId?: string; cursor?: string; limit: number }) =>
      listSchedules(db, { ...filter, now: clock.now(), moneyNow: money.now() }),
    /** The ledger of one schedule. Throws AppError schedule_not_found. */
    listOccurrences(db: Db, filter: { scheduleId: string; cursor?: string; limit: number }) {
      const { scheduleId, ...page } = filter
      return listOccurrences(db, { ...page, scheduleSeq: requireRow(db, scheduleId).seq, now: clock.now() })
    },
    /** What came due from `from` on and before `to`, of one schedule or of all, and what became of it. */
    sumUp: (db: Db, span: Omit<SummedSpan, 'to'> & { to?: number | undefined }) =>
      sumUpSchedules(db, { ...span, to: Math.min(span.to ?? Infinity, clock.now() + 1) }),
    listUpcoming: (db: Db, hours: number) =>
      listUpcoming(db, { now: clock.now(), moneyNow: money.now(), until: clock.now() + hours * 3_600_000 }),

    create: (tx: Tx, input: CreateSchedule): Schedule => get(tx, createSchedule(tx, deps, input)),
    update(tx: Tx, scheduleId: string, input: UpdateSchedule): Schedule {
      updateSchedule(tx, deps, scheduleId, input)
      return get(tx, scheduleId)
    },
    pause(tx: Tx, scheduleId: string): Schedule {
      pauseSchedule(tx, deps, scheduleId)
      return get(tx, scheduleId)
    },
    resume(tx: Tx, scheduleId: string): Schedule {
      resumeSchedule(tx, deps, scheduleId)
      return get(tx, scheduleId)
    },
    remove: (tx: Tx, scheduleId: string) => deleteSchedule(tx, deps, scheduleId),
    runNow(tx: Tx, scheduleId: string): { jobId: string; occurrence: Occurrence } {
      const { jobId, occurrenceSeq } = runScheduleNow(tx, deps, scheduleId)
      return { jobId, occurrence: findOccurrence(tx, occurrenceSeq)! }
    },

    /** Decides what has come due of one schedule, `more` telling that there is more of it. Nothing is due: nothing is written. */
    decide: (tx: Tx, scheduleId: string, mostTimes?: number): Decision => decideSchedule(tx, deps, scheduleId, mostTimes),
    /** The same for many, each named once; what is not there is not in the answer. */
    decideAll: (tx: Tx, scheduleIds: readonly string[], mostTimes?: number): Map<string, Decision> =>
      decideSchedules(tx, deps, scheduleIds, mostTimes),
    /** At most `limit` schedules that have something to decide, behind a place in their order. */
    listDue: (db: Db, which: 'running' | 'paused', after: DuePosition, limit: number) =>
      db.prepare<DuePosition & { id: string }>(which === 'paused' ? PAUSED_DUE : DUE).all(clock.now(), after.at, after.seq, limit),
    listToResume: (db: Db) => db.prepare<{ id: string }>(TO_RESUME).all(clock.now()),
    listFreed: (db: Db) => db.prepare<{ id: string }>(FREED).all(),
    /** Due times that wait for the run before them. */
    countWaiting: (db: Db) =>
      db.prepare<{ n: number }>("SELECT count(*) AS n FROM occurrences INDEXED BY occurrences_one_due WHERE state = 'due'").get()!.n,
    /** When there is something to decide next, later than `after`; that may be past. null: never, as things stand. */
    nextAt(db: Db, after = -1): number | null {
      const times = [NEXT_DUE, NEXT_RESUME].flatMap((sql) => db.prepare<{ at: number | null }>(sql).get(after)!.at ?? [])
      return times.length === 0 ? null : Math.min(...times)
    },
    /**
     * The clock shows less than what schedules were computed from, or nobody knows that yet: they are to be turned back. Of a
     * clock that is wrong for certain nothing is computed: until somebody sets it, what is to come waits.
     */
    isClockBehind: () => clock.now() < latestSeen && isPossible(clock.now()),
    /** A bite of the schedules, from the first on with 0. Answers where the next one begins; null: that was the last. */
    turnBackSome: (tx: Tx, afterSeq: number): number | null => turnBackSome(tx, deps, afterSeq),
    /** All of them count from this moment of the clock. */
    turnedBack: (from: number): void => void (latestSeen = from),
    /** A bite of what the ledger keeps no longer. */
    forgetSome(tx: Tx): void {
      forgotUpTo = forgetOldOccurrences(tx, { afterSeq: forgotUpTo, now: age.now() })
    },

    /** A hook of the job store. That its budget is spent stays to be seen when a run ends that was going before. */
    jobEnded(tx: Tx, job: MovedJob): void {
      const { scheduleId } = job
      if (scheduleId === null) return
      tx.prepare(
        "UPDATE schedules SET last_status = ? WHERE id = ? AND NOT (status = 'budget_exhausted' AND last_status IS 'budget_exhausted')",
      ).run(LAST_STATUS_OF[job.status as TerminalStatus], scheduleId)
      const waits = tx.prepare(WAITS).get(scheduleId) !== undefined
      if (waits) tx.afterCommit(() => deps.notify.freed(scheduleId))
    },
    /** A hook of the job store. */
    jobWaits(tx: Tx, { scheduleId, status }: MovedJob): void {
      if (scheduleId === null || status !== 'awaiting_approval') return
      const { changes } = tx
        .prepare("UPDATE schedules SET last_status = 'awaiting_approval' WHERE id = ? AND last_status = 'running'")
        .run(scheduleId)
      if (changes > 0) tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
    },
    /** A run succeeded and there was nowhere to say so. */
    markNotifyUnreachable(tx: Tx, scheduleId: string): void {
      const { changes } = tx.prepare("UPDATE schedules SET last_status = 'notify_unreachable' WHERE id = ?").run(scheduleId)
      if (changes > 0) tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
    },

    /** Calls back after commits. Answers how to stop. */
    watch(watcher: ScheduleWatcher): () => void {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
  }
}
