import type { Database, Statement } from '../base/db/database.ts'
import { settled } from '../base/db/settled-sql.ts'

export type QueryPlan = { sql: string; plan: string[] }

/** Every statement that is run while `act` runs, with the plan that SQLite has for it. */
export function plansOf(db: Database, act: () => void): QueryPlan[] {
  const used = new Set<string>()
  const { prepare, connection } = db
  const spy = <Row>(sql: string): Statement<Row> => {
    used.add(sql)
    return prepare<Row>(sql)
  }
  db.prepare = spy
  try {
    act()
  } finally {
    db.prepare = prepare
  }
  return [...used]
    .filter((sql) => /^\s*(SELECT|WITH|UPDATE|DELETE|INSERT)/i.test(sql))
    .map((sql) => ({
      sql,
      plan: connection
        .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${settled(sql)}`)
        .all(...bindings(sql))
        .map((row) => row.detail),
    }))
}

/** A plan does not depend on values, but every place needs one. */
function bindings(sql: string): number[] {
  return Array.from(
    { length: new Set(sql.match(/\?\d*/g) ?? []).size === 1 && sql.includes('?1') ? 1 : (sql.match(/\?/g) ?? []).length },
    () => 1,
  )
}
