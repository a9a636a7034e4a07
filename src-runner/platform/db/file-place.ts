import { statSync } from 'node:fs'

/** Which file a name led to when it was opened. */
export type FilePlace = { dev: bigint; ino: bigint }

export function placeOf(file: string): FilePlace {
  const { dev, ino } = statSync(file, { bigint: true })
  return { dev, ino }
}

/**
 * Whether the name still leads to that file. An open file that was removed or replaced can still be written, but is lost when it is
 * closed. Some network disks number no files; there only a missing file is noticed.
 */
export function isInPlace(file: string, { dev, ino }: FilePlace): boolean {
  try {
    const now = statSync(file, { bigint: true, throwIfNoEntry: false })
    return now !== undefined && (ino === 0n || (now.ino === ino && now.dev === dev))
  } catch {
    // The folder cannot be read, which says nothing about the file.
    return true
  }
}
