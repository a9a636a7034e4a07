import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const MAX_DEPTH = 2
const MAX_LOOKED_AT = 1_000

/** The Git repositories among some folders and up to two levels below them, the nearest first. Looks at a bounded number of folders. */
export async function findRepositories(folders: readonly string[]): Promise<string[]> {
  const found: string[] = []
  let level = [...folders]
  for (let [depth, left] = [0, MAX_LOOKED_AT]; level.length > 0 && left > 0; depth++) {
    level = level.slice(0, left)
    left -= level.length
    const isOne = await Promise.all(level.map((folder) => lstat(join(folder, '.git')).then((stats) => stats.isDirectory(), () => false))) // prettier-ignore
    found.push(...level.filter((_, at) => isOne[at]))
    level = depth === MAX_DEPTH ? [] : (await Promise.all(level.map(foldersIn))).flat()
  }
  return [...new Set(found)]
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
  return names.map(({ name }) => join(folder, name)).toSorted()
}
