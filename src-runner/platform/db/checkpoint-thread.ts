import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
import { CHECKPOINT_STATES, readFrames, type CheckpointAnswer, type CheckpointThreadData } from './wal-frames.ts'

/** Each message makes this thread copy pages from the write-ahead log into the file. It has the file open only meanwhile. */
const { file, state } = workerData as CheckpointThreadData
const { idle, working } = CHECKPOINT_STATES
/** Commits add pages during a round, and each round has fewer pages to copy. */
const MAX_ROUNDS = 4
const FEW_FRAMES = 64

parentPort!.on('message', () => {
  if (Atomics.compareExchange(state, 0, idle, working) !== idle) return
  let answer: CheckpointAnswer
  try {
    answer = { problem: null, isStuck: !copyPages() }
  } catch (error) {
    answer = { problem: messageOf(error), isStuck: true }
  }
  Atomics.store(state, 0, idle)
  Atomics.notify(state, 0)
  parentPort!.postMessage(answer)
})

/** Returns whether any page was copied. Another reader of the file can prevent that. */
function copyPages(): boolean {
  const connection = new Sqlite(file, { fileMustExist: true, timeout: 0 })
  const copiedFrames = () => {
    const { all, waiting } = readFrames(connection)
    return all - waiting
  }
  try {
    const before = copiedFrames()
    for (let round = 0; round < MAX_ROUNDS && readFrames(connection).waiting > FEW_FRAMES; round++) {
      connection.pragma('wal_checkpoint(PASSIVE)')
    }
    // There are fewer if the log has started again from its beginning.
    return copiedFrames() !== before
  } finally {
    connection.close()
  }
}
