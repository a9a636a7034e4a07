import { commitSoon, transact, type Tx } from '../../../platform/db/transact.ts'
import type { CronPreview, Schedule } from '../../../contract/schedules.ts'
import { AppError } from '../../../lib/errors.ts'
import { isWatcher, nextDueTimes, parseCron } from '../../../domain/schedules/due-times.ts'
import { getAgent } from '../../../domain/agents/agents.ts'
import { unpricedModels } from '../unpriced-models.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type Routes =
  | 'listSchedules'
  | 'createSchedule'
  | 'previewCron'
  | 'listUpcomingRuns'
  | 'getSchedule'
  | 'sumUpSchedules'
  | 'updateSchedule'
  | 'deleteSchedule'
  | 'runScheduleNow'
  | 'pauseSchedule'
  | 'resumeSchedule'
  | 'listOccurrences'
  | 'runTick'

export function scheduleHandlers({ db, schedules, clock, tick, models }: HandlerDeps): Pick<Handlers, Routes> {
  const answered = async (schedule: Schedule) => ({
    schedule,
    ...(await unpricedModels({ db, models }, [getAgent(db, schedule.agentId)])),
  })

  return {
    listSchedules: ({ query }) => schedules.list(db, query),
    createSchedule: ({ body }) => answered(transact(db, (tx) => schedules.create(tx, body))),
    previewCron: ({ query: { cron, timezone, count } }) => previewCron(cron, timezone, clock.now(), count),
    listUpcomingRuns: ({ query }) => ({ runs: schedules.listUpcoming(db, query.hours) }),
    getSchedule: ({ params }) => answered(schedules.get(db, params.scheduleId)),
    sumUpSchedules: ({ query }) => schedules.sumUp(db, query),
    updateSchedule: ({ params, body }) => answered(transact(db, (tx) => schedules.update(tx, params.scheduleId, body))),

    deleteSchedule({ params }) {
      transact(db, (tx) => schedules.remove(tx, params.scheduleId))
      return { ok: true }
    },

    runScheduleNow: ({ params }) => startRun((tx) => schedules.runNow(tx, params.scheduleId)),
    pauseSchedule: ({ params }) => ({ schedule: transact(db, (tx) => schedules.pause(tx, params.scheduleId)) }),
    resumeSchedule: ({ params }) => ({ schedule: transact(db, (tx) => schedules.resume(tx, params.scheduleId)) }),
    listOccurrences: ({ params, query }) => schedules.listOccurrences(db, { ...params, ...query }),
    runTick: async () => ({ ok: true, ...(await tick()) }),
  }

  /** Resolves when the job is on disk. What goes wrong without a code of its own is the creation that failed. */
  async function startRun<T extends object>(start: (tx: Tx) => T): Promise<T> {
    try {
      return (await commitSoon<object>(db, start)) as T
    } catch (error) {
      if (error instanceof AppError) throw error
      throw new AppError('job_creation_failed', 'The job could not be created. Nothing was started.', { cause: error })
    }
  }
}

/** While somebody is typing, nothing is an error. */
function previewCron(cron: string, timezone: string, now: number, count: number): CronPreview {
  const parsed = parseCron(cron, timezone)
  if (!parsed.ok) return { valid: false, problem: parsed.problem, next: [], isWatcher: false }
  return { valid: true, problem: null, next: nextDueTimes(cron, timezone, now, count), isWatcher: isWatcher(cron, timezone) }
}
