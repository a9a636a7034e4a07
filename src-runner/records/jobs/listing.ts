import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import { JOB_CHANNELS, JOB_STATUSES, type JobChannel, type JobStatus, type JobSummary } from '../../contract/jobs.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { findSeqRange } from './job-quarters.ts'
import { SELECT_SUMMARY, summaryOf, type SummaryRow } from './job-rows.ts'
import { AT_REST, listQueuedAgents } from './queue.ts'
import { searchExpressionFor } from './search.ts'

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

/** Jobs in the order of their arrival, newest first. Throws AppError invalid_request for a foreign cursor. */
export function listJobs(db: Db, filter: JobFilter): JobPage {
  const before = filter.cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(filter.cursor, Position)[0]
  const { rows, nextCursor } = pageOf(findSeqs(db, filter, before), filter.limit, (seq) => [seq])
  const read = db.prepare<SummaryRow>(`${SELECT_SUMMARY} WHERE job.seq = ?`)
  return { jobs: rows.map((seq) => summaryOf(read.get(seq)!)), nextCursor }
}

function findSeqs(db: Db, filter: JobFilter, before: number): number[] {
  const query = seqQueryFor(db, filter, before)
  return query === null
    ? []
    : db
        .prepare<{ seq: number }>(query.sql)
        .all(...query.params)
        .map((row) => row.seq)
}

type Query = { sql: string; params: (string | number)[] }

/**
 * The keys of one page, and one more. Every form walks an index backwards and stops at the limit: several states are
 * as many walks, merged. null: nothing can match.
 */
export function seqQueryFor(db: Db, filter: JobFilter, before: number): Query | null {
  const range = seqRangeFor(db, filter, before)
  if (range === null) return null
  if (filter.q !== undefined && filter.q !== '') return searchQuery(filter, range)
  const arms = armsFor(db, filter).map((arm) => addConditions(arm, filter, range))
  if (arms.length === 0) return null
  return {
    sql: `${arms.map((arm) => arm.sql).join(' UNION ALL ')} ORDER BY seq DESC LIMIT ?`,
    params: [...arms.flatMap((arm) => arm.params), filter.limit + 1],
  }
}

/** Bounds of seq, the first exclusive. */
type SeqRange = { below: number; from: number }
type Arm = Query & { has: Set<'status' | 'agentId' | 'channel' | 'parentJobId'> }

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
  return (statuses ?? JOB_STATUSES).flatMap((status) => {
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
function addConditions(arm: Arm, filter: JobFilter, range: SeqRange): Query {
  const conditions = ['seq < ?', 'seq >= ?']
  const params = [...arm.params, range.below, range.from]
  const add = (condition: string, ...values: (string | number)[]) => {
    conditions.push(condition)
    params.push(...values)
  }
  if (filter.parentJobId !== undefined && !arm.has.has('parentJobId')) add('+parent_job_id = ?', filter.parentJobId)
  if (filter.agentId !== undefined && !arm.has.has('agentId')) add('+agent_id = ?', filter.agentId)
  if (filter.channel !== undefined && !arm.has.has('channel')) add('+channel = ?', filter.channel)
  if (filter.status !== undefined && !arm.has.has('status'))
    add(`+status IN (${filter.status.map(() => '?').join(', ')})`, ...filter.status)
  if (filter.from !== undefined) add('+created_at >= ?', filter.from)
  if (filter.to !== undefined) add('+created_at < ?', filter.to)
  return { sql: `${arm.sql} AND ${conditions.join(' AND ')}`, params }
}

function searchQuery(filter: JobFilter, range: SeqRange): Query | null {
  const expression = searchExpressionFor(filter.q!)
  if (expression === null) return null
  const base: Arm = {
    sql: 'SELECT job.seq FROM job_search CROSS JOIN agent_jobs AS job ON job.seq = job_search.rowid WHERE job_search MATCH ?',
    params: [expression],
    has: new Set(),
  }
  const { sql, params } = addConditions(base, filter, range)
  return {
    sql: `${sql.replace('seq < ? AND seq >= ?', 'job_search.rowid < ? AND job_search.rowid >= ?')} ORDER BY job_search.rowid DESC LIMIT ?`,
    params: [...params, filter.limit + 1],
  }
}

/** A time that was asked for may begin or end within a quarter of an hour: every job is still compared by its own moment. */
function seqRangeFor(db: Db, { from, to }: JobFilter, before: number): SeqRange | null {
  if (from === undefined && to === undefined) return { below: before, from: 0 }
  const found = findSeqRange(db, from ?? 0, to ?? Number.MAX_SAFE_INTEGER)
  return found === null ? null : { below: Math.min(before, found.below), from: found.from }
}
