import { and, eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { CreateSchedule, Occurrence, Schedule, ScheduleLastStatus, UpdateSchedule } from '../../contract/schedules.ts'
import type { TerminalStatus } from '../../contract/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import type { MovedJob } from '../jobs/job-deps.ts'
import {
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  requireRow,
  resumeSchedule,
  runScheduleNow,
  updateSchedule,
} from './change-schedule.ts'
import { followClockBack as followBack, isPossibleDate } from './clock-changes.ts'
import { decideSchedules, type Decision } from './decide-due.ts'
import { pruneRunHistory } from './prune-run-history.ts'
import { listOccurrences, listSchedules, type ScheduleFilter } from './list-run-history.ts'
import type { ScheduleDeps, ScheduleHooks } from './schedule-deps.ts'
import { findOccurrence, scheduleOf } from './schedule-rows.ts'
import { schedules } from './schedules-table.ts'
import { listWaiting, findNextTime, listDue, listFreed, listToResume, type DuePosition } from './schedules.sql.ts'
import { type SummedSpan, sumUpSchedules } from './summarize-runs.ts'
import { listUpcoming } from './upcoming-runs.ts'

export type ScheduleStore = ReturnType<typeof createScheduleStore>

const LAST_STATUS_OF: Record<TerminalStatus, ScheduleLastStatus> = { completed: 'success', failed: 'failed', cancelled: 'cancelled' }
/** How a run ended does not hide that the budget is spent. */
const MAY_REPLACE_LAST_STATUS = sql`NOT (status = 'budget_exhausted' AND last_status IS 'budget_exhausted')`

/**
 * Schedules and their run history. Functions that write take the transaction they are part of. There is no timer here: the
 * scheduler asks `nextAt` when to decide.
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
}: Pick<ScheduleDeps, 'clock' | 'ids' | 'log' | 'jobs'> &
  Partial<Pick<ScheduleDeps, 'money' | 'safeMode'>> & {
    /** The clock by which the run history is pruned. */
    age?: Pick<Clock, 'now'>
    hooks?: Partial<ScheduleHooks>
  }) {
  const watchers = new Set<() => void>()
  const deps: ScheduleDeps = {
    clock,
    money,
    ids,
    log,
    jobs,
    safeMode,
    hooks: { exhausted: (tx, schedule) => hooks?.exhausted?.(tx, schedule) },
    changed: () => watchers.forEach((watcher) => watcher()),
    clockSeen: (now) => (latestSeen = Math.max(latestSeen, now)),
  }
  let prunedUpTo = 0
  /** The latest wall clock time at which something was decided. Unknown after a start. */
  let latestSeen = Infinity
  const isClockBehind = () => clock.now() < latestSeen && isPossibleDate(clock.now())
  const followClockBack = (tx: Tx) => {
    const now = clock.now()
    followBack(tx, deps)
    tx.afterCommit(() => (latestSeen = now))
  }

  const get = (db: Db, scheduleId: string): Schedule =>
    scheduleOf(db, requireRow(db, scheduleId), { now: clock.now(), moneyNow: money.now() })

  return {
    /** Throws AppError schedule_not_found. */
    get,
    list: (db: Db, filter: ScheduleFilter) => listSchedules(db, { ...filter, now: clock.now(), moneyNow: money.now() }),
    /** The run history of one schedule. Throws AppError schedule_not_found. */
    listOccurrences(db: Db, filter: { scheduleId: string; cursor?: string; limit: number }) {
      const { scheduleId, ...page } = filter
      return listOccurrences(db, { ...page, scheduleSeq: requireRow(db, scheduleId).seq, now: clock.now() })
    },
    /** Sums over the due times from `from` to before `to`, of one schedule or of all. */
    sumUp: (db: Db, span: Omit<SummedSpan, 'to'> & { to?: number | undefined }) =>
      sumUpSchedules(db, { ...span, to: Math.min(span.to ?? Infinity, clock.now() + 1) }),
    listUpcoming: (db: Db, hours: number, entityId?: string) =>
      listUpcoming(db, { now: clock.now(), moneyNow: money.now(), until: clock.now() + hours * 3_600_000, entityId }),

    create: (tx: Tx, input: CreateSchedule): Schedule => get(tx, createSchedule(tx, deps, input)),
    update(tx: Tx, scheduleId: string, input: UpdateSchedule): Schedule {
      if (isClockBehind()) followClockBack(tx)
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

    /** Decides all due times of these schedules that have come. Each id is given once. */
    decide: (tx: Tx, scheduleIds: readonly string[]): Map<string, Decision> => decideSchedules(tx, deps, scheduleIds),
    /** At most `limit` schedules with something to decide, after a position. */
    listDue: (db: Db, which: 'running' | 'paused', after: DuePosition, limit: number) => listDue(db, which, clock.now(), after, limit),
    listToResume: (db: Db) => listToResume(db, clock.now()),
    listFreed,
    listWaiting,
    nextAt: (db: Db, after = -1): number | null => findNextTime(db, after),
    /** Whether `followClockBack` is to be called before anything is decided. */
    isClockBehind,
    followClockBack,
    /** Deletes one batch of what the run history no longer keeps. */
    prune(tx: Tx): void {
      prunedUpTo = pruneRunHistory(tx, { afterSeq: prunedUpTo, now: age.now() })
    },

    /** A hook of the job store. */
    jobEnded(tx: Tx, job: MovedJob): void {
      const { scheduleId } = job
      if (scheduleId === null) return
      tx.update(schedules)
        .set({ lastStatus: LAST_STATUS_OF[job.status as TerminalStatus] })
        .where(and(eq(schedules.id, scheduleId), MAY_REPLACE_LAST_STATUS))
        .run()
      tx.afterCommit(deps.changed)
    },
    /** A hook of the job store. */
    jobWaits(tx: Tx, { scheduleId, status }: MovedJob): void {
      if (scheduleId === null || status !== 'awaiting_approval') return
      const { changes } = tx
        .update(schedules)
        .set({ lastStatus: 'awaiting_approval' })
        .where(and(eq(schedules.id, scheduleId), eq(schedules.lastStatus, 'running')))
        .run()
      if (changes > 0) tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
    },
    /** A run succeeded, but its owner has no address for the confirmation. */
    markNotifyUnreachable(tx: Tx, scheduleId: string): void {
      const { changes } = tx
        .update(schedules)
        .set({ lastStatus: 'notify_unreachable' })
        .where(and(eq(schedules.id, scheduleId), MAY_REPLACE_LAST_STATUS))
        .run()
      if (changes > 0) tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
    },

    /** Calls back after commits that may change what is to be decided next. Returns a function that stops this. */
    watch(watcher: () => void): () => void {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
  }
}
