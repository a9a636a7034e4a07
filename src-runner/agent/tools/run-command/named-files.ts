import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isInside } from '../../../platform/protected-places/protected-places.ts'
import { markOf } from '../../files/file-state.ts'
import type { ToolFacts } from '../tool.ts'
import { shellLineOf } from './quote-command.ts'

type Found = NonNullable<ToolFacts['found']>

/** Larger files are identified by size, inode and ctime. No script is that large. */
const READ_BYTES = 8 * 1024 * 1024
const READ_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
/** Separates the words of a shell line, and an option from its value. */
const BETWEEN_WORDS = /[\s;&|()<>"'`=,]+/

/**
 * The files in the working folder that a command names, with a digest of their content: the program, and every argument
 * that is a file, since an interpreter would run it. Files that a program picks itself (a Makefile, package.json) are not
 * included: such a command runs what is in its folder, inside the sandbox.
 */
export async function findNamedFiles(command: readonly string[], program: string | null, folder: string): Promise<Found> {
  const named = [...command, ...wordsIn(command)].map((word) => resolve(folder, word))
  const paths = new Set((program === null ? named : [program, ...named]).filter((path) => path !== folder && isInside(folder, path)))
  const found = new Map<string, string>()
  for (const path of paths) {
    const file = await findMark(path, folder)
    if (file !== null) found.set(file.path, file.mark)
  }
  return [...found].map(([path, mark]) => ({ path, mark })).sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Finds `--script=build.py`, and what a shell would read. */
function wordsIn(command: readonly string[]): string[] {
  const texts = [...command.slice(1), shellLineOf(command) ?? '']
  return texts.flatMap((text) => text.split(BETWEEN_WORDS)).filter((word) => word !== '')
}

async function findMark(path: string, folder: string): Promise<{ path: string; mark: string } | null> {
  try {
    const real = await realpath(path)
    if (!isInside(folder, real)) return null
    const handle = await open(real, READ_ONLY)
    try {
      const stats = await handle.stat({ bigint: true })
      if (!stats.isFile()) return null
      // A program can set mtime, but not ctime.
      if (stats.size > READ_BYTES) return { path: real, mark: `large:${stats.size}:${stats.ino}:${stats.ctimeNs}` }
      return { path: real, mark: markOf(await handle.readFile()) }
    } finally {
      await handle.close()
    }
  } catch {
    // What cannot be read cannot run either.
    return null
  }
}
