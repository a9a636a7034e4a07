import { and, eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Approval } from '../../contract/approvals.ts'
import { toMicros } from '../../lib/micros.ts'
import { budgetExtensions } from './budgets-table.ts'

/** `owner`: a job or an agent; empty: all agents. `period`: a day or month; empty: the lifetime of the job. */
export type BudgetKey = Pick<typeof budgetExtensions.$inferSelect, 'scope' | 'owner' | 'period'>

/** Grants the same amount again, for the job or for the rest of the day or month. */
export function extendBudget(tx: Tx, { id, args, budget }: Approval): void {
  const { scope, owner, period } = args as BudgetKey
  const micros = toMicros(budget!.extensionUsd)
  tx.insert(budgetExtensions).values({ approvalId: id, scope, owner, period, micros }).run()
}

const { scope: ofScope, owner: ofOwner, period: ofPeriod } = budgetExtensions
const hasKey = and(eq(ofScope, sql.placeholder('scope')), eq(ofOwner, sql.placeholder('owner')), eq(ofPeriod, sql.placeholder('period')))
const total = { micros: sql<number>`ifnull(sum(micros), 0)` }
const EXTENSION = prepareOnce((db: Db) => db.select(total).from(budgetExtensions).where(hasKey))

export function readExtension(db: Db, key: BudgetKey): number {
  return EXTENSION(db).get(key)!.micros
}
