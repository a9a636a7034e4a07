import { lstat } from 'node:fs/promises'
import { foldParts, matchOf, patternsOf } from './path-patterns.ts'
import { PATH_FILES } from './place-lists.ts'
import { readSmallFile } from './small-file.ts'

const PATTERNS = patternsOf(PATH_FILES)
const MAX_BYTES = 256 * 1024

/** Whether Python reads this file when it starts. */
export function isPathFile(path: string): boolean {
  return matchOf(foldParts(path), PATTERNS) !== null
}

/**
 * Whether it names folders only, as pip writes it. Python runs every line that begins with `import` and a space or a tab.
 * https://docs.python.org/3/library/site.html
 */
export async function isPlainPathFile(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null)
  if (stats === null || !stats.isFile() || stats.size > MAX_BYTES) return false
  const text = await readSmallFile(path, MAX_BYTES)
  return (text !== '' || stats.size === 0) && !/import[ \t]/.test(text)
}
