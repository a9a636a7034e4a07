import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { RunnerConfig } from '../../src-runner/contract/port.ts'

/** Less than a slow disk copies and migrates in a second. */
const BYTES_A_SECOND = 5_000_000
const BACKUP = /^deckhand-\d{8}T\d{6}Z\.db$/

/** The time that a start may need besides, to migrate the database, or to restore a backup: nobody knows yet which, so the largest counts. */
export function extraStartMs({ dataDir, replaceDatabase }: Pick<RunnerConfig, 'dataDir' | 'replaceDatabase'>): number {
  const largest = replaceDatabase ? largestIn(join(dataDir, 'backups'), BACKUP) : largestIn(dataDir, /^deckhand\.db$/)
  return Math.floor(largest / BYTES_A_SECOND) * 1000
}

function largestIn(folder: string, pattern: RegExp): number {
  try {
    const names = readdirSync(folder).filter((name) => pattern.test(name))
    return Math.max(0, ...names.map((name) => statSync(join(folder, name)).size))
  } catch {
    // The runner says what is wrong with it.
    return 0
  }
}
