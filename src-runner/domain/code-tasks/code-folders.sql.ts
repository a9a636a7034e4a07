import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { codeTasks } from './code-tasks-table.ts'

export type CodeFolder = { jobId: string; folder: string; sizeBytes: number; finishedAt: number }

/** The folders of finished tasks, the oldest tasks first. The size is the last that was measured. */
export function listFinishedFolders(db: Db): CodeFolder[] {
  const rows = db
    .select({ jobId: jobs.id, folder: codeTasks.folder, sizeBytes: codeTasks.sizeBytes, finishedAt: jobs.finishedAt })
    .from(codeTasks)
    .innerJoin(jobs, eq(jobs.seq, codeTasks.jobSeq))
    .where(and(isNotNull(codeTasks.folder), isNotNull(jobs.finishedAt)))
    .orderBy(codeTasks.jobSeq)
    .all()
  return rows.map(({ jobId, folder, sizeBytes, finishedAt }) => ({
    jobId,
    folder: folder!,
    finishedAt: finishedAt!,
    sizeBytes: sizeBytes ?? 0,
  }))
}

/** The ended tasks whose folder may have more than their branch. */
export function listUnsavedTasks(db: Db): string[] {
  const rows = db
    .select({ jobId: jobs.id })
    .from(codeTasks)
    .innerJoin(jobs, eq(jobs.seq, codeTasks.jobSeq))
    .where(and(isNotNull(codeTasks.folder), isNull(codeTasks.savedAt), isNotNull(jobs.finishedAt)))
    .orderBy(codeTasks.jobSeq)
    .all()
  return rows.map(({ jobId }) => jobId)
}
