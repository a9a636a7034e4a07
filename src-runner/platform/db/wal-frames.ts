import type Sqlite from 'better-sqlite3'
import type { FilePlace } from './file-place.ts'
import type { ThreadState } from './threads.ts'

export type CheckpointThreadData = { file: string; place: FilePlace; state: ThreadState }
/** What the thread posts after each copy. */
export type CheckpointAnswer = { problem: string | null }

/** Pages in the write-ahead log, and how many of them are not in the file yet. Reads only the index of the log. */
export function readFrames(connection: Sqlite.Database): { all: number; waiting: number } {
  const [row] = connection.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }]
  const all = Math.max(0, row.log)
  return { all, waiting: all - Math.max(0, row.checkpointed) }
}
