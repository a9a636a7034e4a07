import { and, eq, lt, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { JobMemory, Memory } from '../../contract/memory.ts'
import type { Clock } from '../../lib/clock.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { jobMemories } from './memory-table.ts'

/** Stores the text that a job read, because the memory may change or be deleted later. */
export function recordJobMemories(
  tx: Tx,
  { clock }: { clock: Clock },
  jobId: string,
  via: JobMemory['via'],
  memories: readonly Memory[],
): void {
  const rows = memories.map(({ id, text, untrusted, updatedAt }) => ({
    jobId,
    memoryId: id,
    via,
    version: updatedAt,
    text,
    untrusted,
    at: clock.now(),
  }))
  if (rows.length > 0) tx.insert(jobMemories).values(rows).onConflictDoNothing().run()
}

/** In the order in which the job read them. */
export function listJobMemories(db: Db, jobId: string): JobMemory[] {
  const { memoryId, text, via, untrusted, at } = jobMemories
  return db
    .select({ memoryId, text, via, untrusted, at })
    .from(jobMemories)
    .where(eq(jobMemories.jobId, jobId))
    .orderBy(jobMemories.seq)
    .all()
}

const isInPrompt = eq(jobMemories.via, 'prompt')

const IN_EARLIER_TURN = prepareOnce((db: Db) =>
  db
    .select({ seq: jobs.seq })
    .from(jobs)
    .innerJoin(jobMemories, and(eq(jobMemories.jobId, jobs.id), isInPrompt))
    .where(and(eq(jobs.conversationId, sql.placeholder('conversationId')), lt(jobs.seq, sql.placeholder('beforeSeq'))))
    .limit(1),
)

/** Whether an earlier turn of the conversation had memories in its prompt. All later turns read its replies. */
export function hadPromptMemories(db: Db, conversationId: string, beforeSeq: number): boolean {
  return IN_EARLIER_TURN(db).get({ conversationId, beforeSeq }) !== undefined
}

const IN_PROMPT = prepareOnce((db: Db) =>
  db
    .select({ seq: jobMemories.seq })
    .from(jobMemories)
    .where(and(eq(jobMemories.jobId, sql.placeholder('jobId')), isInPrompt))
    .limit(1),
)

/** Whether the job's prompt had memories, which its replies may repeat. */
export function hasPromptMemories(db: Db, jobId: string): boolean {
  return IN_PROMPT(db).get({ jobId }) !== undefined
}
