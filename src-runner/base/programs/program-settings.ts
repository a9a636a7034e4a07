import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isProgramSetting } from '../protected-places/protected-places.ts'

export type Covered = { path: string; kind: 'file' | 'folder' }

/** Of entries below one folder of programs, and of configuration among them. A folder with more is not shown at all. */
const MAX_ENTRIES = 200_000
const MAX_SETTINGS = 200
/** Looking through the installed programs of a home takes a second or more, and their configuration hardly ever changes. */
const HOLDS_MS = 600_000
const SIDE_BY_SIDE = 32
/** Packages as they were downloaded, in a folder of conda: nothing runs from there. */
const PACKAGE_ARCHIVE = 'pkgs'

type Known = { at: number; settings: Promise<Covered[] | null> }

/** Finds the configuration in folders of programs, at any depth. null: there is too much to look through. */
export function createSettingsFinder(): (places: readonly string[]) => Promise<Covered[] | null> {
  const known = new Map<string, Known>()
  const settingsIn = (place: string) => {
    const found = known.get(place)
    if (found !== undefined && performance.now() - found.at < HOLDS_MS) return found.settings
    const settings = findSettings(place)
    known.set(place, { at: performance.now(), settings })
    return settings
  }
  return async (places) => {
    const all = await Promise.all(places.map(settingsIn))
    return all.includes(null) ? null : all.flatMap((settings) => settings!)
  }
}

async function findSettings(place: string): Promise<Covered[] | null> {
  const found = new Map<string, Covered>()
  const folders = [place]
  let left = MAX_ENTRIES
  for (let at = 0; at < folders.length;) {
    const some = folders.slice(at, at + SIDE_BY_SIDE)
    at += some.length
    const all = await Promise.all(some.map((folder) => readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])))
    for (const [i, folder] of some.entries()) {
      left -= all[i]!.length
      const isConda = all[i]!.some(({ name }) => name === 'conda-meta')
      for (const entry of all[i]!) {
        const path = join(folder, entry.name)
        if (isProgramSetting(relative(place, path)) || (isConda && entry.name === PACKAGE_ARCHIVE)) await cover(path, entry, place, found)
        else if (entry.isDirectory()) folders.push(path)
      }
    }
    if (left < 0 || found.size > MAX_SETTINGS) return null
  }
  return [...found.values()]
}

async function cover(path: string, entry: Dirent, place: string, found: Map<string, Covered>): Promise<void> {
  // An empty file is no XML, and Maven ends there; without the folder it goes by what it has built in.
  if (basename(path).startsWith('settings') && basename(dirname(path)) === 'conf') {
    found.set(dirname(path), { path: dirname(path), kind: 'folder' })
    return
  }
  const real = entry.isSymbolicLink() ? await realpath(path).catch(() => null) : path
  // What a link outside leads to is not shown.
  if (real === null || !real.startsWith(`${place}/`)) return
  found.set(real, { path: real, kind: entry.isDirectory() ? 'folder' : 'file' })
}
