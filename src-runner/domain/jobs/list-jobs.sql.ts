import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { JOB_CHANNELS, JOB_STATUSES, type JobChannel, type JobStatus, type JobSummary } from '../../contract/jobs.ts'
import { decodeSeqCursor, encodeCursor, pageOf } from '../cursors.ts'
import { findSeqRange } from './job-time-buckets.ts'
import { selectSummaries, summaryOf } from './job-rows.ts'
import { agents } from '../agents/agents-table.ts'
import { jobs, type jobTexts } from './jobs-table.ts'
import { AT_REST, listQueuedAgents } from './queue.sql.ts'
import { isMatch, listTerms, listUnindexed, searchExpressionFor, UNINDEXED_CHARS } from './search-jobs.sql.ts'

export type JobFilter = {
  status?: JobStatus[]
  agentId?: string
  /** Only the jobs of this workspace. */
  entityId?: string | undefined
  channel?: JobChannel
  parentJobId?: string
  /** Created at or after. */
  from?: number
  /** Created before. */
  to?: number
  /** Words in title, task or result. */
  q?: string
  cursor?: string
  limit: number
}

export type JobPage = { jobs: JobSummary[]; nextCursor: string | null }

/**
 * Jobs examined for one page. A rare filter that no index covers would otherwise block everything else: the page may then be
 * shorter than its limit, and the next one continues where it stopped.
 */
const MAX_EXAMINED = 5_000

const SUMMARY_BY_SEQ = prepareOnce((db: Db) => selectSummaries(db).where(eq(jobs.seq, sql.placeholder('seq'))))

/** Jobs in the order of their arrival, newest first. Throws AppError invalid_request for a wrong cursor. */
export function listJobs(db: Db, filter: JobFilter): JobPage {
  const { seqs, examinedTo } = findSeqs(db, filter, decodeSeqCursor(filter.cursor))
  const { rows, nextCursor } = pageOf(seqs, filter.limit, (seq) => [seq])
  return {
    jobs: rows.map((seq) => summaryOf(SUMMARY_BY_SEQ(db).get({ seq })!)),
    nextCursor: nextCursor ?? (examinedTo === null ? null : encodeCursor([examinedTo])),
  }
}

type Query = { sql: string; params: (string | number)[] }
type SeqRow = Pick<typeof jobs.$inferSelect, 'seq'>

/** The seqs of one page, and one more. `examinedTo`: no job older than this was examined; null: all were. */
type Found = { seqs: number[]; examinedTo: number | null }
/** `from` is inclusive, `below` exclusive. */
type SeqRange = { below: number; from: number }
/**
 * A walk backwards along one index. `covers`: the filters that the index applies. `key`: the column of the order, which is the
 * seq of the job. `indexOnly`: the same walk without reading the jobs.
 */
type Scan = Query & { covers: readonly ('status' | 'agentId' | 'entityId' | 'channel' | 'parentJobId')[]; key?: string; indexOnly?: string }

function findSeqs(db: Db, filter: JobFilter, before: number): Found {
  const range = seqRangeFor(db, filter, before)
  if (range === null) return { seqs: [], examinedTo: null }
  if (!filter.q) return runScans(db, scansFor(db, filter), filter, range)
  const found = runScans(db, searchScans(db, filter.q), filter, range)
  const unindexed = findUnindexed(db, filter, { ...range, from: found.examinedTo ?? range.from })
  return { ...found, seqs: [...new Set([...found.seqs, ...unindexed])].toSorted((a, b) => b - a).slice(0, filter.limit + 1) }
}

/** Merges the scans, which each stop at the limit. */
function runScans(db: Db, scans: readonly Scan[], filter: JobFilter, range: SeqRange): Found {
  if (scans.length === 0) return { seqs: [], examinedTo: null }
  const areCovered = scans.every((scan) => uncoveredBy(scan, filter).length === 0)
  const examinedTo = areCovered ? null : findNthSeq(db, scans, range, MAX_EXAMINED)
  const examined = { below: range.below, from: examinedTo ?? range.from }
  const merged = merge(scans, (scan) => restrict(scan, examined, uncoveredBy(scan, filter)))
  const rows = db.prepare<SeqRow>(`${merged.sql} LIMIT ?`).all(...merged.params, filter.limit + 1)
  return { seqs: rows.map(({ seq }) => seq), examinedTo }
}

/** The seq at this place, counted from the newest, or null if there are fewer. Reads only the indexes. */
function findNthSeq(db: Db, scans: readonly Scan[], range: SeqRange, place: number): number | null {
  const merged = merge(scans, (scan) => restrict({ ...scan, sql: scan.indexOnly ?? scan.sql }, range, []))
  return db.prepare<SeqRow>(`${merged.sql} LIMIT 1 OFFSET ?`).get(...merged.params, place)?.seq ?? null
}

function merge(scans: readonly Scan[], queryOf: (scan: Scan) => Query): Query {
  const queries = scans.map(queryOf)
  const sql = `${queries.map((query) => query.sql).join(' UNION ALL ')} ORDER BY ${scans[0]!.key ?? 'seq'} DESC`
  return { sql, params: queries.flatMap(({ params }) => params) }
}

function scansFor(db: Db, { agentId, entityId, channel, parentJobId, status }: JobFilter): Scan[] {
  const scan = (condition: string, params: string[], ...covers: Scan['covers']): Scan => ({
    sql: `SELECT seq FROM agent_jobs WHERE ${condition}`,
    params,
    covers,
  })
  const statuses = [...new Set(status ?? JOB_STATUSES)]
  // A job has few children, so this comes before every other filter.
  if (parentJobId !== undefined) return [scan('parent_job_id = ?', [parentJobId], 'parentJobId')]
  const scansOf = (agent: string, ...also: Scan['covers']) =>
    statuses.map((one) => scan('agent_id = ? AND status = ?', [agent, one], 'agentId', 'status', ...also))
  if (agentId !== undefined) return scansOf(agentId)
  if (entityId !== undefined) {
    const own = AGENTS_OF(db).all({ entityId })
    return own.length > MAX_AGENTS ? [scan('1', [])] : own.flatMap(({ id }) => scansOf(id, 'entityId'))
  }
  if (statuses.length === JOB_STATUSES.length && channel === undefined) return [scan('1', [], 'status')]
  return statuses.flatMap((one) => {
    if (one === 'running') return [scan("status = 'running'", [], 'status')]
    if (one !== 'pending')
      return (channel === undefined ? JOB_CHANNELS : [channel]).map((of) =>
        scan(`status = ? AND channel = ? AND ${AT_REST}`, [one, of], 'status', 'channel'),
      )
    const queues = listQueuedAgents(db)
    if (queues.length > MAX_QUEUES) return [scan("+status = 'pending'", [], 'status')]
    return queues.map((agent) => scan("agent_id = ? AND status = 'pending'", [agent], 'status'))
  })
}

/** With more queues than this, walking through the newest jobs is faster: then most of them are pending. */
const MAX_QUEUES = 200

/** A workspace with more agents, deleted ones included, walks through the jobs of all: SQLite merges up to 500 scans. */
const MAX_AGENTS = 70
const AGENTS_OF = prepareOnce((db: Db) =>
  db
    .select({ id: agents.id })
    .from(agents)
    .where(eq(agents.entityId, sql.placeholder('entityId'))),
)

/** The plus sign keeps SQLite from choosing another index than the one that gives the order. */
function uncoveredBy({ covers }: Pick<Scan, 'covers'>, filter: JobFilter): Query[] {
  const { parentJobId, agentId, entityId, channel, status, from, to } = filter
  const rest: Query[] = []
  if (parentJobId !== undefined && !covers.includes('parentJobId')) rest.push({ sql: '+parent_job_id = ?', params: [parentJobId] })
  if (agentId !== undefined && !covers.includes('agentId')) rest.push({ sql: '+agent_id = ?', params: [agentId] })
  if (entityId !== undefined && !covers.includes('entityId')) rest.push({ sql: '+entity_id = ?', params: [entityId] })
  if (channel !== undefined && !covers.includes('channel')) rest.push({ sql: '+channel = ?', params: [channel] })
  if (status !== undefined && !covers.includes('status'))
    rest.push({ sql: `+status IN (${status.map(() => '?').join(', ')})`, params: status })
  if (from !== undefined) rest.push({ sql: '+created_at >= ?', params: [from] })
  if (to !== undefined) rest.push({ sql: '+created_at < ?', params: [to] })
  return rest
}

function restrict({ sql, params, key = 'seq' }: Scan, { below, from }: SeqRange, rest: readonly Query[]): Query {
  const conditions = [`${key} < ?`, `${key} >= ?`, ...rest.map((one) => one.sql)]
  return { sql: `${sql} AND ${conditions.join(' AND ')}`, params: [...params, below, from, ...rest.flatMap((one) => one.params)] }
}

function searchScans(db: Db, q: string): Scan[] {
  const expression = searchExpressionFor(q, (prefix) => listTerms(db, prefix))
  if (expression === null) return []
  const sql = 'SELECT job.seq FROM job_search CROSS JOIN agent_jobs AS job ON job.seq = job_search.rowid WHERE job_search MATCH ?'
  const indexOnly = 'SELECT job_search.rowid AS seq FROM job_search WHERE job_search MATCH ?'
  return [{ sql, params: [expression], covers: [], key: 'job_search.rowid', indexOnly }]
}

/** Matches among the newest jobs whose texts are not in the index, or have changed since. */
function findUnindexed(db: Db, filter: JobFilter, range: SeqRange): number[] {
  const rest = uncoveredBy({ covers: [] }, filter)
  const read = db.prepare<Pick<typeof jobs.$inferSelect, 'title'> & Pick<typeof jobTexts.$inferSelect, 'task' | 'result'>>(
    `SELECT job.title, substr(texts.task, 1, ${UNINDEXED_CHARS}) AS task, substr(texts.result, 1, ${UNINDEXED_CHARS}) AS result
     FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq
     WHERE ${['job.seq = ?', ...rest.map((one) => one.sql)].join(' AND ')}`,
  )
  const params = rest.flatMap((one) => one.params)
  return listUnindexed(db).filter((seq) => {
    if (seq >= range.below || seq < range.from) return false
    const texts = read.get(seq, ...params)
    return texts !== undefined && isMatch([texts.title, texts.task, texts.result ?? ''], filter.q!)
  })
}

/** The range may contain jobs of up to 15 minutes more at both ends, so each job is still compared by its own time. */
function seqRangeFor(db: Db, { from, to }: JobFilter, before: number): SeqRange | null {
  if (from === undefined && to === undefined) return { below: before, from: 0 }
  const found = findSeqRange(db, from ?? 0, to ?? Number.MAX_SAFE_INTEGER)
  return found === null ? null : { below: Math.min(before, found.below), from: found.from }
}
