import { existsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from './sync-files.ts'

const TEXT = `A database was created in this folder. If it is missing, Deckhand reports it instead of starting with no data.
To start with no data on purpose, delete this file.
`

/** Says that `file` was created once. It is outside the database, so it survives the loss of the database. */
export const usedMarkOf = (file: string) => `${file}.used`

export const isMarkedUsed = (file: string) => existsSync(usedMarkOf(file))

/** The mark is on disk when this returns. On a full disk it may be empty, which means the same. */
export function markUsed(file: string): void {
  writeFileSync(usedMarkOf(file), TEXT, { mode: 0o600, flush: true })
  syncFolder(dirname(file))
}
