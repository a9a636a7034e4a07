import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
import { CHECKPOINT_STATES, readFrames, type CheckpointAnswer, type CheckpointThreadData } from './wal-frames.ts'

/**
 * Copies pages from the write-ahead log into the file, beside whoever writes to the log: a thread, since the copy and its
 * two syncs take as long as many a streamed token. Works when it is told to, and holds the file open only meanwhile.
 */
const { file, state } = workerData as CheckpointThreadData
const { idle, working } = CHECKPOINT_STATES
/** Whoever writes gets ahead while pages are copied: each round has fewer of them. */
const MOST_ROUNDS = 4
const FEW_FRAMES = 64

parentPort!.on('message', () => {
  if (Atomics.compareExchange(state, 0, idle, working) !== idle) return
  let answer: CheckpointAnswer
  try {
    answer = { problem: null, isStuck: !copy() }
  } catch (error) {
    answer = { problem: messageOf(error), isStuck: true }
  }
  Atomics.store(state, 0, idle)
  Atomics.notify(state, 0)
  parentPort!.postMessage(answer)
})

/** Answers whether it got ahead: whoever else reads or copies just now keeps it from that. */
function copy(): boolean {
  const connection = new Sqlite(file, { fileMustExist: true, timeout: 0 })
  try {
    const before = copiedFrames(connection)
    for (let round = 0; round < MOST_ROUNDS && readFrames(connection).waiting > FEW_FRAMES; round++) {
      connection.pragma('wal_checkpoint(PASSIVE)')
    }
    // There are fewer when the log has begun again.
    return copiedFrames(connection) !== before
  } finally {
    connection.close()
  }
}

function copiedFrames(connection: Sqlite.Database): number {
  const { all, waiting } = readFrames(connection)
  return all - waiting
}
