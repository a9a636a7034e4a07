import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transact, type Database } from '../../src-runner/platform/db/database.ts'
import { openDatabase } from '../../src-runner/platform/db/open-database.ts'
import { quote, writeMessage } from '../../src-runner/lib/messages.ts'
import { createIds } from '../../src-runner/lib/ids.ts'
import { systemClock } from '../../src-runner/lib/clock.ts'
import { createAgent } from '../../src-runner/domain/agents/agents.ts'
import { listJobs, type JobFilter } from '../../src-runner/domain/jobs/list-jobs.sql.ts'
import { createJobSearch } from '../../src-runner/domain/jobs/search-jobs.sql.ts'
import { spread } from './processes.ts'

const JOBS = 1_000_000
const EVENTS = 200_000
const ROUNDS = 7

/**
 * Lists and searches that match rarely or much, over a million jobs. `DECKHAND_BENCH_DATABASE` names a file that is filled
 * the first time and read again the next time.
 */
export async function benchQueries(): Promise<void> {
  const kept = process.env['DECKHAND_BENCH_DATABASE']
  const folder = kept === undefined ? mkdtempSync(join(tmpdir(), 'deckhand-queries-')) : null
  const file = kept ?? join(folder!, 'deckhand.db')
  const isNew = !existsSync(file)
  const db = openDatabase({ file, clock: systemClock })
  try {
    if (isNew) fill(db)
    createJobSearch(db)
    const agentId = (name: string) => db.prepare<{ id: string }>('SELECT id FROM agents WHERE name = ?').get(name)!.id
    const queries: Record<string, Partial<JobFilter>> = {
      'the newest': {},
      'agent and channel, no match': { agentId: agentId('Ada'), channel: 'telegram' },
      'agent and time, no match': { agentId: agentId('Ada'), from: 1, to: 2 },
      'search, many matches': { q: 'news' },
      'search, agent without a match': { q: 'news', agentId: agentId('Idle') },
      'search "in"': { q: 'in' },
      'search "n"': { q: 'n' },
      'search, two words that never meet': { q: 'odd even' },
      'search, no match': { q: 'zeppelin' },
    }
    console.log(`\nLists over ${JOBS} jobs (${ROUNDS} rounds; ms that one page takes)`)
    for (const [name, filter] of Object.entries(queries)) {
      const took: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const startedAt = performance.now()
        listJobs(db, { ...filter, limit: 50 })
        took.push(performance.now() - startedAt)
      }
      console.log(`${name} | ${spread(took, 1)}`)
    }
  } finally {
    db.close()
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
  await Promise.resolve()
}

/** Straight into the tables: through the records it would take an hour. */
function fill(db: Database): void {
  const ids = createIds(() => systemClock.now())
  const agents = ['Ada', 'Bruno', 'Cleo', 'Dario', 'Idle'].map(
    (name) => transact(db, (tx) => createAgent(tx, { clock: systemClock, ids }, { name })).id,
  )
  const startedAt = systemClock.now() - JOBS * 60_000
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${JOBS})`
  const { connection } = db
  connection.pragma('synchronous = OFF')
  connection.exec(`BEGIN;
    CREATE TEMP TABLE agent_numbers (n INTEGER PRIMARY KEY, id TEXT);
    INSERT INTO agent_numbers VALUES ${agents.map((id, n) => `(${n}, '${id}')`).join(', ')};
    ${numbers} INSERT INTO agent_jobs (seq, id, entity_id, agent_id, channel, status, title, claim, attempt, created_at, started_at, finished_at,
        error, error_message)
      SELECT n, printf('019a0000-0000-7000-8000-%012x', n), (SELECT id FROM entities), (SELECT id FROM agent_numbers WHERE n = numbers.n % 4),
        iif(n % 10 < 6, 'schedule', iif(n % 10 < 9, 'webhook', 'api')), iif(n % 50 = 0, 'failed', 'completed'), 'Look at number ' || n,
        1, 1, ${startedAt} + n * 60000, ${startedAt} + n * 60000, ${startedAt} + n * 60000,
        iif(n % 50 = 0, 'model_unavailable', NULL), iif(n % 50 = 0, '${writeMessage(quote('The provider did not answer.'))}', NULL)
      FROM numbers;
    ${numbers} INSERT INTO job_texts (job_seq, task, result)
      SELECT n, 'Look at the ' || iif(n % 3 = 0, 'invoices in the inbox', iif(n % 3 = 1, 'backup report', 'visitor numbers')) ||
        iif(n % 2 = 0, ' of even', ' of odd') || ' weeks (' || n || ') and say what is new in the news.', 'Nothing unusual.' FROM numbers;
    INSERT INTO job_search (rowid, title, task, result)
      SELECT job.seq, job.title, texts.task, texts.result FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq;
    UPDATE search_mark SET job_seq = ${JOBS};
    INSERT INTO job_time_buckets (first_seq, bucket_at)
      SELECT min(seq), created_at - created_at % 900000 FROM agent_jobs GROUP BY created_at - created_at % 900000;
    ${numbers} INSERT INTO events (at, type, payload) SELECT ${startedAt} + n, 'job.created', printf('{"jobId":"019a0000-0000-7000-8000-%012x"}', n)
      FROM numbers WHERE n <= ${EVENTS};
    COMMIT`)
  connection.pragma('wal_checkpoint(TRUNCATE)')
  connection.pragma('synchronous = FULL')
}
