import type Sqlite from 'better-sqlite3'
import type { FilePlace } from './file-place.ts'

/** `state` holds one of CHECKPOINT_STATES. */
export type CheckpointThreadData = { file: string; place: FilePlace; state: Int32Array<SharedArrayBuffer> }
/** What the thread posts after each copy. */
export type CheckpointAnswer = { problem: string | null }

/** `working`: the thread has the file open. `ended`: the thread must not open it again. */
export const CHECKPOINT_STATES = { idle: 0, working: 1, ended: 2 } as const

/** Pages in the write-ahead log, and how many of them are not in the file yet. Reads only the index of the log. */
export function readFrames(connection: Sqlite.Database): { all: number; waiting: number } {
  const [row] = connection.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }]
  const all = Math.max(0, row.log)
  return { all, waiting: all - Math.max(0, row.checkpointed) }
}
