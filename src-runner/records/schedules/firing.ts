import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { FireContext, Occurrence } from '../../contract/schedules.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import type { ScheduleRow } from './schedule-rows.ts'

/** Makes the job of an occurrence that is written in the same transaction. Answers its id. */
export function fireSchedule(
  tx: Tx,
  { clock, jobs }: Pick<ScheduleDeps, 'clock' | 'jobs'>,
  row: ScheduleRow,
  fire: { occurrenceId: string; dueAt: number; origin: Occurrence['origin']; caughtUp: boolean },
): string {
  const { occurrenceId, ...about } = fire
  const context: FireContext = {
    schedule: { id: row.id, name: row.name },
    ...about,
    lateMs: Math.max(0, clock.now() - fire.dueAt),
    previousRun: row.last_run_id === null ? null : findRun(tx, row.last_run_id),
  }
  return jobs.insert(tx, {
    ...{ agentId: row.agent_id, channel: 'schedule', task: row.task, title: row.name },
    ...{ scheduleId: row.id, occurrenceId, context },
  }).id
}

function findRun(db: Db, occurrenceId: string): FireContext['previousRun'] {
  return (
    db
      .prepare<NonNullable<FireContext['previousRun']>>(
        'SELECT created_at AS at, status, result_preview AS result FROM agent_jobs WHERE occurrence_id = ?',
      )
      .get(occurrenceId) ?? null
  )
}
