import type { Database, Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import { DEFAULT_SETTINGS, Settings } from '../../contract/settings.ts'
import type { Clock } from '../../kit/clock.ts'

/** A setting that was never changed, or whose stored value this version does not know, has its default. */
export function readSettings(db: Db): Settings {
  const settings: Record<string, unknown> = { ...DEFAULT_SETTINGS }
  for (const { key, value } of db.prepare<{ key: string; value: string }>('SELECT key, value FROM settings').all()) {
    const shape = Settings.shape[key as keyof Settings]
    const parsed = shape?.safeParse(JSON.parse(value))
    if (parsed?.success) settings[key] = parsed.data
  }
  return settings as Settings
}

/** The settings as they are, read again only after a change: for those who ask with every job. */
export function createSettingsBook(db: Database): { read(): Settings; close(): void } {
  let settings: Settings | null = null
  const close = db.onEvents(({ type }) => {
    if (type === 'settings.changed') settings = null
  })
  return { read: () => (settings ??= readSettings(db)), close }
}

/** One setting, for those who ask it thousands of times in a row. */
export function isBrakeOn(db: Db): boolean {
  return db.prepare("SELECT 1 FROM settings WHERE key = 'brake' AND value = 'true'").get() !== undefined
}

/** Changes what is given and differs. */
export function changeSettings(tx: Tx, { clock }: { clock: Clock }, change: Partial<Settings>): Settings {
  const before = readSettings(tx)
  const keys = (Object.keys(change) as (keyof Settings)[]).filter(
    (key) => change[key] !== undefined && JSON.stringify(change[key]) !== JSON.stringify(before[key]),
  )
  for (const key of keys) {
    tx.prepare(
      'INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at',
    ).run(key, JSON.stringify(change[key]), clock.now())
  }
  if (keys.length > 0) tx.emit({ type: 'settings.changed', payload: { keys } })
  return readSettings(tx)
}
