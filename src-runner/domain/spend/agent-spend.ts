import { and, eq, gte, lt, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { spendAgentBuckets, spendBuckets } from './spend-table.ts'

/** From `since` to before `until`. Both are the start of a 15-minute bucket, as the start of every day is. */
type Span = { since: number; until: number }

const OF_AGENT = prepareOnce((db: Db) =>
  db
    .select({ micros: sql<number>`ifnull(sum(cost_micros), 0)` })
    .from(spendAgentBuckets)
    .where(
      and(
        eq(spendAgentBuckets.agentId, sql.placeholder('agentId')),
        gte(spendAgentBuckets.bucketAt, sql.placeholder('since')),
        lt(spendAgentBuckets.bucketAt, sql.placeholder('until')),
      ),
    ),
)

const OF_ALL = prepareOnce((db: Db) =>
  db
    .select({ micros: sql<number>`ifnull(sum(cost_micros), 0)` })
    .from(spendBuckets)
    .where(and(gte(spendBuckets.bucketAt, sql.placeholder('since')), lt(spendBuckets.bucketAt, sql.placeholder('until')))),
)

/** In micro-dollars, like `readSpendOfAll`. */
export function readAgentSpend(db: Db, agentId: string, since: number, until: number): number {
  return OF_AGENT(db).get({ agentId, since, until })!.micros
}

export function readSpendOfAll(db: Db, span: Span): number {
  return OF_ALL(db).get(span)!.micros
}
