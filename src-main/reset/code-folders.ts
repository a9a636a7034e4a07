import { chmodSync, lstatSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const MAX_FILE_BYTES = 10_000
const LEADS_TO = /^gitdir: (.+[\\/]\.git[\\/]worktrees[\\/](?!\.\.?$)[^\\/\n]+)\n?$/

/**
 * Before the folders of code tasks are deleted: lets the person's repositories forget them, where that is possible, and makes sure
 * that everything in them can be deleted. A hostile program may have worked there, so its `.git` file is trusted only if the
 * repository names the same folder.
 */
export function releaseCodeFolders(dataDir: string): void {
  const code = join(dataDir, 'code')
  for (const name of foldersIn(code)) {
    forget(code, name)
    openAll(join(code, name))
  }
}

function forget(code: string, name: string): void {
  try {
    const entry = LEADS_TO.exec(readSmall(join(code, name, '.git')))?.[1]
    if (entry === undefined || !lstatSync(entry).isDirectory()) return
    const named = readSmall(join(entry, 'gitdir')).replace(/\n$/, '')
    if ([code, realpathSync(code)].some((folder) => named === join(folder, name, '.git'))) rmSync(entry, { recursive: true, force: true })
  } catch {
    // The repository is gone, or read-only. Git forgets the folder by itself after some months.
  }
}

function readSmall(file: string): string {
  const stats = lstatSync(file)
  return stats.isFile() && stats.size <= MAX_FILE_BYTES ? readFileSync(file, 'utf8') : ''
}

/** A folder without permissions cannot be emptied. Follows no links. */
function openAll(folder: string): void {
  try {
    chmodSync(folder, 0o700)
  } catch {
    return
  }
  for (const name of foldersIn(folder)) openAll(join(folder, name))
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}
