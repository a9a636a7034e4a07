import { z } from 'zod'
import { JobStatus, Task } from './jobs.ts'
import { Id, Moment, Name, Usd } from './primitives.ts'
import { Message } from './messages.ts'
import { NotifyVia } from './triggers.ts'

/** An interval of so many minutes or less makes a schedule a watcher. */
export const WATCHER_MINUTES = 15
/** A fire that is still going after this is said to be stuck. It blocks the next one all the same. */
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
 * What became of a due time. `due`: not decided yet, because the run before it is still going. `paused`: the schedule was
 * paused then.
 */
export const OccurrenceState = z.enum(['due', 'ran', 'caught_up', 'skipped_overlap', 'skipped_budget', 'missed', 'paused'])
export type OccurrenceState = z.infer<typeof OccurrenceState>

/** One due time of a schedule, or one run that a person asked for. */
export const Occurrence = z.object({
  id: Id,
  scheduleId: Id,
  dueAt: Moment,
  origin: z.enum(['clock', 'run_now']),
  state: OccurrenceState,
  /** Why it became that. */
  reason: Message,
  /** Above 1, this row stands for so many due times in a row, from `dueAt` to `untilAt`, of which nothing else is kept. */
  times: z.number().int().positive(),
  untilAt: Moment.nullable(),
  jobId: Id.nullable(),
  jobStatus: JobStatus.nullable(),
  /** The run ended with nothing new to tell. */
  quiet: z.boolean(),
  costUsd: Usd,
  decidedAt: Moment.nullable(),
})
export type Occurrence = z.infer<typeof Occurrence>

/** What the job of a fire knows of it, in `job.context`. */
export const FireContext = z.object({
  /** As it was then. */
  schedule: z.object({ id: Id, name: z.string() }),
  dueAt: Moment,
  origin: Occurrence.shape.origin,
  /** Its time was missed and this makes up for it. */
  caughtUp: z.boolean(),
  lateMs: z.number().int(),
  /** The run before this one; `result`: the beginning of what it said. null: this is the first. */
  previousRun: z.object({ at: Moment, status: JobStatus, result: z.string().nullable() }).nullable(),
})
export type FireContext = z.infer<typeof FireContext>

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
  /** How old a missed due time may be to be caught up with. 0: never. */
  catchUpHours: z.number(),
  notifyOnSuccess: z.boolean(),
  notifyVia: NotifyVia,
  status: z.enum(['active', 'paused', 'budget_exhausted']),
  lastStatus: ScheduleLastStatus.nullable(),
  /** null while paused. */
  nextDueAt: Moment.nullable(),
  /** Its interval is 15 minutes or less. */
  isWatcher: z.boolean(),
  /** What the agent keeps from one run to the next. */
  scheduleCursor: z.string().nullable(),
  /** The newest occurrence that made a job. */
  lastRun: Occurrence.nullable(),
  /** The job of a fire that has not ended. */
  liveJobId: Id.nullable(),
  /** What its agent spent since its local day began: what the budget is compared with. */
  agentSpentTodayUsd: Usd,
  /** What its own jobs cost since then. */
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
  notifyVia: NotifyVia,
}

export const CreateSchedule = z.object({
  ...scheduleFields,
  dailyBudgetUsd: DailyBudgetUsd.default(5),
  catchUpHours: scheduleFields.catchUpHours.default(24),
  notifyOnSuccess: z.boolean().default(false),
  notifyVia: NotifyVia.default('auto'),
})
export type CreateSchedule = z.infer<typeof CreateSchedule>

/** What is left out stays. A change of cron or timezone counts from now: nothing is caught up with by it. */
export const UpdateSchedule = z.object({ ...scheduleFields, scheduleCursor: z.string().max(MAX_WATCH_STATE_CHARS).nullable() }).partial()
export type UpdateSchedule = z.infer<typeof UpdateSchedule>

/** What a cron expression says, while it is being typed. */
export const CronPreview = z.object({
  valid: z.boolean(),
  /** What is wrong with it; null when nothing is. */
  problem: Message.nullable(),
  /** The next due times, the soonest first. */
  next: z.array(Moment),
  isWatcher: z.boolean(),
})
export type CronPreview = z.infer<typeof CronPreview>

/** A run that is expected. Watchers are summed up: `times` runs from `dueAt` on, the last at `untilAt`. */
export const UpcomingRun = z.object({
  scheduleId: Id,
  name: z.string(),
  agentName: z.string(),
  dueAt: Moment,
  times: z.number().int().positive(),
  untilAt: Moment,
  /** What would keep it from running, as things stand now. */
  blockedBy: z.enum(['budget', 'overlap', 'pauseAll']).nullable(),
})
export type UpcomingRun = z.infer<typeof UpcomingRun>

/** Due times that came to the same. */
export const OccurrenceSum = Occurrence.pick({ state: true, jobStatus: true, quiet: true, times: true }).extend({
  /** Of the newest of them: why they became that. */
  reason: Message,
  lastAt: Moment,
})
export type OccurrenceSum = z.infer<typeof OccurrenceSum>

/** What became of the due times of one schedule within a span of time. */
export const ScheduleSummary = z.object({
  scheduleId: Id,
  name: z.string(),
  agentName: z.string(),
  status: Schedule.shape.status,
  sums: z.array(OccurrenceSum),
  costUsd: Usd,
})
export type ScheduleSummary = z.infer<typeof ScheduleSummary>
