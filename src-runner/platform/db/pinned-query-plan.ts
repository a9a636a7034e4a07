/**
 * SQLite makes the plan of a statement again for every value that is compared with an indexed column, in case another index
 * were better for this one, when it was built with STAT4, as ours is (sqlite.org/c3ref/prepare.html). That takes ten times
 * as long as most statements themselves, and their plans are pinQueryPlan: tests assert them, and nobody runs ANALYZE. A value
 * behind a plus sign is the same value, of any type (sqlite.org/lang_expr.html#operators), and none that a plan is made for.
 */
const COMPARED = /([=<>]|\b(?:IS|BETWEEN|AND|LIMIT|OFFSET))\s*\?/gi

export function pinQueryPlan(sql: string): string {
  return sql.replace(COMPARED, '$1 +?')
}
