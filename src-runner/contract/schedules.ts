import { z } from 'zod'
import { JobStatus, Task } from './jobs.ts'
import { Id, Moment, Name, Usd } from './primitives.ts'
import { Message } from './messages.ts'
import { AUTO_ORDER } from './channels.ts'
import { NotifyVia } from './triggers.ts'

/** A schedule with an interval of at most this is a watcher. */
export const WATCHER_MINUTES = 15
/** A run that is active for longer is reported as stuck. It still blocks the next one. */
export const STUCK_AFTER_MS = 2 * 3_600_000
export const MAX_CATCH_UP_HOURS = 24 * 31
/** Characters that an agent may keep from one run of a watcher to the next. */
export const MAX_WATCH_STATE_CHARS = 8_000

/** Five fields. The scheduler checks that they are valid. */
export const CronExpression = z.string().trim().min(1).max(200)
/** An IANA name. */
export const Timezone = z.string().trim().min(1).max(64)
export const DailyBudgetUsd = z.number().min(0.5).max(100)

export const ScheduleLastStatus = z.enum([
  'running',
  'success',
  'failed',
  'cancelled',
  'awaiting_approval',
  'budget_exhausted',
  'notify_unreachable',
])
export type ScheduleLastStatus = z.infer<typeof ScheduleLastStatus>

/**
 * The outcome of a due time. `due`: not decided yet, because the previous run is still active. `paused`: the schedule was
 * paused.
 */
export const OccurrenceState = z.enum(['due', 'ran', 'caught_up', 'skipped_overlap', 'skipped_budget', 'missed', 'paused'])
export type OccurrenceState = z.infer<typeof OccurrenceState>

/** One due time of a schedule, or a run started by hand. */
export const Occurrence = z.object({
  id: Id,
  scheduleId: Id,
  dueAt: Moment,
  origin: z.enum(['clock', 'run_now']),
  state: OccurrenceState,
  /** Why it has this state. */
  reason: Message,
  /** Above 1: the row stands for this many consecutive due times from `dueAt` to `untilAt`. */
  times: z.number().int().positive(),
  untilAt: Moment.nullable(),
  jobId: Id.nullable(),
  jobStatus: JobStatus.nullable(),
  /** The run ended with a no-op result. */
  noOp: z.boolean(),
  costUsd: Usd,
  /** false: at least one call used a model without a known price. */
  priced: z.boolean(),
  decidedAt: Moment.nullable(),
})
export type Occurrence = z.infer<typeof Occurrence>

/** `job.context` of a scheduled run. */
export const RunContext = z.object({
  /** As it was then. */
  schedule: z.object({ id: Id, name: z.string() }),
  dueAt: Moment,
  /** The timezone of the schedule. Absent in old runs. */
  timezone: z.string().optional(),
  origin: Occurrence.shape.origin,
  /** This run makes up for a missed one. */
  caughtUp: z.boolean(),
  lateMs: z.number().int(),
  /** `result`: the beginning of its result. null: this is the first run. */
  previousRun: z.object({ at: Moment, status: JobStatus, result: z.string().nullable() }).nullable(),
})
export type RunContext = z.infer<typeof RunContext>

/** Several channels at once are named in a list. One that is listed twice counts once. */
export const ScheduleNotifyVia = z.union([NotifyVia, z.array(z.enum(AUTO_ORDER)).min(1).max(AUTO_ORDER.length)])
export type ScheduleNotifyVia = z.infer<typeof ScheduleNotifyVia>

export const Schedule = z.object({
  id: Id,
  entityId: Id,
  agentId: Id,
  agentName: z.string(),
  name: z.string(),
  cron: z.string(),
  timezone: z.string(),
  task: z.string(),
  dailyBudgetUsd: Usd,
  /** The oldest missed due time that is caught up. 0: none. */
  catchUpHours: z.number(),
  notifyOnSuccess: z.boolean(),
  notifyVia: ScheduleNotifyVia,
  status: z.enum(['active', 'paused', 'budget_exhausted']),
  lastStatus: ScheduleLastStatus.nullable(),
  /** null while paused. */
  nextDueAt: Moment.nullable(),
  isWatcher: z.boolean(),
  /** Text that the agent keeps from one run to the next. */
  scheduleCursor: z.string().nullable(),
  /** The newest occurrence with a job. */
  lastRun: Occurrence.nullable(),
  /** The unfinished job of a run. */
  liveJobId: Id.nullable(),
  /** Spent by its agent since the schedule's local day began. Compared with `dailyBudgetUsd`. */
  agentSpentTodayUsd: Usd,
  /** The part of it that this schedule's own jobs cost. */
  spentTodayUsd: Usd,
  createdAt: Moment,
  updatedAt: Moment,
})
export type Schedule = z.infer<typeof Schedule>

const scheduleFields = {
  name: Name,
  agentId: Id,
  cron: CronExpression,
  timezone: Timezone,
  task: Task,
  dailyBudgetUsd: DailyBudgetUsd,
  catchUpHours: z.number().min(0).max(MAX_CATCH_UP_HOURS),
  notifyOnSuccess: z.boolean(),
  notifyVia: ScheduleNotifyVia,
}

export const CreateSchedule = z.object({
  ...scheduleFields,
  dailyBudgetUsd: DailyBudgetUsd.default(5),
  catchUpHours: scheduleFields.catchUpHours.default(24),
  notifyOnSuccess: z.boolean().default(false),
  notifyVia: ScheduleNotifyVia.default('auto'),
})
export type CreateSchedule = z.infer<typeof CreateSchedule>

/** A change of `cron` or `timezone` applies from now on and catches up on nothing. */
export const UpdateSchedule = z.object({ ...scheduleFields, scheduleCursor: z.string().max(MAX_WATCH_STATE_CHARS).nullable() }).partial()
export type UpdateSchedule = z.infer<typeof UpdateSchedule>

/** What a cron expression means. */
export const CronPreview = z.object({
  valid: z.boolean(),
  /** What is wrong with it. */
  problem: Message.nullable(),
  /** The next due times, soonest first. */
  next: z.array(Moment),
  isWatcher: z.boolean(),
})
export type CronPreview = z.infer<typeof CronPreview>

/** An expected run. Runs of a watcher are summed up: `times` runs from `dueAt` to `untilAt`. */
export const UpcomingRun = z.object({
  scheduleId: Id,
  name: z.string(),
  agentName: z.string(),
  dueAt: Moment,
  times: z.number().int().positive(),
  untilAt: Moment,
  /** What would currently prevent it. */
  blockedBy: z.enum(['budget', 'overlap', 'pauseAll']).nullable(),
})
export type UpcomingRun = z.infer<typeof UpcomingRun>

/** The number of due times with the same outcome. */
export const OccurrenceSum = Occurrence.pick({ state: true, jobStatus: true, noOp: true, times: true }).extend({
  /** The reason of the newest one. */
  reason: Message,
  lastAt: Moment,
})
export type OccurrenceSum = z.infer<typeof OccurrenceSum>

export const ScheduleSummary = z.object({
  scheduleId: Id,
  name: z.string(),
  agentName: z.string(),
  status: Schedule.shape.status,
  sums: z.array(OccurrenceSum),
  costUsd: Usd,
  /** false: at least one call used a model without a known price. */
  priced: z.boolean(),
})
export type ScheduleSummary = z.infer<typeof ScheduleSummary>
