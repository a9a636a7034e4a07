import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { RUNNER_FOLDERS } from '../../src-runner/contract/data-folder.ts'
import type { DataAmount, DataSize } from '../contract/desktop-api.ts'

/** Everything that Deckhand makes in its data folder. What else is there belongs to somebody else. */
const OWN_FILES = [
  /^deckhand\.db([-.].*)?$/,
  /^auth\.db([-.].*)?$/,
  /^settings\.json.*$/,
  /^window\.json.*$/,
  /^updates\.json.*$/,
  /^vault-(file|keychain)\.json.*$/,
  /^vault-file\.key.*$/,
  /^certificate\.pem.*$/,
  /^browser-link\.json$/,
]
const OWN_FOLDERS: readonly string[] = [...RUNNER_FOLDERS, 'cache', 'window']
export const BACKUPS = 'backups'
/** Chromium's lock, which says that this app runs. */
const IN_USE = /^(Singleton.*|lockfile)$/
const RESET_REQUEST = 'reset.json'

/** The file that requests a reset. The next start carries it out. */
export const requestOf = (dataDir: string): string => join(dataDir, RESET_REQUEST)
export const isResetPending = (dataDir: string): boolean => existsSync(requestOf(dataDir))

/** The paths that a reset deletes, in this order: what opens the rest comes last. */
export function listOwnFiles(dataDir: string, { keepsBackups }: { keepsBackups: boolean }): string[] {
  const names = namesIn(dataDir)
  const folders = [...OWN_FOLDERS, ...(keepsBackups ? [] : [BACKUPS])]
  return [
    ...folders.filter((name) => name !== 'window' && names.includes(name)),
    ...namesIn(join(dataDir, 'window'))
      .filter((name) => !IN_USE.test(name))
      .map((name) => join('window', name)),
    ...names.filter((name) => OWN_FILES.some((pattern) => pattern.test(name))),
  ].map((name) => join(dataDir, name))
}

/** What a reset deletes, and what it leaves in the folder because it is not Deckhand's. */
export function measureData(dataDir: string): DataSize {
  const backups = join(dataDir, BACKUPS)
  const isOwn = (name: string) => OWN_FILES.some((pattern) => pattern.test(name)) || [...OWN_FOLDERS, BACKUPS, RESET_REQUEST].includes(name)
  return {
    data: sumUp(listOwnFiles(dataDir, { keepsBackups: true })),
    backups: sumUp([backups]),
    leftAlone: namesIn(dataDir)
      .filter((name) => !isOwn(name))
      .slice(0, 20),
  }
}

/** Does not follow links, as deleting does not. */
function sumUp(paths: readonly string[]): DataAmount {
  const total = { files: 0, bytes: 0 }
  const left = [...paths]
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isDirectory() === true) left.push(...namesIn(path).map((name) => join(path, name)))
    else if (found !== undefined) Object.assign(total, { files: total.files + 1, bytes: total.bytes + found.size })
  }
  return total
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
