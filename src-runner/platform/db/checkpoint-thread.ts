import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
import { isInPlace } from './file-place.ts'
import { beginWork, endWork } from './threads.ts'
import { readFrames, type CheckpointAnswer, type CheckpointThreadData } from './wal-frames.ts'

/** Each message makes this thread copy pages from the write-ahead log into the file. It opens the file only for this. */
const { file, place, state } = workerData as CheckpointThreadData
/** Commits add pages during a round, and each round has fewer pages to copy. */
const MAX_ROUNDS = 4
const FEW_FRAMES = 64

parentPort!.on('message', () => {
  if (!beginWork(state)) return
  let problem: string | null = null
  try {
    copyPages()
  } catch (error) {
    problem = messageOf(error)
  }
  endWork(state)
  parentPort!.postMessage({ problem } satisfies CheckpointAnswer)
})

function copyPages(): void {
  // The log would go into a file to which it does not belong.
  if (!isInPlace(file, place)) throw new Error('another file is in its place')
  const connection = new Sqlite(file, { fileMustExist: true, timeout: 0 })
  try {
    for (let round = 0; round < MAX_ROUNDS && readFrames(connection).waiting > FEW_FRAMES; round++) {
      connection.pragma('wal_checkpoint(PASSIVE)')
    }
  } finally {
    connection.close()
  }
}
