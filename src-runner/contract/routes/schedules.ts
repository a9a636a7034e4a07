import { UnpricedModels } from '../providers.ts'
import { z } from 'zod'
import { Id, Moment, NextCursor, PageQuery, Usd } from '../primitives.ts'
import {
  CreateSchedule,
  CronPreview,
  Occurrence,
  OccurrenceSum,
  Schedule,
  ScheduleSummary,
  UpcomingRun,
  UpdateSchedule,
} from '../schedules.ts'
import { del, get, Nothing, patch, post } from './route.ts'

const scheduleParams = z.object({ scheduleId: Id })

export const scheduleRoutes = {
  listSchedules: get('/api/schedules', {
    reach: 'workspace',
    summary: 'Schedules, newest first.',
    query: PageQuery.extend({ agentId: Id.optional() }),
    answer: z.object({ schedules: z.array(Schedule), nextCursor: NextCursor }),
    shows: ['schedules', 'schedule', 'spend'],
  }),
  createSchedule: post('/api/schedules', {
    reach: 'workspace',
    summary: 'Create a schedule. The first due time is the next one from now.',
    body: CreateSchedule,
    status: 201,
    answer: z.object({ schedule: Schedule, unpricedModels: UnpricedModels }),
    errors: ['agent_not_found'],
  }),
  previewCron: get('/api/schedules/preview', {
    reach: 'neutral',
    summary: 'The next due times of a cron expression in a time zone, or what is wrong with it.',
    query: z.object({ cron: z.string().max(200), timezone: z.string().max(64), count: z.coerce.number().int().min(1).max(50).default(5) }),
    answer: CronPreview,
  }),
  listUpcomingRuns: get('/api/schedules/upcoming', {
    reach: 'workspace',
    summary: 'Expected runs within the given hours, soonest first.',
    query: z.object({ hours: z.coerce.number().min(1).max(168).default(24) }),
    answer: z.object({ runs: z.array(UpcomingRun) }),
    shows: ['schedules', 'schedule', 'spend', 'settings'],
  }),
  sumUpSchedules: get('/api/schedules/summary', {
    reach: 'workspace',
    summary: 'The outcomes of all due times in a period, in total and for each schedule.',
    query: z.object({
      /** Due at or after. A row that stands for many due times counts as a whole. */
      from: z.coerce.number().pipe(Moment),
      /** Due before. Default: now. */
      to: z.coerce.number().pipe(Moment).optional(),
      scheduleId: Id.optional(),
    }),
    answer: z.object({
      all: z.array(OccurrenceSum),
      costUsd: Usd,
      /** false: at least one call used a model without a known price. */
      priced: z.boolean(),
      /** At most 200; first those in which something went wrong. */
      schedules: z.array(ScheduleSummary),
      /** The number of all schedules with a due time in the period. */
      count: z.number().int(),
    }),
    shows: ['schedules', 'schedule'],
  }),
  getSchedule: get('/api/schedules/:scheduleId', {
    reach: 'workspace',
    summary: 'One schedule.',
    params: scheduleParams,
    answer: z.object({ schedule: Schedule, unpricedModels: UnpricedModels }),
    errors: ['schedule_not_found'],
    shows: ['schedule', 'spend'],
  }),
  updateSchedule: patch('/api/schedules/:scheduleId', {
    reach: 'workspace',
    summary: 'Change a schedule. Omitted fields stay as they are. An active run is not affected.',
    params: scheduleParams,
    body: UpdateSchedule,
    answer: z.object({ schedule: Schedule, unpricedModels: UnpricedModels }),
    errors: ['schedule_not_found', 'agent_not_found'],
  }),
  deleteSchedule: del('/api/schedules/:scheduleId', {
    reach: 'workspace',
    summary: 'Delete a schedule and its run history. Its jobs stay in Activity, and an active one continues.',
    params: scheduleParams,
    answer: Nothing,
    errors: ['schedule_not_found'],
  }),
  runScheduleNow: post('/api/schedules/:scheduleId/run-now', {
    reach: 'workspace',
    summary: 'Run a schedule now, even if its budget is spent. Refused while a run of it is active.',
    params: scheduleParams,
    status: 202,
    answer: z.object({ jobId: Id, occurrence: Occurrence }),
    errors: ['schedule_not_found', 'schedule_is_running', 'job_creation_failed'],
  }),
  pauseSchedule: post('/api/schedules/:scheduleId/pause', {
    reach: 'workspace',
    summary: 'Pause a schedule. Its due times are recorded as paused.',
    params: scheduleParams,
    answer: z.object({ schedule: Schedule }),
    errors: ['schedule_not_found'],
  }),
  resumeSchedule: post('/api/schedules/:scheduleId/resume', {
    reach: 'workspace',
    summary: 'Resume a schedule. Due times during the pause are not caught up.',
    params: scheduleParams,
    answer: z.object({ schedule: Schedule }),
    errors: ['schedule_not_found'],
  }),
  listOccurrences: get('/api/schedules/:scheduleId/occurrences', {
    reach: 'workspace',
    summary: 'The run history of a schedule: every due time with its outcome, newest first.',
    params: scheduleParams,
    query: PageQuery,
    answer: z.object({ occurrences: z.array(Occurrence), nextCursor: NextCursor }),
    errors: ['schedule_not_found'],
    shows: ['schedule'],
  }),
  runTick: post('/api/cron', {
    reach: 'workspace',
    summary: 'Run due schedules now, as the scheduler does by itself.',
    answer: z.object({ ok: z.literal(true), fired: z.number().int(), skipped: z.number().int(), exhausted: z.number().int() }),
  }),
}
