import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundPlaces } from '../protected-places/find-protected.ts'
import { setAsideWhatAppeared } from '../protected-places/set-aside.ts'

/** What was there before a command. `until`: the command has ended by then. */
type Kept = { until: number; before: (Omit<FoundPlaces, 'places'> & { places: [string, never][] })[] }
const NAME = 'before.json'
const GRACE_MS = 30_000

/** For a later process, in case this one is killed while the command runs. */
export async function keepForRecheck(folder: string, before: readonly FoundPlaces[], timeoutMs: number): Promise<void> {
  const kept = { until: Date.now() + timeoutMs + GRACE_MS, before: before.map((found) => ({ ...found, places: [...found.places] })) }
  await writeFile(join(folder, NAME), JSON.stringify(kept), { mode: 0o600 })
}

/** The recheck that a killed process could not do. Changes after `until` are not the command's. */
export async function recheckLate(folder: string): Promise<void> {
  const text = await readFile(join(folder, NAME), 'utf8').catch(() => null)
  if (text === null) return
  try {
    const { until, before } = JSON.parse(text) as Kept
    for (const found of before) await setAsideWhatAppeared({ ...found, places: new Map(found.places) }, { until })
  } catch (thrown) {
    // Half a file: the command had not been started.
    if (!(thrown instanceof SyntaxError)) throw thrown
  }
}
