import type Sqlite from 'better-sqlite3'

const MAX_LINE_CHARS = 140

/**
 * Finishes what drizzle-kit writes. drizzle-kit knows neither STRICT nor WITHOUT ROWID. For each change of a CHECK it creates
 * the table again, without its triggers, and copies columns that did not exist. `before` has the schema before this migration.
 */
export function finishMigration(generated: string, before: Sqlite.Database): string {
  const plain = generated
    .replaceAll('--> statement-breakpoint', '')
    .replace(/^PRAGMA foreign_keys=(ON|OFF);\n*/gm, '')
    .replace(/CONSTRAINT "(?:[^"])*" CHECK/g, 'CHECK ')
    .replace(/ ON (UPDATE|DELETE) no action/g, '')
    .replace(/"__new_\w+"\."(\w+)"/g, '$1')
    .replaceAll('\t', '  ')
    .replace(/[`"]/g, '')
    .replace(
      /^(CREATE TABLE (?:__new_)?(\w+) \([\s\S]*?^\));/gm,
      (_, table: string, name: string) => `${joinShortLines(table)} ${optionsOf(before, name)};`,
    )
    .replace(/^INSERT INTO __new_(\w+)\((.+)\) SELECT .+;/gm, (_, name: string, columns: string) => {
      const kept = columnsOf(before, name)
        .filter((column) => columns.split(', ').includes(column))
        .join(', ')
      return `INSERT INTO __new_${name} (${kept}) SELECT ${kept} FROM ${name};`
    })
  const remade = [...plain.matchAll(/^ALTER TABLE __new_(\w+) RENAME TO/gm)].map(([, name]) => name)
  const triggers = before
    .prepare<[], { tbl_name: string; sql: string }>("SELECT tbl_name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all()
    .filter(({ tbl_name: table }) => remade.includes(table))
  return [plain.trim(), ...triggers.map(({ sql }) => `${sql};`), ''].join('\n').replace(/\n{3,}/g, '\n\n')
}

/** drizzle-kit gives each column and constraint a line of its own. */
function joinShortLines(table: string): string {
  const isConstraint = (line: string) => /^  (CHECK|FOREIGN KEY|PRIMARY KEY)/.test(line)
  const lines: string[] = []
  for (const line of table.split('\n')) {
    const last = lines.at(-1) ?? ''
    const joined = `${last} ${line.trim()}`
    const isJoinable = last.startsWith('  ') && line.startsWith('  ') && isConstraint(last) === isConstraint(line)
    if (isJoinable && joined.length <= MAX_LINE_CHARS) lines.splice(-1, 1, joined)
    else lines.push(line)
  }
  return lines.join('\n')
}

function columnsOf(before: Sqlite.Database, table: string): string[] {
  return before.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table)
}

function optionsOf(before: Sqlite.Database, table: string): string {
  const found = before.prepare<[string], { wr: number }>('SELECT wr FROM pragma_table_list WHERE name = ?').get(table)
  return found?.wr === 1 ? 'STRICT, WITHOUT ROWID' : 'STRICT'
}
