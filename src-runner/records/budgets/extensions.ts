import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Approval } from '../../contract/approvals.ts'
import { toMicros } from '../micros.ts'

export type BudgetScope = NonNullable<Approval['budget']>['scope']

/** Which purse exactly: the job or the agent (empty: everybody), and the day or month (empty: as long as the job lives). */
export type Purse = { scope: BudgetScope; owner: string; period: string }

/** One tap: the same amount once more, for the job or until the day or month is over. */
export function extendBudget(tx: Tx, { id, args, budget }: Approval): void {
  const { scope, owner, period } = args as Purse
  tx.prepare('INSERT INTO budget_extensions (approval_id, scope, owner, period, micros) VALUES (?, ?, ?, ?, ?)').run(
    id,
    scope,
    owner,
    period,
    toMicros(budget!.extensionUsd),
  )
}

export function readExtension(db: Db, { scope, owner, period }: Purse): number {
  return db
    .prepare<{ micros: number }>(
      'SELECT ifnull(sum(micros), 0) AS micros FROM budget_extensions WHERE scope = ? AND owner = ? AND period = ?',
    )
    .get(scope, owner, period)!.micros
}
