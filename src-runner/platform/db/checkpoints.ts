import { Worker } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { isInPlace, type FilePlace } from './file-place.ts'
import { createThreadState, forbidWork, threadFile } from './threads.ts'
import { readFrames, type CheckpointAnswer, type CheckpointThreadData } from './wal-frames.ts'

/**
 * Copies the write-ahead log into the file. SQLite would do this within a commit and block the event loop for the copy and two
 * syncs. Here a thread copies, and the writer copies only the last few pages, so that the log can start again.
 */
export type Checkpoints = {
  /** To be called after each commit. */
  committed(): void
  /** Copies and truncates the log as soon as nobody else reads it. This frees room on a full disk. */
  emptyLog(): void
  /** Returns when the thread has closed the file for good. */
  stop(): void
}

/** From this many pages on, the thread copies. Pages that every commit changes are then copied once instead of each time. */
const ENOUGH_FRAMES = 3000
/** From this many pages on, the writer copies the last few that the thread has left, so that the log can start again. */
const LONG_FRAMES = 6000
const FEW_FRAMES = 256
/** From this many pages on, SQLite itself copies within a commit. */
const MAX_FRAMES = 16_384
const LOOK_EVERY_COMMITS = 32

export function createCheckpoints({
  connection,
  file,
  place,
  log,
  thread: threadUrl = threadFile('checkpoint-thread'),
}: {
  connection: Sqlite.Database
  file: string
  place: FilePlace
  log: Log
  thread?: URL
}): Checkpoints {
  const state = createThreadState()
  let commits = 0
  /** Starts with the first copy. */
  let thread: Worker | null = null
  let isThreadGone = false
  let isBusy = false
  let isEmptying = false
  /** When the thread began to copy. */
  let copiedFrames = 0

  /** Never throws, because the commit before it has succeeded. */
  function look(): void {
    if (isBusy || isThreadGone || !connection.open || !isInPlace(file, place)) return
    try {
      const { all, waiting } = readFrames(connection)
      if (isEmptying && waiting <= FEW_FRAMES) return copyRest()
      if (!isEmptying && waiting < ENOUGH_FRAMES) return
      copiedFrames = all - waiting
      thread ??= startThread()
      isBusy = true
      thread.postMessage(null)
    } catch (error) {
      giveUp(error)
    }
  }

  function startThread(): Worker {
    const started = new Worker(threadUrl, { workerData: { file, place, state } satisfies CheckpointThreadData })
    // The process may end without it, because the log is safe as it is.
    started.unref()
    started.on('message', onAnswer)
    started.on('error', giveUp)
    return started
  }

  function onAnswer({ problem }: CheckpointAnswer): void {
    isBusy = false
    if (!connection.open) return
    if (problem !== null) {
      // Most likely a full disk. The pages are safe in the log, and a later look tries again.
      isEmptying = false
      return log.warn({ file }, `the write-ahead log could not be copied into the file: ${problem}`)
    }
    log.debug({ file }, 'the write-ahead log was copied outside the event loop')
    try {
      const { all, waiting } = readFrames(connection)
      if (waiting <= FEW_FRAMES && (isEmptying || all >= LONG_FRAMES)) copyRest()
      else if (all - waiting !== copiedFrames) look()
      // Another reader of the file prevents it for now.
      else isEmptying = false
    } catch (error) {
      giveUp(error)
    }
  }

  /** The last few pages. A full disk or another reader can prevent this; a later look tries again. */
  function copyRest(): void {
    try {
      connection.pragma(`wal_checkpoint(${isEmptying ? 'TRUNCATE' : 'PASSIVE'})`)
    } catch (error) {
      log.debug({ err: error }, `the rest of the write-ahead log could not be copied: ${messageOf(error)}`)
    }
    isEmptying = false
  }

  /** From then on SQLite copies within commits. */
  function giveUp(error: unknown): void {
    isThreadGone = true
    log.warn({ err: error }, `the write-ahead log is copied without a thread of its own: ${messageOf(error)}`)
    if (connection.open) connection.pragma(`wal_autocheckpoint = ${ENOUGH_FRAMES}`)
  }

  connection.pragma(`wal_autocheckpoint = ${MAX_FRAMES}`)
  return {
    committed() {
      if (++commits % LOOK_EVERY_COMMITS === 0) look()
    },
    emptyLog() {
      isEmptying = true
      // The caller may be in a transaction, where the log cannot be read.
      setImmediate(look)
    },
    stop() {
      if (thread === null || isThreadGone) return
      if (forbidWork(state)) void thread.terminate()
      isThreadGone = true
    },
  }
}
