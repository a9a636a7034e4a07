import type { Database } from '../platform/db/database.ts'
import { readVersions } from '../platform/db/integrity.ts'
import { measureTables } from '../platform/db/read-aside.ts'
import type { Diagnostics } from '../contract/diagnostics.ts'
import type { HealthCheck } from '../contract/doctor.ts'
import { readSettings } from '../domain/settings/settings.ts'

/** See `Diagnostics`: nothing in it may be private. */
export async function collectDiagnostics(db: Database, examine: () => Promise<HealthCheck[]>): Promise<Diagnostics> {
  const [checks, tables] = await Promise.all([examine(), measureTables(db.file)])
  return {
    ...readVersions(db.connection),
    tables,
    settings: withoutTexts(readSettings(db)) as Record<string, unknown>,
    checks: checks.map(({ name, state, finding }) => ({ name, state, finding: finding.code })),
  }
}

/** Choices are single words. An address, a path or a name could be private. */
const CHOICE = /^[a-z_]{1,24}$/

function withoutTexts(value: unknown): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return CHOICE.test(value) ? value : '(set)'
  if (Array.isArray(value)) return `(${value.length})`
  return Object.fromEntries(Object.entries(value as object).map(([key, part]) => [key, withoutTexts(part)]))
}
