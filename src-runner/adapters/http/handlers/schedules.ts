import { transact, type Db } from '../../../platform/db/database.ts'
import type { CreateSchedule, CronPreview, Schedule } from '../../../contract/schedules.ts'
import { isWatcher, nextDueTimes, parseCron } from '../../../domain/schedules/due-times.ts'
import { eachVia, storeVia } from '../../../domain/schedules/notify-via.ts'
import { requireNotifiable } from '../../../domain/channels/owner-conversation.ts'
import { findEntityOf } from '../../../domain/entities/entity-of.sql.ts'
import { getAgent } from '../../../domain/agents/agents.ts'
import { unpricedModels } from '../unpriced-models.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'
import { createJob } from './jobs.ts'

export function scheduleHandlers({ db, schedules, clock, tick, models }: HandlerDeps) {
  const withUnpriced = async (schedule: Schedule) => ({
    schedule,
    ...(await unpricedModels({ db, models }, [getAgent(db, schedule.agentId)])),
  })

  return {
    listSchedules: ({ query }, { caller }) => schedules.list(db, { ...query, entityId: caller.entityId }),
    createSchedule: ({ body }) =>
      withUnpriced(
        transact(db, (tx) => {
          requireNotifications(tx, body)
          return schedules.create(tx, body)
        }),
      ),
    previewCron: ({ query: { cron, timezone, count } }) => previewCron(cron, timezone, clock.now(), count),
    listUpcomingRuns: ({ query }, { caller }) => ({ runs: schedules.listUpcoming(db, query.hours, caller.entityId) }),
    getSchedule: ({ params }) => withUnpriced(schedules.get(db, params.scheduleId)),
    sumUpSchedules: ({ query }, { caller }) => schedules.sumUp(db, { ...query, entityId: caller.entityId }),
    updateSchedule: ({ params, body }) =>
      withUnpriced(
        transact(db, (tx) => {
          // What stays as it was is not refused for a channel that is gone meanwhile.
          const isAsked = body.notifyOnSuccess === true || body.notifyVia !== undefined || body.agentId !== undefined
          if (isAsked) requireNotifications(tx, { ...schedules.get(tx, params.scheduleId), ...body })
          return schedules.update(tx, params.scheduleId, body)
        }),
      ),

    deleteSchedule({ params }) {
      transact(db, (tx) => schedules.remove(tx, params.scheduleId))
      return { ok: true }
    },

    runScheduleNow: ({ params }) => createJob({ db }, (tx) => schedules.runNow(tx, params.scheduleId)),
    pauseSchedule: ({ params }) => ({ schedule: transact(db, (tx) => schedules.pause(tx, params.scheduleId)) }),
    resumeSchedule: ({ params }) => ({ schedule: transact(db, (tx) => schedules.resume(tx, params.scheduleId)) }),
    listOccurrences: ({ params, query }) => schedules.listOccurrences(db, { ...params, ...query }),
    // Everything that is due is decided. A limited caller learns only of its own schedules.
    async runTick(_input, { caller: { entityId } }) {
      const isOwn = (id: string) => entityId === undefined || findEntityOf(db, 'schedule', id) === entityId
      const { fired, skipped, exhausted } = await tick()
      const count = (ids: readonly string[]) => ids.filter(isOwn).length
      return { ok: true, fired: count(fired), skipped: count(skipped), exhausted: count(exhausted) }
    },
  } satisfies Partial<Handlers>
}

/** Throws AppError agent_not_found, invalid_request. */
function requireNotifications(
  db: Db,
  { agentId, notifyOnSuccess, notifyVia }: Pick<CreateSchedule, 'agentId' | 'notifyOnSuccess' | 'notifyVia'>,
) {
  if (notifyOnSuccess) requireNotifiable(db, getAgent(db, agentId).id, eachVia(storeVia(notifyVia)))
}

/** A half-typed expression is a result, not an error. */
function previewCron(cron: string, timezone: string, now: number, count: number): CronPreview {
  const parsed = parseCron(cron, timezone)
  if (!parsed.ok) return { valid: false, problem: parsed.problem, next: [], isWatcher: false }
  return { valid: true, problem: null, next: nextDueTimes(cron, timezone, now, count), isWatcher: isWatcher(cron, timezone) }
}
