import { Message } from '../../contract/messages.ts'
import { index, integer, text, uniqueIndex, sqliteTable } from 'drizzle-orm/sqlite-core'
import { count, flag, json, usd, moment, oneOf, checks, idOf, seqOf, indexWhere, uniqueWhere } from '../../platform/db/column-types.ts'
import { OccurrenceState, ScheduleLastStatus } from '../../contract/schedules.ts'
import { agents } from '../agents/agents-table.ts'
import { entities } from '../entities/entities-table.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { STORED_VIA } from './notify-via.ts'

export const schedules = sqliteTable(
  'schedules',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    entityId: idOf('entity_id', () => entities.id),
    agentId: idOf('agent_id', () => agents.id),
    name: text('name').notNull(),
    cron: text('cron').notNull(),
    timezone: text('timezone').notNull(),
    task: text('task').notNull(),
    dailyBudgetUsd: usd('daily_budget_micros').notNull(),
    // How late a missed run may still start. 0: never.
    catchUpMs: count('catch_up_ms').notNull(),
    notifyOnSuccess: flag('notify_on_success').notNull(),
    notifyVia: oneOf('notify_via', STORED_VIA).notNull(),
    status: oneOf('status', ['active', 'paused', 'budget_exhausted']).notNull(),
    lastStatus: oneOf('last_status', ScheduleLastStatus.options),
    // The first due time that is not in the run history. null: there is none.
    nextDueAt: moment('next_due_at'),
    // The start of the local day with a new budget.
    resumeAt: moment('resume_at'),
    // The owner is notified once for each local day.
    exhaustedNotifiedAt: moment('exhausted_notified_at'),
    cursor: text('cursor'),
    // Taints of the job that stored the cursor. A cursor that a person wrote has none.
    cursorTaints: oneOf('cursor_taints', ['private', 'untrusted', 'private,untrusted']),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    lastRunSeq: integer('last_run_seq'),
  },
  (t) => [
    ...checks(t, 'daily_budget_micros BETWEEN 500000 AND 100000000', "(status = 'budget_exhausted') = (resume_at IS NOT NULL)"),
    index('schedules_by_agent').on(t.agentId),
    indexWhere('schedules_due', [t.nextDueAt], "status <> 'paused' AND next_due_at IS NOT NULL"),
    indexWhere('schedules_paused_due', [t.nextDueAt], "status = 'paused' AND next_due_at IS NOT NULL"),
    indexWhere('schedules_to_resume', [t.resumeAt], 'resume_at IS NOT NULL'),
  ],
)

export const jobCursors = sqliteTable(
  'job_cursors',
  {
    jobId: text('job_id')
      .primaryKey()
      .references(() => jobs.id, { onDelete: 'cascade' }),
    previousJobId: text('previous_job_id'),
    cursor: text('cursor'),
    // Taints that the cursor added to the job.
    addsTaint: oneOf('adds_taint', ['private', 'untrusted', 'private,untrusted']),
  },
  (t) => [...checks(t)],
)

export const occurrences = sqliteTable(
  'occurrences',
  {
    seq: integer('seq').primaryKey(),
    scheduleSeq: seqOf('schedule_seq', () => schedules.seq, { onDelete: 'cascade' }),
    dueAt: moment('due_at').notNull(),
    origin: oneOf('origin', ['clock', 'run_now']).notNull(),
    // Only for a run that made no job. Others have the id of their job.
    id: text('id'),
    state: oneOf('state', OccurrenceState.options).notNull(),
    reason: json('reason', Message).notNull(),
    // More than one: the row stands for that many due times, from due_at to until_at.
    times: integer('times').notNull().default(1),
    untilAt: moment('until_at'),
    notedAt: moment('noted_at').notNull(),
    decidedAt: moment('decided_at'),
    jobSeq: integer('job_seq').references(() => jobs.seq),
  },
  (t) => [
    ...checks(
      t,
      'times > 0',
      "(state IN ('ran', 'caught_up')) = (job_seq IS NOT NULL)",
      '(job_seq IS NULL) = (id IS NOT NULL)',
      "(state = 'due') = (decided_at IS NULL)",
      '(times > 1) = (until_at IS NOT NULL)',
      'until_at IS NULL OR until_at > due_at',
      "times = 1 OR state IN ('missed', 'paused')",
      "origin = 'clock' OR state = 'ran'",
    ),
    uniqueIndex('occurrences_one_per_due_time').on(t.scheduleSeq, t.dueAt, t.origin),
    indexWhere('occurrences_by_job', [t.jobSeq], 'job_seq IS NOT NULL'),
    indexWhere('occurrences_missed', [t.decidedAt], "state = 'missed'"),
    uniqueWhere('occurrences_one_due', [t.scheduleSeq], "state = 'due'"),
  ],
)
