import type { Database } from '../../platform/db/database.ts'
import { readAside } from '../../platform/db/read-aside.ts'
import type { Amount } from '../../contract/retention.ts'

type Row = { count: number; bytes: number; dueCount: number; dueBytes: number }

/** A row takes about this much besides its texts, with its indexes. */
const ROW_BYTES = { job: 900, step: 200, message: 150 }

const BYTES_OF_JOB = `
  ${ROW_BYTES.job} + (SELECT octet_length(task) + ifnull(octet_length(context), 0) + 2 * ifnull(octet_length(result), 0)
      + ifnull(octet_length(output), 0) FROM job_texts WHERE job_seq = job.seq)
  + ifnull((SELECT sum(${ROW_BYTES.step} + octet_length(text) + ifnull(octet_length(tool_calls), 0) + ifnull(octet_length(reasoning), 0))
      FROM job_steps WHERE job_seq = job.seq), 0)
  + ifnull((SELECT sum(octet_length(parts)) FROM reply_parts WHERE job_seq = job.seq), 0)
  + ifnull((SELECT sum(${ROW_BYTES.message} + octet_length(text)) FROM messages WHERE job_id = job.id), 0)`

const JOBS = `
  SELECT count(*) AS count, ifnull(sum(bytes), 0) AS bytes, ifnull(sum(isDue), 0) AS dueCount,
    ifnull(sum(bytes) FILTER (WHERE isDue), 0) AS dueBytes
  FROM (SELECT ${BYTES_OF_JOB} AS bytes, ifnull(finished_at < @before
      AND seq < (SELECT max(seq) FROM agent_jobs)
      AND NOT EXISTS (SELECT 1 FROM conversations AS used WHERE used.id = job.conversation_id AND used.updated_at >= @before), 0) AS isDue
    FROM agent_jobs AS job)`

/** Only accepted deliveries of which the body is kept, and the refused ones. */
const DELIVERIES = `
  SELECT count(*) AS count, ifnull(sum(bytes), 0) AS bytes, ifnull(sum(isDue), 0) AS dueCount,
    ifnull(sum(bytes) FILTER (WHERE isDue), 0) AS dueBytes
  FROM (
    SELECT octet_length(payload) + ifnull(octet_length(headers), 0) AS bytes, ifnull(job.finished_at < @before, 0) AS isDue
      FROM job_texts JOIN agent_jobs AS job ON job.seq = job_texts.job_seq WHERE payload IS NOT NULL
    UNION ALL
    SELECT 200 + ifnull(octet_length(payload), 0) + ifnull(octet_length(headers), 0), received_at < @before FROM webhook_refusals)`

/** What there is, and what ended before that moment. */
export async function measureRows(db: Database, kind: 'jobs' | 'deliveries', before: number): Promise<{ all: Amount; due: Amount }> {
  const row = await readAside<Row>(db.file, kind === 'jobs' ? JOBS : DELIVERIES, { before })
  return { all: { count: row.count, bytes: row.bytes }, due: { count: row.dueCount, bytes: row.dueBytes } }
}
