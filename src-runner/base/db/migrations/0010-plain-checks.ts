/**
 * A list of values in a CHECK is filled into a table of its own, each time that a statement is run: with five of them that is
 * half of what it takes to insert a job. The same said with OR is compared in place.
 */
const PLAIN: readonly [list: string, plain: string][] = [
  anyOf('channel', ['chat', 'api', 'webhook', 'schedule', 'telegram', 'discord', 'slack', 'messenger', 'delegation']),
  anyOf('status', ['pending', 'running', 'awaiting_approval', 'awaiting_child', 'completed', 'failed', 'cancelled']),
  anyOf('status', ['completed', 'failed', 'cancelled']),
  noneOf('status', ['pending', 'awaiting_approval', 'awaiting_child']),
]

export const PLAIN_CHECKS = `
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = ${PLAIN.reduce((sql, [list, plain]) => `replace(${sql}, ${quoted(list)}, ${quoted(plain)})`, 'sql')}
  WHERE type = 'table' AND name = 'agent_jobs';
PRAGMA writable_schema = RESET;
`

function anyOf(column: string, values: readonly string[]): [list: string, plain: string] {
  return [`(${column} IN (${listed(values)}))`, `(${values.map((value) => `${column} = '${value}'`).join(' OR ')})`]
}

function noneOf(column: string, values: readonly string[]): [list: string, plain: string] {
  return [`${column} NOT IN (${listed(values)})`, `(${values.map((value) => `${column} <> '${value}'`).join(' AND ')})`]
}

function listed(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ')
}

function quoted(sql: string): string {
  return `'${sql.replaceAll("'", "''")}'`
}
