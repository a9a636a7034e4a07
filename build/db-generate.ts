// npm run db:generate -- <name>: writes the migration that leads from the newest schema to the *-table.ts files.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { runMigrations } from '../src-runner/platform/db/migrate.ts'
import { MIGRATIONS } from '../src-runner/platform/db/migrations/migrations.ts'
import { digestOf, expectedSchema } from '../src-runner/platform/db/schema-check.ts'
import { finishMigration } from './finish-migration.ts'

const SNAPSHOTS = join(import.meta.dirname, 'drizzle')
const FOLDER = join(import.meta.dirname, '../src-runner/platform/db/migrations')

const [name] = process.argv.slice(2)
if (name === undefined || !/^[a-z0-9-]+$/.test(name)) {
  console.error('Say what changes, in small letters and hyphens: npm run db:generate -- add-agent-colour')
  process.exit(1)
}
const config = join(import.meta.dirname, 'drizzle.config.ts')
const { status } = spawnSync('drizzle-kit', ['generate', '--config', config, '--name', name], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
const draft = readdirSync(SNAPSHOTS).find((file) => file.endsWith('.sql'))
if (draft === undefined) process.exit(0)

const before = new Sqlite(':memory:')
before.function('new_id', () => 'id')
before.function('now_ms', () => 0)
runMigrations(before, MIGRATIONS)
const version = MIGRATIONS.length + 1
const file = `${String(version).padStart(4, '0')}-${name}.ts`
const sql = finishMigration(readFileSync(join(SNAPSHOTS, draft), 'utf8'), before)
writeFileSync(join(FOLDER, file), `export const SQL = \`\n${sql}\`\n`)
rmSync(join(SNAPSHOTS, draft))

const list = join(FOLDER, 'migrations.ts')
const text = readFileSync(list, 'utf8')
  .replace('\n\n/** SQL', `\nimport { SQL as SQL_${version} } from './${file}'\n\n/** SQL`)
  .replace(/,?\s*\]\n\nexport const LATEST/, `, { version: ${version}, sql: SQL_${version} }]\n\nexport const LATEST`)
writeFileSync(list, text)
spawnSync('oxfmt', ['-c', join(import.meta.dirname, 'oxfmt.json'), list])
const check = join(FOLDER, '../schema-check.ts')
const digest = digestOf(expectedSchema([...MIGRATIONS, { version, sql }]))
writeFileSync(check, readFileSync(check, 'utf8').replace(/SCHEMA_DIGEST = '\w*'/, `SCHEMA_DIGEST = '${digest}'`))
console.log(`Wrote ${join(FOLDER, file)}. Read it, add what drizzle-kit does not know, then run the tests of platform/db.`)
