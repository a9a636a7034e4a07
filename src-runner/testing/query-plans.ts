import type { Database } from '../platform/db/database.ts'
import { pinQueryPlan } from '../platform/db/statements.ts'

export type QueryPlan = { sql: string; plan: string[] }

/** Every statement that `act` runs, with its query plan. */
export function plansOf(db: Database, act: () => void): QueryPlan[] {
  const used = new Set<string>()
  db.statements.listen((sql) => used.add(sql))
  try {
    act()
  } finally {
    db.statements.listen(null)
  }
  return [...used]
    .filter((sql) => /^\s*(SELECT|WITH|UPDATE|DELETE|INSERT)/i.test(sql))
    .map((sql) => ({
      sql,
      plan: db.connection
        .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${pinQueryPlan(sql)}`)
        .all(...bindings(sql))
        .map((row) => row.detail),
    }))
}

/** A plan does not depend on values, but every parameter needs one. */
function bindings(sql: string): unknown[] {
  const names = sql.match(/@\w+/g)?.map((name) => [name.slice(1), 1]) ?? []
  if (names.length > 0) return [Object.fromEntries(names)]
  return Array.from(
    { length: new Set(sql.match(/\?\d*/g) ?? []).size === 1 && sql.includes('?1') ? 1 : (sql.match(/\?/g) ?? []).length },
    () => 1,
  )
}
