import { existsSync, fsyncSync, openSync, closeSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from './sync-files.ts'

const TEXT = `A database was created in this folder. If it is missing, Deckhand reports it instead of starting with no data.
To start with no data on purpose, delete this file.
`

/** A small file that says that `file` was created once. It is outside the database, so it survives the loss of it. */
export function usedMarkOf(file: string): string {
  return `${file}.used`
}

export function isMarkedUsed(file: string): boolean {
  return existsSync(usedMarkOf(file))
}

/** On disk when this returns. An empty file says as much, so a full disk does no harm. */
export function markUsed(file: string): void {
  const handle = openSync(usedMarkOf(file), 'w', 0o600)
  try {
    writeSync(handle, TEXT)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  syncFolder(dirname(file))
}
