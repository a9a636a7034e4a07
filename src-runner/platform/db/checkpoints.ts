import { Worker } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { threadFile } from './thread-file.ts'
import { CHECKPOINT_STATES, createFrameReader, type CheckpointAnswer, type CheckpointThreadData } from './wal-frames.ts'

/**
 * When the write-ahead log is copied into the file. SQLite would do it within a commit, every so many pages, and the event
 * loop would stand still for the copy and two syncs. Here a thread does it, which is started when the log first has
 * enough of them; whoever writes only brings it to an end, a few pages, so that the log can begin again.
 */
export type Checkpoints = {
  /** There was a commit. */
  committed(): void
  /** Copies all of the log and cuts it back to nothing, as soon as nobody else reads it. On a full disk that makes room. */
  emptyLog(): void
  /** Waits until the thread has let go of the file; from then on it does not touch it. */
  stop(): void
}

/** The log is copied from so many pages on: the pages that everybody writes to are in each commit, and are copied once. */
const ENOUGH_FRAMES = 3000
/** When the log is this long and the thread has copied all but a few, those few are copied in the turn that hears of it. */
const LONG_FRAMES = 6000
const FEW_FRAMES = 256
/** Should nobody copy it, SQLite does, within a commit. */
const MOST_FRAMES = 16_384
const LOOK_EVERY_COMMITS = 32
/** After the thread got nowhere, since somebody else reads the file, so many commits pass before it tries again. */
const REST_COMMITS = 2000
const WAIT_FOR_THREAD_MS = 5000

export function createCheckpoints({
  connection,
  file,
  log,
  thread: threadUrl = threadFile('checkpoint-thread'),
}: {
  connection: Sqlite.Database
  file: string
  log: Log
  thread?: URL
}): Checkpoints {
  const { idle, working, ended } = CHECKPOINT_STATES
  const state = new Int32Array(new SharedArrayBuffer(4))
  const readFrames = createFrameReader(connection)
  let commits = 0
  let nextLook = LOOK_EVERY_COMMITS
  let thread: Worker | 'not yet' | 'gone' = 'not yet'
  let isBusy = false
  let isEmptying = false

  /** What goes wrong here is no matter of the commit that it follows. */
  function look(): void {
    if (isBusy || thread === 'gone') return
    try {
      const { waiting } = readFrames()
      if (isEmptying && waiting <= FEW_FRAMES) return copyRest('TRUNCATE')
      if (waiting < ENOUGH_FRAMES && !isEmptying) return
      if (thread === 'not yet') thread = start()
      isBusy = true
      thread.postMessage(null)
    } catch (error) {
      giveUp(error)
    }
  }

  /** Copies the last few pages, here. On a full disk or beside a reader nothing comes of it, and a later look tries again. */
  function copyRest(mode: 'PASSIVE' | 'TRUNCATE'): void {
    isEmptying = false
    try {
      connection.pragma(`wal_checkpoint(${mode})`)
    } catch (error) {
      log.debug({ err: error }, `the rest of the write-ahead log could not be copied: ${messageOf(error)}`)
    }
  }

  function start(): Worker {
    const started = new Worker(threadUrl, {
      workerData: { file, state } satisfies CheckpointThreadData,
    })
    // The process may end without it: it has nothing that must be kept.
    started.unref()
    started.on('message', heard)
    started.on('error', (error) => giveUp(error))
    return started
  }

  function heard({ problem, isStuck }: CheckpointAnswer): void {
    isBusy = false
    if (!connection.open) return
    if (isStuck || problem !== null) isEmptying = false
    // A full disk, most likely. The pages are safe in the log, and the next look tries again.
    if (problem !== null) return log.warn({ file }, `the write-ahead log could not be copied into the file: ${problem}`)
    if (isStuck) {
      nextLook = commits + REST_COMMITS
      return log.debug({ file }, 'the write-ahead log could not be copied while somebody else reads it')
    }
    log.debug({ file }, 'the write-ahead log was copied beside the event loop')
    try {
      const { all, waiting } = readFrames()
      if (waiting > FEW_FRAMES || isEmptying) look()
      else if (waiting > 0 && all >= LONG_FRAMES) copyRest('PASSIVE')
    } catch (error) {
      giveUp(error)
    }
  }

  /** Without the thread it is as SQLite has it. */
  function giveUp(error: unknown): void {
    thread = 'gone'
    log.warn({ err: error }, `the write-ahead log is copied without a thread of its own: ${messageOf(error)}`)
    if (connection.open) connection.pragma(`wal_autocheckpoint = ${ENOUGH_FRAMES}`)
  }

  connection.pragma(`wal_autocheckpoint = ${MOST_FRAMES}`)
  return {
    committed() {
      if (++commits < nextLook) return
      nextLook = commits + LOOK_EVERY_COMMITS
      look()
    },
    emptyLog() {
      isEmptying = true
      // Whoever asks may be in a transaction, beside which the log cannot be looked at.
      setImmediate(() => connection.open && look())
    },
    stop() {
      if (thread === 'not yet' || thread === 'gone') return
      if (Atomics.compareExchange(state, 0, idle, ended) === working) Atomics.wait(state, 0, working, WAIT_FOR_THREAD_MS)
      Atomics.store(state, 0, ended)
      void thread.terminate()
      thread = 'gone'
    },
  }
}
