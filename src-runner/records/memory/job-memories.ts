import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { JobMemory, Memory } from '../../contract/memory.ts'
import type { Clock } from '../../kit/clock.ts'

type Row = { memory_id: string; via: JobMemory['via']; text: string; untrusted: number; at: number }

/** Keeps what a job was given to read, word for word: the memory itself may change or be forgotten. */
export function recordJobMemories(
  tx: Tx,
  { clock }: { clock: Clock },
  jobId: string,
  via: JobMemory['via'],
  memories: readonly Memory[],
): void {
  const insert = tx.prepare(
    'INSERT OR IGNORE INTO job_memories (job_id, memory_id, via, version, text, untrusted, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  for (const { id, text, untrusted, updatedAt } of memories) insert.run(jobId, id, via, updatedAt, text, untrusted ? 1 : 0, clock.now())
}

/** In the order in which the job came to read them. */
export function listJobMemories(db: Db, jobId: string): JobMemory[] {
  return db
    .prepare<Row>('SELECT memory_id, via, text, untrusted, at FROM job_memories WHERE job_id = ? ORDER BY seq')
    .all(jobId)
    .map((row) => ({ memoryId: row.memory_id, text: row.text, via: row.via, untrusted: row.untrusted === 1, at: row.at }))
}

/** Whether an earlier turn of the conversation had some of it in its prompt: what it said then is read by all that follow. */
export function hadPromptMemories(db: Db, conversationId: string, beforeSeq: number): boolean {
  return (
    db
      .prepare(
        `SELECT 1 FROM agent_jobs AS job JOIN job_memories AS memory ON memory.job_id = job.id AND memory.via = 'prompt'
         WHERE job.conversation_id = ? AND job.seq < ? LIMIT 1`,
      )
      .get(conversationId, beforeSeq) !== undefined
  )
}

/** Whether something of its memory was in the job's prompt, where it can be told to whoever the job talks to. */
export function hasPromptMemories(db: Db, jobId: string): boolean {
  return db.prepare("SELECT 1 FROM job_memories WHERE job_id = ? AND via = 'prompt' LIMIT 1").get(jobId) !== undefined
}
