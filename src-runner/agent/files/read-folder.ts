import { kindOf, type EntryKind } from './held-path.ts'
import type { OpenedFolder } from './open-inside.ts'

/**
 * The first `keep` entries by name, and the counts of all. Holds and sorts only a few times `keep` names at once, so that a folder of a
 * million files costs neither memory nor a pause. `skipped`: how many `mayShow` leaves out, which are in no other count. null: none.
 */
export async function readFolder(
  folder: OpenedFolder,
  keep: number,
  signal: AbortSignal,
  mayShow: ((name: string) => boolean) | null = null,
) {
  const counts: Record<EntryKind, number> = { file: 0, folder: 0, link: 0, pipe: 0, socket: 0, device: 0 }
  const kinds = new Map<string, EntryKind>()
  let names: string[] = []
  let total = 0
  let skipped = 0
  const shrink = () => {
    names.sort()
    for (const name of names.slice(keep)) kinds.delete(name)
    names = names.slice(0, keep)
  }
  for await (const entry of folder.entries()) {
    signal.throwIfAborted()
    if (mayShow?.(entry.name) === false) {
      skipped++
      continue
    }
    const kind = kindOf(entry)
    total++
    counts[kind]++
    names.push(entry.name)
    kinds.set(entry.name, kind)
    if (names.length >= keep + 2_000) shrink()
  }
  shrink()
  return { entries: names.map((name) => ({ name, kind: kinds.get(name)! })), counts, total, skipped }
}

/** Tools enter these folders only if asked to. */
export function isSkippedFolder(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}
