import type Sqlite from 'better-sqlite3'

/** What the checkpoint thread is given. `state`: one place, which says whether it holds the file open. */
export type CheckpointThreadData = { file: string; state: Int32Array<SharedArrayBuffer> }
/** `isStuck`: nothing could be copied, and right away nothing could be either. */
export type CheckpointAnswer = { problem: string | null; isStuck: boolean }

/** `ended`: the thread may not open the file any more. */
export const CHECKPOINT_STATES = { idle: 0, working: 1, ended: 2 } as const

type LogRow = { log: number; checkpointed: number }

/** Pages in the write-ahead log, and those of them that are not in the file yet. Reads the log's index, and nothing else. */
export function readFrames(connection: Sqlite.Database): { all: number; waiting: number } {
  return createFrameReader(connection)()
}

/** For many looks by the same connection. */
export function createFrameReader(connection: Sqlite.Database): () => { all: number; waiting: number } {
  const look = connection.prepare<[], LogRow>('PRAGMA wal_checkpoint(NOOP)')
  return () => {
    const row = look.get()!
    const all = Math.max(0, row.log)
    return { all, waiting: all - Math.max(0, row.checkpointed) }
  }
}
