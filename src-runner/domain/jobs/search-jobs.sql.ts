import { transact, type Database, type Db, type Tx } from '../../platform/db/database.ts'
import { messageOf } from '../../lib/errors.ts'
import type { searchQueue } from './jobs-table.ts'

export type JobSearch = ReturnType<typeof createJobSearch>

/** Long enough to gather a burst, short enough that nobody searches for a job sooner. */
const GATHER_MS = 250
/** While new jobs keep arriving, indexing waits up to this long for a pause, to leave them the processor. */
const LONGEST_DELAY_MS = 5000
/** A batch takes as long as a streamed token may be delayed, a slice a quarter of that. */
const SLICE = 50
const SLICE_EVERY_MS = 50
const BATCH = 250
/** Only the beginning of each text is indexed. */
const INDEXED_CHARS = 100_000

/**
 * The full-text index over title, task and result. Indexing in the transaction that creates a job would double its cost, so many
 * jobs are indexed together a moment later. The table search_mark says up to which job all are indexed. A job below the mark
 * that changes is added to search_queue. Both survive a crash.
 */
export function createJobSearch(db: Database) {
  let isScheduled = false
  /** More work has come since it was scheduled. */
  let isBusy = false
  let delayedSince: number | null = null

  function schedule(afterMs = GATHER_MS): void {
    isBusy = isScheduled
    if (isScheduled) return
    isScheduled = true
    void db.clock.sleep(afterMs).then(() => {
      isScheduled = false
      if (!db.connection.open) return
      if (mayDelay()) return schedule()
      try {
        if (indexBatch(SLICE)) schedule(SLICE_EVERY_MS)
      } catch (error) {
        // Most likely a full disk. The next job or search tries again.
        db.log.warn({ err: error }, `jobs could not be indexed: ${messageOf(error)}`)
      }
    })
  }

  function mayDelay(): boolean {
    if (!isBusy) delayedSince = null
    else delayedSince ??= db.clock.monotonic()
    return delayedSince !== null && db.clock.monotonic() - delayedSince < LONGEST_DELAY_MS
  }

  /** Returns whether anything may be left. */
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

  const onCommit = () => schedule()
  // The words in the index, as a table of this connection that is not in the file.
  db.prepare("CREATE VIRTUAL TABLE IF NOT EXISTS temp.job_terms USING fts5vocab ('main', 'job_search', 'instance')").run()

  return {
    /** To be called when jobs are created. */
    added: (tx: Tx) => tx.afterCommit(onCommit),
    /** To be called when the job's texts have changed. */
    changed(tx: Tx, jobSeq: number): void {
      // A job above the mark will be indexed anyway.
      tx.prepare('INSERT OR IGNORE INTO search_queue (job_seq) SELECT ? WHERE ? <= (SELECT job_seq FROM search_mark)').run(jobSeq, jobSeq)
      tx.afterCommit(onCommit)
    },
    /** Indexes everything that is left, at once. */
    catchUp(): void {
      while (indexBatch(BATCH));
    },
  }
}

const LISTED = 'SELECT job_seq AS jobSeq FROM search_queue ORDER BY job_seq LIMIT ?'
const ADDED = 'SELECT seq AS jobSeq FROM agent_jobs WHERE seq > (SELECT job_seq FROM search_mark) ORDER BY seq LIMIT ?'

const listedIn = (db: Db, most: number) => seqsOf(db, LISTED, most)
const addedIn = (db: Db, most: number) => seqsOf(db, ADDED, most)

function seqsOf(db: Db, sql: string, most: number): number[] {
  return db
    .prepare<Pick<typeof searchQueue.$inferSelect, 'jobSeq'>>(sql)
    .all(most)
    .map(({ jobSeq }) => jobSeq)
}

function indexJob(tx: Tx, jobSeq: number): void {
  tx.prepare(
    `INSERT OR REPLACE INTO job_search (rowid, title, task, result)
     SELECT job.seq, job.title, substr(texts.task, 1, ${INDEXED_CHARS}), substr(texts.result, 1, ${INDEXED_CHARS})
     FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq WHERE job.seq = ?`,
  ).run(jobSeq)
}

/** Each search also reads this many jobs that are not indexed yet, and this much of each text. */
const MAX_UNINDEXED = 100
export const UNINDEXED_CHARS = 20_000

/** The newest jobs whose texts are not in the index, or have changed since. */
export function listUnindexed(db: Db): number[] {
  return [...seqsOf(db, NEWEST_ADDED, MAX_UNINDEXED), ...seqsOf(db, NEWEST_LISTED, MAX_UNINDEXED)]
}

const NEWEST_ADDED = 'SELECT seq AS jobSeq FROM agent_jobs WHERE seq > (SELECT job_seq FROM search_mark) ORDER BY seq DESC LIMIT ?'
const NEWEST_LISTED = 'SELECT job_seq AS jobSeq FROM search_queue ORDER BY job_seq DESC LIMIT ?'

/** What FTS5 (unicode61) takes for a word: letters, their diacritics, digits, and private use. */
function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? []
}

const MAX_WORDS = 32

/** As in the index: in lower case and without diacritics. */
function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

/** Whether the index would find these texts. */
export function isMatch(texts: readonly string[], query: string): boolean {
  const queryWords = wordsOf(folded(query)).slice(0, MAX_WORDS)
  const last = queryWords.pop()
  if (last === undefined) return false
  const words = new Set(texts.flatMap((text) => wordsOf(folded(text))))
  return queryWords.every((word) => words.has(word)) && [...words].some((word) => word.startsWith(last))
}

/** A prefix of more words than this is not expanded. */
const MAX_TERMS = 200
/** A shorter prefix of very many words is searched as a complete word, because nearly every job has a word with that prefix. */
const LEAST_PREFIX_CHARS = 3

/** The indexed words with this prefix, each found by one lookup. null: there are too many. */
export function listTerms(db: Db, prefix: string): string[] | null {
  const next = db.prepare<{ term: string }>('SELECT term FROM job_terms WHERE term >= ? LIMIT 1')
  const start = folded(prefix)
  const terms: string[] = []
  for (let from = start; ;) {
    const term = next.get(from)?.term
    if (term?.startsWith(start) !== true) return terms
    if (terms.push(term) > MAX_TERMS) return null
    // The smallest text after it, because no word contains a control character.
    from = `${term}\u0001`
  }
}

/**
 * A search text as an FTS5 expression: every word must match, the last one also as a prefix. null: there is no word. Everything is
 * quoted, so no input is a syntax error or an operator.
 *
 * For a prefix, FTS5 collects all positions of all words that have it before it returns the first. If the words are listed, it
 * reads only as many as the page needs.
 */
export function searchExpressionFor(text: string, termsOf: (prefix: string) => string[] | null): string | null {
  const words = wordsOf(text).slice(0, MAX_WORDS)
  const last = words.pop()
  if (last === undefined) return null
  return [...words.map((word) => `"${word}"`), prefixExpression(last, termsOf(last))].join(' AND ')
}

function prefixExpression(word: string, terms: string[] | null): string {
  if (terms === null) return [...word].length < LEAST_PREFIX_CHARS ? `"${word}"` : `"${word}" *`
  // No word is known, so FTS5 has nothing to collect.
  return terms.length === 0 ? `"${word}" *` : `(${terms.map((term) => `"${term}"`).join(' OR ')})`
}
