import { eq } from 'drizzle-orm'
import type { Database, Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { DEFAULT_SETTINGS, Settings } from '../../contract/settings.ts'
import type { Clock } from '../../lib/clock.ts'
import { settings } from './settings-table.ts'

const ALL_SETTINGS = prepareOnce((db: Db) => db.select({ key: settings.key, value: settings.value }).from(settings))

/** A setting has its default if it was never changed, or if this version does not accept the stored value. */
export function readSettings(db: Db): Settings {
  const values: Record<string, unknown> = { ...DEFAULT_SETTINGS }
  for (const { key, value } of ALL_SETTINGS(db).all()) {
    const parsed = Settings.shape[key as keyof Settings]?.safeParse(JSON.parse(value))
    if (parsed?.success) values[key] = parsed.data
  }
  return values as Settings
}

/** Keeps the settings in memory until they change. */
export function createSettingsBook(db: Database): { read(): Settings; close(): void } {
  let current: Settings | null = null
  const close = db.onEvents(({ type }) => {
    if (type === 'settings.changed') current = null
  })
  return { read: () => (current ??= readSettings(db)), close }
}

const PAUSE_ALL = prepareOnce((db: Db) => db.select({ value: settings.value }).from(settings).where(eq(settings.key, 'pauseAll')))

export function isAllPaused(db: Db): boolean {
  return PAUSE_ALL(db).get()?.value === 'true'
}

/** Writes only the settings that differ from the current ones. */
export function changeSettings(tx: Tx, { clock }: { clock: Clock }, change: Partial<Settings>): Settings {
  const before = readSettings(tx)
  const keys = (Object.keys(change) as (keyof Settings)[]).filter(
    (key) => change[key] !== undefined && JSON.stringify(change[key]) !== JSON.stringify(before[key]),
  )
  for (const key of keys) {
    const row = { value: JSON.stringify(change[key]), updatedAt: clock.now() }
    tx.insert(settings)
      .values({ key, ...row })
      .onConflictDoUpdate({ target: settings.key, set: row })
      .run()
  }
  if (keys.length > 0) tx.emit({ type: 'settings.changed', payload: { keys } })
  return readSettings(tx)
}
