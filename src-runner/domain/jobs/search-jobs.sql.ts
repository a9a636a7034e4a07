import type { Database, Db } from '../../platform/db/database.ts'
import { transact, type Tx } from '../../platform/db/transact.ts'
import { messageOf } from '../../lib/errors.ts'

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
  /** Indexes all that is left, at once. */
  catchUp(): void
}

/** Long enough for a burst to gather, short enough that nobody looks for a job sooner. */
const GATHER_MS = 250
/** While jobs keep coming this waits for a pause between them, for so long: what makes them has the processor to itself. */
const LONGEST_PUT_OFF_MS = 5000
/** More than a few is worked off in slices: a batch takes as long as a streamed token may be late, a slice a quarter of it. */
const SLICE = 50
const SLICE_EVERY_MS = 50
const BATCH = 250
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
  // A view of the words in the index, which belongs to this connection and is not in the file.
  db.prepare("CREATE VIRTUAL TABLE IF NOT EXISTS temp.job_terms USING fts5vocab ('main', 'job_search', 'instance')").run()

  return {
    added: (tx) => tx.afterCommit(onCommit),
    changed(tx, jobSeq) {
      // In front of the mark it is still to be indexed as it then is.
      tx.prepare('INSERT OR IGNORE INTO search_queue (job_seq) SELECT ? WHERE ? <= (SELECT job_seq FROM search_mark)').run(jobSeq, jobSeq)
      tx.afterCommit(onCommit)
    },
    catchUp() {
      while (indexBatch(BATCH));
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

/** Of what is not indexed yet, so much is looked through with each search. */
const MOST_UNINDEXED = 100
export const UNINDEXED_CHARS = 20_000

/** The newest jobs whose texts are not in the index as they are. */
export function listUnindexed(db: Db): number[] {
  return [...seqsOf(db, NEWEST_ADDED, MOST_UNINDEXED), ...seqsOf(db, NEWEST_LISTED, MOST_UNINDEXED)]
}

const NEWEST_ADDED = 'SELECT seq AS job_seq FROM agent_jobs WHERE seq > (SELECT job_seq FROM search_mark) ORDER BY seq DESC LIMIT ?'
const NEWEST_LISTED = 'SELECT job_seq FROM search_queue ORDER BY job_seq DESC LIMIT ?'

/** FTS5's own notion of a word (unicode61): letters, their diacritics, digits, and private use. */
const WORD = /[\p{L}\p{M}\p{N}\p{Co}]+/gu
const MOST_WORDS = 32

function wordsOf(text: string): string[] {
  return text.match(WORD) ?? []
}

/** As the index has them: without taints and capitals. */
function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

/** The same as the index would say about these texts. */
export function isMatch(texts: readonly string[], typed: string): boolean {
  const wanted = wordsOf(folded(typed)).slice(0, MOST_WORDS)
  const words = new Set(texts.flatMap((text) => wordsOf(folded(text))))
  if (wanted.length === 0) return false
  const last = wanted.pop()!
  return wanted.every((word) => words.has(word)) && [...words].some((word) => word.startsWith(last))
}

/** A beginning that more words have than this is not looked up word by word. */
const MOST_TERMS = 200
/** A shorter beginning of very many words is looked for as a word of its own: it begins a word in nearly every job. */
const LEAST_PREFIX_CHARS = 3

/** The words of the index that begin like this, each found by one look; null: they are too many. */
export function listTerms(db: Db, prefix: string): string[] | null {
  const next = db.prepare<{ term: string }>('SELECT term FROM job_terms WHERE term >= ? LIMIT 1')
  const beginning = folded(prefix)
  const terms: string[] = []
  for (let from = beginning; ;) {
    const term = next.get(from)?.term
    if (term?.startsWith(beginning) !== true) return terms
    if (terms.push(term) > MOST_TERMS) return null
    // The smallest text behind it. No word has a control character in it.
    from = `${term}\u0001`
  }
}

/**
 * What a person typed as an FTS5 expression: every word has to be there, the last one may be the beginning of a word.
 * null when there is nothing to look for. Everything is quoted, so no input is a syntax error or an operator.
 *
 * For a beginning, FTS5 gathers every place of every word that has it before it gives the first one. Named one by one, those
 * words are walked only as far as the page needs.
 */
export function searchExpressionFor(text: string, termsOf: (prefix: string) => string[] | null): string | null {
  const words = wordsOf(text).slice(0, MOST_WORDS)
  const last = words.pop()
  if (last === undefined) return null
  return [...words.map((word) => `"${word}"`), beginningOf(last, termsOf(last))].join(' AND ')
}

function beginningOf(word: string, terms: string[] | null): string {
  if (terms === null) return [...word].length < LEAST_PREFIX_CHARS ? `"${word}"` : `"${word}" *`
  // None that we know of: what FTS5 itself makes of it is quickly said.
  return terms.length === 0 ? `"${word}" *` : `(${terms.map((term) => `"${term}"`).join(' OR ')})`
}
