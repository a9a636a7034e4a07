import type { EntryKind, OpenedFolder } from './open-inside.ts'
import { kindOf } from './open-inside.ts'

export type FolderContents = {
  /** The first entries in the order of their names; never more than asked for. */
  entries: { name: string; kind: EntryKind }[]
  /** All of them, counted by kind, also those left out of `entries`. */
  counts: Record<EntryKind, number>
  total: number
}

/**
 * The first `keep` entries by name, out of however many there are. Only a few times `keep` are ever held or sorted
 * at once, so that a folder of a million files takes neither memory nor a noticeable pause.
 */
export async function readFolder(folder: OpenedFolder, keep: number, signal: AbortSignal): Promise<FolderContents> {
  const counts: FolderContents['counts'] = { file: 0, folder: 0, link: 0, pipe: 0, socket: 0, device: 0 }
  const kinds = new Map<string, EntryKind>()
  let names: string[] = []
  let total = 0
  const shrink = () => {
    names.sort()
    for (const name of names.slice(keep)) kinds.delete(name)
    names = names.slice(0, keep)
  }
  for await (const entry of folder.entries()) {
    signal.throwIfAborted()
    const kind = kindOf(entry)
    total++
    counts[kind]++
    names.push(entry.name)
    kinds.set(entry.name, kind)
    if (names.length >= keep + 2_000) shrink()
  }
  shrink()
  return { entries: names.map((name) => ({ name, kind: kinds.get(name)! })), counts, total }
}

/** Folders that tools do not enter on their own: there is much in them, and hardly ever what is looked for. */
export function isSkippedFolder(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}
