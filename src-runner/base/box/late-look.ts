import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundPlaces } from '../protected-places/find-protected.ts'
import { setAsideWhatAppeared } from '../protected-places/set-aside.ts'

/** What was there before a command, for whoever has to look after it when this process dies. `until`: it has ended by then. */
type Kept = { until: number; before: (Omit<FoundPlaces, 'places'> & { places: [string, never][] })[] }
const NAME = 'before.json'
/** To end a command takes a moment, and so does its start. */
const GRACE_MS = 30_000

/** In a temporary folder of this process, where a sweep after its death finds it. */
export async function keepForLateLook(folder: string, before: readonly FoundPlaces[], timeoutMs: number): Promise<void> {
  const kept = { until: Date.now() + timeoutMs + GRACE_MS, before: before.map((found) => ({ ...found, places: [...found.places] })) }
  await writeFile(join(folder, NAME), JSON.stringify(kept), { mode: 0o600 })
}

/** The look that a killed process did not take. What was changed after the command's time is somebody else's. */
export async function lookLate(folder: string): Promise<void> {
  const text = await readFile(join(folder, NAME), 'utf8').catch(() => null)
  if (text === null) return
  try {
    const { until, before } = JSON.parse(text) as Kept
    for (const found of before) await setAsideWhatAppeared({ ...found, places: new Map(found.places) }, until)
  } catch (thrown) {
    // Half of a file: the command had not been started.
    if (!(thrown instanceof SyntaxError)) throw thrown
  }
}
