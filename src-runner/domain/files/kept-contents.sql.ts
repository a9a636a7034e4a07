import type { Db } from '../../platform/db/database.ts'

const NEEDED = `SELECT 1 FROM file_changes AS change JOIN agent_jobs AS job ON job.id = change.job_id
  WHERE (change.before_mark = ? OR change.after_mark = ?) AND (change.started_at >= ? OR job.finished_at IS NULL) LIMIT 1`
const OF_RESULT = `SELECT 1 FROM kept_results AS kept JOIN agent_jobs AS job ON job.id = kept.job_id
  WHERE kept.mark = ? AND (kept.created_at >= ? OR job.finished_at IS NULL) LIMIT 1`

/** Whether this content belongs to a change or a result since then, or to any of an unfinished job. */
export function isContentNeeded(db: Db, mark: string, since: number): boolean {
  return db.prepare(NEEDED).get(mark, mark, since) !== undefined || db.prepare(OF_RESULT).get(mark, since) !== undefined
}
