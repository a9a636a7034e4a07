import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Tx } from '../../platform/db/transact.ts'
import type { Approval } from '../../contract/approvals.ts'
import { toMicros } from '../../lib/micros.ts'
import { budgetExtensions } from './budgets-table.ts'

export type BudgetScope = NonNullable<Approval['budget']>['scope']

/** Which budgetKey exactly: the job or the agent (empty: everybody), and the day or month (empty: as long as the job lives). */
export type BudgetKey = { scope: BudgetScope; owner: string; period: string }

/** One tap: the same amount once more, for the job or until the day or month is over. */
export function extendBudget(tx: Tx, { id, args, budget }: Approval): void {
  const { scope, owner, period } = args as BudgetKey
  const micros = toMicros(budget!.extensionUsd)
  tx.insert(budgetExtensions).values({ approvalId: id, scope, owner, period, micros }).run()
}

const EXTENSION = prepareOnce((db: Db) =>
  db
    .select({ micros: sql<number>`ifnull(sum(micros), 0)` })
    .from(budgetExtensions)
    .where(
      and(
        eq(budgetExtensions.scope, sql.placeholder('scope')),
        eq(budgetExtensions.owner, sql.placeholder('owner')),
        eq(budgetExtensions.period, sql.placeholder('period')),
      ),
    ),
)

export function readExtension(db: Db, key: BudgetKey): number {
  return EXTENSION(db).get(key)!.micros
}
