import type { Database, Db } from '../../base/db/database.ts'
import { transact, type Tx } from '../../base/db/transact.ts'
import { messageOf } from '../../kit/errors.ts'

/**
 * The full-text index over title, task and result. Indexing within the transaction that makes a job would cost as
 * much as all the rest of it; it is done a moment later, many jobs at a time. How far new jobs are indexed is a mark in
 * the database, so that to make one costs nothing here; one that changes behind the mark is put on a list. Both are
 * tables, so a crash forgets nothing.
 */
export type JobSearch = {
  /** A job was made: it stands behind the last one. */
  added(tx: Tx): void
  /** The job's texts have changed. */
  changed(tx: Tx, jobSeq: number): void
  /** For a search that is about to begin: indexes what is left, unless it is very much. Not within a transaction. */
  catchUp(mostBatches?: number): void
}

/** Long enough for a burst to gather, short enough that nobody looks for a job sooner. */
const GATHER_MS = 250
/** While jobs keep coming this waits for a pause between them, for so long: what makes them has the processor to itself. */
const LONGEST_PUT_OFF_MS = 5000
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
  /** More has come since the work was last expected. */
  let isFlowing = false
  let putOffSince: number | null = null

  function expectWork(afterMs = GATHER_MS): void {
    isFlowing = expected
    if (expected) return
    expected = true
    void db.clock.sleep(afterMs).then(() => {
      expected = false
      if (!db.connection.open) return
      if (mayPutOff()) return expectWork()
      try {
        if (indexBatch(SLICE)) expectWork(SLICE_EVERY_MS)
      } catch (error) {
        // A full disk, most likely. Mark and list keep them; the next job or the next search tries again.
        db.log.warn({ err: error }, `jobs could not be indexed: ${messageOf(error)}`)
      }
    })
  }

  function mayPutOff(): boolean {
    if (!isFlowing) putOffSince = null
    else putOffSince ??= db.clock.monotonic()
    return putOffSince !== null && db.clock.monotonic() - putOffSince < LONGEST_PUT_OFF_MS
  }

  /** Answers whether anything may be left. */
  function indexBatch(most: number): boolean {
    if (listedIn(db, 1).length === 0 && addedIn(db, 1).length === 0) return false
    return transact(db, (tx) => {
      const listed = listedIn(tx, most)
      for (const jobSeq of listed) {
        indexJob(tx, jobSeq)
        tx.prepare('DELETE FROM search_queue WHERE job_seq = ?').run(jobSeq)
      }
      const added = addedIn(tx, most - listed.length)
      for (const jobSeq of added) indexJob(tx, jobSeq)
      if (added.length > 0) tx.prepare('UPDATE search_mark SET job_seq = ?').run(added.at(-1))
      return listed.length + added.length === most
    })
  }

  const onCommit = () => expectWork()

  return {
    added: (tx) => tx.afterCommit(onCommit),
    changed(tx, jobSeq) {
      // In front of the mark it is still to be indexed as it then is.
      tx.prepare('INSERT OR IGNORE INTO search_queue (job_seq) SELECT ? WHERE ? <= (SELECT job_seq FROM search_mark)').run(jobSeq, jobSeq)
      tx.afterCommit(onCommit)
    },
    catchUp(mostBatches = MOST_BATCHES_BEFORE_SEARCH) {
      for (let batches = 0; batches < mostBatches && indexBatch(BATCH); batches++);
    },
  }
}

const LISTED = 'SELECT job_seq FROM search_queue ORDER BY job_seq LIMIT ?'
const ADDED = 'SELECT seq AS job_seq FROM agent_jobs WHERE seq > (SELECT job_seq FROM search_mark) ORDER BY seq LIMIT ?'

const listedIn = (db: Db, most: number) => seqsOf(db, LISTED, most)
const addedIn = (db: Db, most: number) => seqsOf(db, ADDED, most)

function seqsOf(db: Db, sql: string, most: number): number[] {
  return db
    .prepare<{ job_seq: number }>(sql)
    .all(most)
    .map((row) => row.job_seq)
}

function indexJob(tx: Tx, jobSeq: number): void {
  tx.prepare(
    `INSERT OR REPLACE INTO job_search (rowid, title, task, result)
     SELECT job.seq, job.title, substr(texts.task, 1, ${INDEXED_CHARS}), substr(texts.result, 1, ${INDEXED_CHARS})
     FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq WHERE job.seq = ?`,
  ).run(jobSeq)
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
