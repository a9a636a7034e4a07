import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { JOB_CHANNELS, JOB_STATUSES, type JobChannel, type JobStatus, type JobSummary } from '../../contract/jobs.ts'
import { decodeCursor, encodeCursor, pageOf } from '../cursors.ts'
import { findSeqRange } from './job-time-buckets.ts'
import { selectSummaries, summaryOf } from './job-rows.ts'
import { jobs } from './jobs-table.ts'
import { AT_REST, listQueuedAgents } from './queue.sql.ts'
import { isMatch, listTerms, listUnindexed, searchExpressionFor, UNINDEXED_CHARS } from './search-jobs.sql.ts'

export type JobFilter = {
  status?: JobStatus[]
  agentId?: string
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

const Position = z.tuple([z.number().int().positive()])

/**
 * So many jobs are looked at for one page. A filter that an index does not hold and that rarely matches would otherwise
 * keep everybody waiting: the page then has fewer jobs than it may, and the next one goes on behind those.
 */
const MOST_LOOKED_AT = 10_000

const SUMMARY_BY_SEQ = prepareOnce((db: Db) => selectSummaries(db).where(eq(jobs.seq, sql.placeholder('seq'))))

/** Jobs in the order of their arrival, newest first. Throws AppError invalid_request for a foreign cursor. */
export function listJobs(db: Db, filter: JobFilter): JobPage {
  const before = filter.cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(filter.cursor, Position)[0]
  const { seqs, lookedTo } = findSeqs(db, filter, before)
  const { rows, nextCursor } = pageOf(seqs, filter.limit, (seq) => [seq])
  return {
    jobs: rows.map((seq) => summaryOf(SUMMARY_BY_SEQ(db).get({ seq })!)),
    nextCursor: nextCursor ?? (lookedTo === null ? null : encodeCursor([lookedTo])),
  }
}

type Query = { sql: string; params: (string | number)[] }

/** The keys of one page, and one more. `lookedTo`: older jobs than this one were not looked at. */
type Found = { seqs: number[]; lookedTo: number | null }

/** Every form walks an index backwards and stops at the limit: several states are as many walks, merged. */
function findSeqs(db: Db, filter: JobFilter, before: number): Found {
  const range = seqRangeFor(db, filter, before)
  if (range === null) return { seqs: [], lookedTo: null }
  const isSearch = filter.q !== undefined && filter.q !== ''
  const arms = isSearch ? searchArms(db, filter.q!) : armsFor(db, filter)
  const found = walk(db, arms, filter, range)
  if (!isSearch) return found
  const unindexed = findUnindexed(db, filter, { ...range, from: found.lookedTo ?? range.from })
  return { ...found, seqs: [...new Set([...found.seqs, ...unindexed])].toSorted((a, b) => b - a).slice(0, filter.limit + 1) }
}

function walk(db: Db, arms: readonly Arm[], filter: JobFilter, whole: SeqRange): Found {
  if (arms.length === 0) return { seqs: [], lookedTo: null }
  const isHeldByIndex = arms.every((arm) => restOf(arm, filter).length === 0)
  const lookedTo = isHeldByIndex ? null : findSeq(db, arms, whole, MOST_LOOKED_AT)
  const range = { below: whole.below, from: lookedTo ?? whole.from }
  const merged = mergeOf(arms, (arm) => within(arm, range, restOf(arm, filter)))
  const seqs = db
    .prepare<{ seq: number }>(`${merged.sql} LIMIT ?`)
    .all(...merged.params, filter.limit + 1)
    .map((row) => row.seq)
  return { seqs, lookedTo }
}

/** So many places from the newest on; null: there are fewer. Reads the index alone. */
function findSeq(db: Db, arms: readonly Arm[], range: SeqRange, place: number): number | null {
  const merged = mergeOf(arms, (arm) => within({ ...arm, sql: arm.bare ?? arm.sql }, range, []))
  const found = db.prepare<{ seq: number }>(`${merged.sql} LIMIT 1 OFFSET ?`).get(...merged.params, place)
  return found?.seq ?? null
}

function mergeOf(arms: readonly Arm[], queryOf: (arm: Arm) => Query): Query {
  const queries = arms.map(queryOf)
  const sql = `${queries.map((query) => query.sql).join(' UNION ALL ')} ORDER BY ${arms[0]!.key ?? 'seq'} DESC`
  return { sql, params: queries.flatMap(({ params }) => params) }
}

/** Bounds of seq, the first exclusive. */
type SeqRange = { below: number; from: number }
/** `key`: by what it is ordered, which is the seq of the job. `bare`: the same walk, without a look at the jobs. */
type Arm = Query & { has: Set<'status' | 'agentId' | 'channel' | 'parentJobId'>; key?: string; bare?: string }
type Condition = { sql: string; params: (string | number)[] }

function armsFor(db: Db, filter: JobFilter): Arm[] {
  const { agentId, channel, parentJobId } = filter
  const statuses = filter.status === undefined ? undefined : [...new Set(filter.status)]
  // Few, whatever else is asked of them.
  if (parentJobId !== undefined) {
    const sql = 'SELECT seq FROM agent_jobs WHERE parent_job_id = ?'
    return [{ sql, params: [parentJobId], has: new Set(['parentJobId'] as const) }]
  }
  if (agentId !== undefined) {
    return (statuses ?? JOB_STATUSES).map((status) => ({
      sql: 'SELECT seq FROM agent_jobs WHERE agent_id = ? AND status = ?',
      params: [agentId, status],
      has: new Set(['agentId', 'status'] as const),
    }))
  }
  const areAll = statuses === undefined || statuses.length === JOB_STATUSES.length
  if (areAll && channel === undefined) return [{ sql: 'SELECT seq FROM agent_jobs WHERE 1', params: [], has: new Set(['status'] as const) }]
  return (statuses ?? JOB_STATUSES).flatMap((status): Arm[] => {
    if (status === 'pending') return queuedArms(db)
    if (status === 'running')
      return [{ sql: "SELECT seq FROM agent_jobs WHERE status = 'running'", params: [], has: new Set(['status'] as const) }]
    return (channel === undefined ? JOB_CHANNELS : [channel]).map((of) => ({
      sql: `SELECT seq FROM agent_jobs WHERE status = ? AND channel = ? AND ${AT_REST}`,
      params: [status, of],
      has: new Set(['status', 'channel'] as const),
    }))
  })
}

/** More walks than this at once would take longer than going through the newest jobs, of which then most are waiting. */
const MOST_QUEUES = 200

function queuedArms(db: Db): Arm[] {
  const agents = listQueuedAgents(db)
  if (agents.length > MOST_QUEUES)
    return [{ sql: "SELECT seq FROM agent_jobs WHERE +status = 'pending'", params: [], has: new Set(['status']) }]
  return agents.map((agentId) => ({
    sql: "SELECT seq FROM agent_jobs WHERE agent_id = ? AND status = 'pending'",
    params: [agentId],
    has: new Set(['status'] as const),
  }))
}

/** What the index of the arm does not hold. The `+` keeps SQLite from choosing another index than the one that gives the order. */
function restOf({ has }: Pick<Arm, 'has'>, filter: JobFilter): Condition[] {
  const { parentJobId, agentId, channel, status, from, to } = filter
  const rest: Condition[] = []
  if (parentJobId !== undefined && !has.has('parentJobId')) rest.push({ sql: '+parent_job_id = ?', params: [parentJobId] })
  if (agentId !== undefined && !has.has('agentId')) rest.push({ sql: '+agent_id = ?', params: [agentId] })
  if (channel !== undefined && !has.has('channel')) rest.push({ sql: '+channel = ?', params: [channel] })
  if (status !== undefined && !has.has('status')) rest.push({ sql: `+status IN (${status.map(() => '?').join(', ')})`, params: status })
  if (from !== undefined) rest.push({ sql: '+created_at >= ?', params: [from] })
  if (to !== undefined) rest.push({ sql: '+created_at < ?', params: [to] })
  return rest
}

function within({ sql, params, key = 'seq' }: Arm, { below, from }: SeqRange, rest: readonly Condition[]): Query {
  const conditions = [`${key} < ?`, `${key} >= ?`, ...rest.map((one) => one.sql)]
  return { sql: `${sql} AND ${conditions.join(' AND ')}`, params: [...params, below, from, ...rest.flatMap((one) => one.params)] }
}

function searchArms(db: Db, q: string): Arm[] {
  const expression = searchExpressionFor(q, (prefix) => listTerms(db, prefix))
  if (expression === null) return []
  const sql = 'SELECT job.seq FROM job_search CROSS JOIN agent_jobs AS job ON job.seq = job_search.rowid WHERE job_search MATCH ?'
  const bare = 'SELECT job_search.rowid AS seq FROM job_search WHERE job_search MATCH ?'
  return [{ sql, params: [expression], has: new Set(), key: 'job_search.rowid', bare }]
}

/** What is not in the full-text index yet, or stands in it as it was before: the newest of it is read as it is. */
function findUnindexed(db: Db, filter: JobFilter, range: SeqRange): number[] {
  const rest = restOf({ has: new Set() }, filter)
  const read = db.prepare<{ title: string; task: string; result: string | null }>(
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

/** A time that was asked for may begin or end within a quarter of an hour: every job is still compared by its own moment. */
function seqRangeFor(db: Db, { from, to }: JobFilter, before: number): SeqRange | null {
  if (from === undefined && to === undefined) return { below: before, from: 0 }
  const found = findSeqRange(db, from ?? 0, to ?? Number.MAX_SAFE_INTEGER)
  return found === null ? null : { below: Math.min(before, found.below), from: found.from }
}
