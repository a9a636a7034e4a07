import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isInside } from '../../../platform/protected-places/places-by-path.ts'
import { markOf } from '../../files/file-state.ts'
import type { ToolFacts } from '../tool.ts'
import { shellLineOf } from './quote-command.ts'

type Found = NonNullable<ToolFacts['found']>

/** Larger files, and those outside of the folder, are identified by size, inode and ctime. No script is that large. */
const READ_BYTES = 8 * 1024 * 1024
const READ_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
/** Separates the words of a shell line, and an option from its value. */
const BETWEEN_WORDS = /[\s;&|()<>"'`=,]+/
/** On Windows, the path of a server. Elsewhere it is another spelling of a local path, which then counts as not named. */
const OF_SERVER = /^[\\/]{2}/

/** Limits for a command that names many folders. */
const MAX_FOLDERS = 16
const MAX_LOOKS = 20_000

export type NamedIn = {
  program: string | null
  folder: string
  /** The sandbox hides files outside of the folder. Without it they are bound as well. */
  sandboxed: boolean
}

/**
 * The files that a command names, each with a mark that changes with its content: the program, and every argument that is a
 * file, since an interpreter would run it. Also those named as seen from a folder that the command names: `cd sub && ./build.sh`.
 * A link on the way has an entry of its own. Files that a program picks itself (a Makefile, package.json) are not included:
 * such a command runs what is in its folder, inside the sandbox. Nor are files of servers: to look at one contacts a server that the
 * command chose, before anybody has decided.
 */
export async function findNamedFiles(command: readonly string[], { program, folder, sandboxed }: NamedIn): Promise<Found> {
  const all = new Set([...(program === null ? [] : [program]), ...command, ...wordsIn(command)])
  const words = [...all].filter((word) => !OF_SERVER.test(word))
  const folders = [folder]
  const most = Math.min(MAX_FOLDERS, Math.ceil(MAX_LOOKS / words.length))
  const isBound = (path: string) => !sandboxed || isInside(folder, path)
  const found = new Map<string, string>()
  // Grows during the search.
  for (const from of folders) {
    const paths = words.map((word) => resolve(from, word)).filter((path) => path !== folder && isBound(path))
    for (const path of new Set(paths)) {
      const named = await lookAt(path, folder)
      if (named === null) continue
      const { real, mark } = named
      if (real !== path) found.set(path, `leads to ${real}`)
      if (!isBound(real)) continue
      if (mark !== null) found.set(real, mark)
      else if (folders.length < most && !folders.includes(real)) folders.push(real)
    }
  }
  return [...found].map(([path, mark]) => ({ path, mark })).sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Also in `--script=//server/share/build.py`. */
export function namesServer(word: string): boolean {
  return word.split(BETWEEN_WORDS).some((part) => OF_SERVER.test(part))
}

/** Finds `--script=build.py`, and what a shell would read. */
function wordsIn(command: readonly string[]): string[] {
  const texts = [...command.slice(1), shellLineOf(command) ?? '']
  return texts.flatMap((text) => text.split(BETWEEN_WORDS)).filter((word) => word !== '')
}

/** `mark` null: a folder. null: neither a file nor a folder, or nothing that can be read, and so cannot run either. */
async function lookAt(path: string, folder: string): Promise<{ real: string; mark: string | null } | null> {
  try {
    const real = await realpath(path)
    const stats = await lstat(real, { bigint: true })
    if (stats.isDirectory()) return { real, mark: null }
    if (!stats.isFile()) return null
    return { real, mark: isInside(folder, real) ? await markOfFile(real) : markOfStats(stats) }
  } catch {
    return null
  }
}

async function markOfFile(real: string): Promise<string> {
  const handle = await open(real, READ_ONLY)
  try {
    const stats = await handle.stat({ bigint: true })
    return stats.isFile() && stats.size <= READ_BYTES ? markOf(await handle.readFile()) : markOfStats(stats)
  } finally {
    await handle.close()
  }
}

/** A program can set mtime, but not ctime. */
function markOfStats({ size, ino, ctimeNs }: BigIntStats): string {
  return `large:${size}:${ino}:${ctimeNs}`
}
