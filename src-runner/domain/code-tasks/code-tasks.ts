import { and, desc, eq, getTableColumns, lt, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { filterBy, prepareOnce } from '../../platform/db/statements.ts'
import type { CodeTask, CodeTaskSummary } from '../../contract/code-tasks.ts'
import { required } from '../../lib/errors.ts'
import { agents } from '../agents/agents-table.ts'
import { decodeSeqCursor, pageOf } from '../cursors.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { codeTasks } from './code-tasks-table.ts'

export type NewCodeTask = Pick<CodeTask, 'cli' | 'repository' | 'branch' | 'baseCommit' | 'baseBranch' | 'internet'>

/** What changes while a program works. `folder` null: it was removed. */
export type CodeTaskChange = Partial<
  Pick<
    typeof codeTasks.$inferInsert,
    | 'baseCommit'
    | 'sandboxed'
    | 'folder'
    | 'folderRemovedAt'
    | 'sizeBytes'
    | 'sessionId'
    | 'prompts'
    | 'turnEndedAt'
    | 'result'
    | 'files'
    | 'fileCount'
    | 'additions'
    | 'deletions'
    | 'commands'
    | 'leftOut'
    | 'savedAt'
  >
>

const { jobSeq, sessionId, prompts, turnEndedAt, savedAt, files, commands, leftOut, ...own } = getTableColumns(codeTasks)
const SUMMARY = {
  ...own,
  jobId: jobs.id,
  agentId: jobs.agentId,
  agentName: agents.name,
  title: jobs.title,
  jobStatus: jobs.status,
  costUsd: jobs.costUsd,
  priced: sql`agent_jobs.unpriced_calls = 0`.mapWith(Boolean),
  createdAt: jobs.createdAt,
  finishedAt: jobs.finishedAt,
}

const isOfJob = eq(jobs.seq, jobSeq)
const isOfAgent = eq(agents.id, jobs.agentId)

/** Newest first. Throws AppError invalid_request for a cursor of another list. */
export function listCodeTasks(
  db: Db,
  filter: { agentId?: string | undefined; entityId?: string | undefined; cursor?: string | undefined; limit: number },
): { codeTasks: CodeTaskSummary[]; nextCursor: string | null } {
  const { agentId, entityId, cursor, limit } = filter
  const rows = db
    .select({ shown: SUMMARY, seq: jobSeq })
    .from(codeTasks)
    .innerJoin(jobs, isOfJob)
    .innerJoin(agents, isOfAgent)
    .where(and(lt(jobSeq, decodeSeqCursor(cursor)), filterBy(jobs.agentId, agentId), filterBy(jobs.entityId, entityId)))
    .orderBy(desc(jobSeq))
    .limit(limit + 1)
    .all()
  const page = pageOf(rows, limit, ({ seq }) => [seq])
  return { codeTasks: page.rows.map(({ shown }) => shown), nextCursor: page.nextCursor }
}

const TASK_BY_JOB = prepareOnce((db: Db) =>
  db
    .select({ ...SUMMARY, files, commands, leftOut })
    .from(codeTasks)
    .innerJoin(jobs, isOfJob)
    .innerJoin(agents, isOfAgent)
    .where(eq(jobs.id, sql.placeholder('jobId'))),
)

/** null: the job is none of a coding program. */
export function findCodeTask(db: Db, jobId: string): CodeTask | null {
  return TASK_BY_JOB(db).get({ jobId }) ?? null
}

/** Throws AppError code_task_not_found. */
export function getCodeTask(db: Db, jobId: string): CodeTask {
  return required(findCodeTask(db, jobId), 'code_task_not_found')
}

/** The program's conversation so far, and whether its work is safe. null: the job is none of a coding program. */
export function findCodingTurn(db: Db, jobId: string) {
  const turn = db
    .select({ sessionId, prompts, turnEndedAt, savedAt })
    .from(codeTasks)
    .innerJoin(jobs, isOfJob)
    .where(eq(jobs.id, jobId))
    .get()
  return turn ?? null
}

/** In the transaction that makes the job. */
export function insertCodeTask(tx: Tx, jobId: string, task: NewCodeTask): void {
  const { seq } = required(tx.select({ seq: jobs.seq }).from(jobs).where(eq(jobs.id, jobId)).get(), 'job_not_found')
  tx.insert(codeTasks)
    .values({ jobSeq: seq, ...task, files: [], commands: [] })
    .run()
  tx.emit({ type: 'code_task.changed', payload: { jobId } })
}

/** Throws AppError code_task_not_found. */
export function changeCodeTask(tx: Tx, jobId: string, change: CodeTaskChange): CodeTask {
  getCodeTask(tx, jobId)
  const isThis = eq(jobSeq, tx.select({ seq: jobs.seq }).from(jobs).where(eq(jobs.id, jobId)))
  tx.update(codeTasks).set(change).where(isThis).run()
  tx.emit({ type: 'code_task.changed', payload: { jobId } })
  return getCodeTask(tx, jobId)
}
