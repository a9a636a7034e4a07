import { and, eq, gte, lt, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { spendAgentBuckets, spendBuckets } from './spend-table.ts'

/** From `since` to before `until`. Both are the start of a 15-minute bucket, as the start of every day is. */
type Span = { since: number; until: number }

const [since, until] = [sql.placeholder('since'), sql.placeholder('until')]
const total = { micros: sql<number>`ifnull(sum(cost_micros), 0)` }

const { agentId, bucketAt } = spendAgentBuckets
const isOfAgent = and(eq(agentId, sql.placeholder('agentId')), gte(bucketAt, since), lt(bucketAt, until))
const OF_AGENT = prepareOnce((db: Db) => db.select(total).from(spendAgentBuckets).where(isOfAgent))

const isInSpan = and(gte(spendBuckets.bucketAt, since), lt(spendBuckets.bucketAt, until))
const OF_ALL = prepareOnce((db: Db) => db.select(total).from(spendBuckets).where(isInSpan))

/** In micro-dollars, like `readSpendOfAll`. */
export function readAgentSpend(db: Db, agentId: string, from: number, to: number): number {
  return OF_AGENT(db).get({ agentId, since: from, until: to })!.micros
}

export function readSpendOfAll(db: Db, span: Span): number {
  return OF_ALL(db).get(span)!.micros
}
