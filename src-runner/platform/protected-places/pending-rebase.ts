import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundPlace } from './find-protected.ts'
import { readSmallFile } from './small-file.ts'

const FOLDER = 'rebase-merge'
const TODO = 'git-rebase-todo'
const MAX_TODO_BYTES = 1024 * 1024
/** Git ignores white space before the first word of a line. */
const COMMAND = /^[ \t]*(?:exec|x)(?:[ \t].*)?$/gm

/** What `git rebase --continue` would run in a repository; null: nothing. */
export async function findPendingRebase(repository: string): Promise<FoundPlace | null> {
  const [folder, todo] = [join(repository, FOLDER), join(repository, FOLDER, TODO)]
  const around = await lstat(folder, { bigint: true }).catch(() => null)
  if (around === null) return null
  // Git makes a folder, so a link is somebody else's.
  if (around.isSymbolicLink()) return { path: folder, is: 'rebase', kind: 'link', identity: `${around.dev}:${around.ino}` }
  const stats = await lstat(todo, { bigint: true }).catch(() => null)
  if (stats === null) return null
  const place = (kind: FoundPlace['kind'], commands: readonly string[]): FoundPlace => ({
    path: todo,
    is: 'rebase',
    kind,
    identity: [`${stats.dev}:${stats.ino}`, ...commands].join('\n'),
  })
  if (!stats.isFile() || stats.size > MAX_TODO_BYTES) return place(stats.isFile() ? 'file' : 'other', [`unknown since ${stats.ctimeNs}`])
  const commands = (await readSmallFile(todo, MAX_TODO_BYTES)).match(COMMAND)
  return commands === null ? null : place('file', commands)
}

/** Whether it would run nothing that it would not have run before: git takes away the lines that are done. */
export function runsNothingNew(now: FoundPlace, before: FoundPlace | undefined): boolean {
  const known = new Set(before === undefined ? [] : commandsOf(before))
  return now.kind === 'file' && commandsOf(now).every((command) => known.has(command))
}

function commandsOf({ identity }: FoundPlace): string[] {
  return identity.split('\n').slice(1)
}
