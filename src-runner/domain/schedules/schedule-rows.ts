import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Occurrence, Schedule, ScheduleLastStatus } from '../../contract/schedules.ts'
import { toMicros, toUsd } from '../../lib/micros.ts'
import { isTimezone, localDayStart, nextLocalDayStart } from '../../lib/zone-offsets.ts'
import { agents } from '../agents/agents-table.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { readAgentSpend } from '../spend/agent-spend.ts'
import { isWatcher, nextDueAfter } from './due-times.ts'
import { occurrences, schedules } from './schedules-table.ts'
import { findLiveJob, readOwnSpend, type LiveJob, type OccurrenceRow, type ScheduleRow, type ScheduleToDecide } from './schedules.sql.ts'
import { readVia } from './notify-via.ts'

/** A due time that waits for the run before it. Its job will get its id. */
export type Waiting = Pick<OccurrenceRow, 'seq' | 'dueAt' | 'notedAt'> & { id: string }

export function findRow(db: Db, scheduleId: string): ScheduleRow | null {
  return BY_ID(db).get({ scheduleId }) ?? null
}

const BY_ID = prepareOnce((db: Db) =>
  db
    .select()
    .from(schedules)
    .where(eq(schedules.id, sql.placeholder('scheduleId'))),
)

export function findWaiting(db: Db, scheduleSeq: number): Waiting | null {
  const { seq, dueAt, notedAt, id } = occurrences
  const row = db
    .select({ seq, dueAt, notedAt, id: sql<string>`${id}` })
    .from(occurrences)
    .where(and(eq(occurrences.scheduleSeq, scheduleSeq), sql`state = 'due'`))
    .get()
  return row ?? null
}

export function liveOf({ liveStatus, liveWorkingMs }: ScheduleToDecide): LiveJob | null {
  return liveStatus === null ? null : { status: liveStatus, workingMs: liveWorkingMs! }
}

export function waitingOf({ waitingSeq, waitingId, waitingDueAt, waitingNotedAt }: ScheduleToDecide): Waiting | null {
  return waitingSeq === null ? null : { seq: waitingSeq, id: waitingId!, dueAt: waitingDueAt!, notedAt: waitingNotedAt! }
}

export function selectOccurrences(db: Db) {
  return db
    .select({
      ...getTableColumns(occurrences),
      scheduleId: schedules.id,
      jobId: jobs.id,
      jobStatus: jobs.status,
      noOp: jobs.noOp,
      costUsd: jobs.costUsd,
      childrenCostUsd: jobs.childrenCostUsd,
      unpricedCalls: jobs.unpricedCalls,
    })
    .from(occurrences)
    .innerJoin(schedules, eq(schedules.seq, occurrences.scheduleSeq))
    .leftJoin(jobs, eq(jobs.seq, occurrences.jobSeq))
}

export function findOccurrence(db: Db, occurrenceSeq: number): Occurrence | null {
  const row = selectOccurrences(db).where(eq(occurrences.seq, occurrenceSeq)).get()
  return row === undefined ? null : occurrenceOf(row)
}

type OccurrenceWithJob = NonNullable<ReturnType<ReturnType<typeof selectOccurrences>['get']>>

export function occurrenceOf(row: OccurrenceWithJob): Occurrence {
  const { scheduleId, dueAt, origin, state, reason, times, untilAt, jobId, jobStatus, decidedAt } = row
  return {
    scheduleId,
    dueAt,
    origin,
    state,
    reason,
    times,
    untilAt,
    jobId,
    jobStatus,
    decidedAt,
    id: row.id ?? jobId!,
    noOp: row.noOp ?? false,
    costUsd: toUsd(toMicros(row.costUsd ?? 0) + toMicros(row.childrenCostUsd ?? 0)),
    priced: (row.unpricedCalls ?? 0) === 0,
  }
}

const AGENT_NAME = prepareOnce((db: Db) =>
  db
    .select({ name: agents.name })
    .from(agents)
    .where(eq(agents.id, sql.placeholder('agentId'))),
)

/** A schedule as it is shown. `moneyNow`: the trusted time, whose day the budget is for. */
export function scheduleOf(db: Db, row: ScheduleRow, { now, moneyNow }: { now: number; moneyNow: number }): Schedule {
  const { id, entityId, agentId, name, cron, timezone, task, dailyBudgetUsd, notifyOnSuccess, notifyVia, status, createdAt, updatedAt } =
    row
  // A system update may have removed a time zone. The schedule is still shown, so that it can get another one.
  const isReadable = isTimezone(timezone)
  const zone = isReadable ? timezone : 'UTC'
  const day = { since: localDayStart(moneyNow, zone), until: nextLocalDayStart(moneyNow, zone) }
  const live = findLiveJob(db, id)
  return {
    id,
    entityId,
    agentId,
    name,
    cron,
    timezone,
    task,
    dailyBudgetUsd,
    notifyOnSuccess,
    status,
    createdAt,
    updatedAt,
    notifyVia: readVia(notifyVia),
    agentName: AGENT_NAME(db).get({ agentId })!.name,
    catchUpHours: row.catchUpMs / 3_600_000,
    lastStatus: lastStatusOf(row, live),
    nextDueAt: isReadable ? nextDueOf(row, now) : null,
    isWatcher: isWatcher(cron, timezone),
    scheduleCursor: row.cursor,
    lastRun: row.lastRunSeq === null ? null : findOccurrence(db, row.lastRunSeq),
    liveJobId: live?.id ?? null,
    agentSpentTodayUsd: toUsd(readAgentSpend(db, agentId, day.since, day.until)),
    spentTodayUsd: toUsd(readOwnSpend(db, { scheduleId: id, agentId, ...day })),
  }
}

/** A run that continues after waiting does not update its schedule, so its state is read from the job. */
function lastStatusOf({ lastStatus }: ScheduleRow, live: LiveJob | null): ScheduleLastStatus | null {
  const isAboutLiveJob = lastStatus === 'running' || lastStatus === 'awaiting_approval'
  if (live === null || !isAboutLiveJob) return lastStatus
  return live.status === 'awaiting_approval' ? 'awaiting_approval' : 'running'
}

/** Skips a due time that has passed and is not decided yet. */
function nextDueOf({ status, nextDueAt, cron, timezone }: ScheduleRow, now: number): number | null {
  if (status === 'paused' || nextDueAt === null) return null
  return nextDueAt > now ? nextDueAt : nextDueAfter(cron, timezone, now)
}
