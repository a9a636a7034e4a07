import type { Database, Db } from '../../base/db/database.ts'
import { transact, type Tx } from '../../base/db/transact.ts'
import { messageOf } from '../../kit/errors.ts'

/**
 * The full-text index over title, task and result. Indexing within the transaction that makes a job would cost as
 * much as all the rest of it; instead the job is put on a list there, and the list is worked off a moment later, many
 * jobs at a time. The list is a table, so a crash forgets nothing.
 */
export type JobSearch = {
  /** The job's texts are new or have changed. */
  queue(tx: Tx, jobSeq: number): void
  /** For a search that is about to begin: indexes what is listed, unless it is very much. Not within a transaction. */
  catchUp(): void
}

/** Long enough for a burst to gather, short enough that nobody looks for a job sooner. */
const GATHER_MS = 250
/** More than a few is worked off in slices: a batch takes as long as a streamed token may be late, a slice a quarter of it. */
const SLICE = 50
const SLICE_EVERY_MS = 50
const BATCH = 250
/** A search waits for so many batches at most, about a tenth of a second; the newest jobs of a flood are found a little later. */
const MOST_BATCHES_BEFORE_SEARCH = 20
/** Of each text so many characters can be found. */
const INDEXED_CHARS = 100_000

export function createJobSearch(db: Database): JobSearch {
  let expected = false

  function expectWork(afterMs = GATHER_MS): void {
    if (expected) return
    expected = true
    void db.clock.sleep(afterMs).then(() => {
      expected = false
      if (!db.connection.open) return
      try {
        if (indexBatch(SLICE)) expectWork(SLICE_EVERY_MS)
      } catch (error) {
        // A full disk, most likely. The list keeps them; the next job or the next search tries again.
        db.log.warn({ err: error }, `jobs could not be indexed: ${messageOf(error)}`)
      }
    })
  }

  /** Answers whether anything may be left. */
  function indexBatch(most: number): boolean {
    if (queuedIn(db, 1).length === 0) return false
    return transact(db, (tx) => {
      const queued = queuedIn(tx, most)
      for (const jobSeq of queued) indexJob(tx, jobSeq)
      return queued.length === most
    })
  }

  return {
    queue(tx, jobSeq) {
      tx.prepare('INSERT OR IGNORE INTO search_queue (job_seq) VALUES (?)').run(jobSeq)
      tx.afterCommit(() => expectWork())
    },
    catchUp() {
      for (let batches = 0; batches < MOST_BATCHES_BEFORE_SEARCH && indexBatch(BATCH); batches++);
    },
  }
}

function queuedIn(db: Db, most: number): number[] {
  return db
    .prepare<{ job_seq: number }>('SELECT job_seq FROM search_queue ORDER BY job_seq LIMIT ?')
    .all(most)
    .map((row) => row.job_seq)
}

function indexJob(tx: Tx, jobSeq: number): void {
  tx.prepare(
    `INSERT OR REPLACE INTO job_search (rowid, title, task, result)
     SELECT job.seq, job.title, substr(texts.task, 1, ${INDEXED_CHARS}), substr(texts.result, 1, ${INDEXED_CHARS})
     FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq WHERE job.seq = ?`,
  ).run(jobSeq)
  tx.prepare('DELETE FROM search_queue WHERE job_seq = ?').run(jobSeq)
}

/**
 * What a person typed as an FTS5 expression: every word has to be there, the last one may be the beginning of a word.
 * null when there is nothing to look for. Everything is quoted, so no input is a syntax error or an operator.
 */
export function searchExpressionFor(text: string): string | null {
  // FTS5's own notion of a word (unicode61): letters, marks on them, digits, and private use.
  const words = text.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu)?.slice(0, 32) ?? []
  if (words.length === 0) return null
  return words.map((word, i) => (i === words.length - 1 ? `"${word}" *` : `"${word}"`)).join(' AND ')
}
