import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, sep } from 'node:path'
import { isProgramSetting } from '../protected-places/places-by-path.ts'
import type { HiddenPlace } from '../sandbox/sandbox-types.ts'

const MAX_ENTRIES = 200_000
const MAX_SETTINGS = 200
/** A search takes a second or more, and configuration hardly ever changes. */
const CACHED_MS = 600_000
const SIDE_BY_SIDE = 32

const cache = new Map<string, { at: number; settings: Promise<HiddenPlace[] | null> }>()

/** Finds configuration files in a folder of programs, at any depth; null: the folder is too large to search. */
export function findSettings(place: string): Promise<HiddenPlace[] | null> {
  const known = cache.get(place)
  if (known !== undefined && performance.now() - known.at < CACHED_MS) return known.settings
  const settings = searchSettings(place)
  cache.set(place, { at: performance.now(), settings })
  return settings
}

async function searchSettings(place: string): Promise<HiddenPlace[] | null> {
  const found = new Map<string, HiddenPlace>()
  const folders = [place]
  let entryCount = 0
  while (folders.length > 0) {
    const some = folders.splice(0, SIDE_BY_SIDE)
    const all = await Promise.all(some.map((folder) => readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])))
    for (const [i, folder] of some.entries()) {
      const entries = all[i]!
      entryCount += entries.length
      const isConda = entries.some(({ name }) => name === 'conda-meta')
      for (const entry of entries) {
        // Not `join` and `relative`: for the 100,000 entries of a toolchain they cost more than reading the folders.
        const path = `${folder}${sep}${entry.name}`
        // conda keeps its downloaded packages in `pkgs`; nothing runs from there.
        const isSetting = isProgramSetting(path.slice(place.length + 1)) || (isConda && entry.name === 'pkgs')
        if (isSetting) for (const one of await coverOf(path, entry, place)) found.set(one.path, one)
        else if (entry.isDirectory()) folders.push(path)
      }
    }
    if (entryCount > MAX_ENTRIES || found.size > MAX_SETTINGS) return null
  }
  return [...found.values()]
}

async function coverOf(path: string, entry: Dirent, place: string): Promise<HiddenPlace[]> {
  // Maven fails on an empty settings.xml, but uses its defaults without the folder.
  if (basename(path).startsWith('settings') && basename(dirname(path)) === 'conf') return [{ path: dirname(path), kind: 'folder' }]
  const real = entry.isSymbolicLink() ? await realpath(path).catch(() => null) : path
  // The target of a link to elsewhere is not shown anyway.
  if (real === null || !real.startsWith(`${place}/`)) return []
  return [{ path: real, kind: entry.isDirectory() ? 'folder' : 'file' }]
}
