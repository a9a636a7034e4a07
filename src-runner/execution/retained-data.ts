import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { transact, type Database } from '../platform/db/database.ts'
import { hasReplacedData } from '../platform/db/replacement.ts'
import { deleteLogFiles, listLogFiles, type LogFile } from '../platform/log/old-logs.ts'
import type { Amount, RetentionKind } from '../contract/retention.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { listFinishedFolders, type CodeFolder } from '../domain/code-tasks/code-folders.sql.ts'
import type { Blobs } from '../domain/files/blobs.ts'
import { isContentNeeded } from '../domain/files/kept-contents.sql.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import { measureRows } from '../domain/retention/measure.sql.ts'
import { pruneDeliveries } from '../domain/retention/prune-deliveries.ts'
import { pruneConversation, pruneJobs, START } from '../domain/retention/prune-jobs.sql.ts'
import type { CodeResults } from './coding/code-results.ts'

export type RetainedDataDeps = {
  db: Database
  log: Log
  /** A wrong clock deletes nothing. */
  age: Pick<Clock, 'now'>
  jobs: JobStore
  blobs: Blobs
  codeResults: Pick<CodeResults, 'removeFolder'>
  dataDir: string
}

type Pruning = {
  /** Hears how many were deleted, again and again. */
  report(count: number): void
  goesOn(): boolean
}

/**
 * Due is what began or ended before a moment. 0: nothing, except contents that no change needs. Those stay while replaced data, which
 * may need them, lies beside the database.
 */
type RetainedKind = {
  measure(before: number): Promise<{ all: Amount; due: Amount }>
  /** Deletes what is due, unless `goesOn` returns false before. Returns whether it got to the end. */
  prune(before: number, pruning: Pruning): Promise<boolean>
}

/** What can be deleted after a time. Every transaction leaves whole data, so deleting may stop anywhere. */
export function createRetainedData(deps: RetainedDataDeps): Record<RetentionKind, RetainedKind> {
  const { db, log, age, jobs, blobs, codeResults } = deps
  const logsDir = join(deps.dataDir, 'logs')

  function* pruneJobsBefore(before: number): Generator<number> {
    while (transact(db, (tx) => pruneConversation(tx, { jobs, before }))) yield 0
    for (let after: typeof START | null = START; after !== null;) {
      const done = transact(db, (tx) => pruneJobs(tx, { before, now: age.now(), after: after! }))
      after = done.next
      yield done.deleted
    }
  }

  function* pruneDeliveriesBefore(before: number): Generator<number> {
    for (let afterSeq: number | null = 0; afterSeq !== null;) {
      const done = transact(db, (tx) => pruneDeliveries(tx, { before, afterSeq: afterSeq! }))
      afterSeq = done.next
      yield done.deleted
    }
  }

  function isNeeded(since: number): (mark: string) => boolean {
    const sparesUnknown = hasReplacedData(db.file)
    return (mark) => isContentNeeded(db, mark, since) || (sparesUnknown && !isContentNeeded(db, mark, 0))
  }

  /** A folder that somebody removed by hand is due, too: the repository still knows it. */
  function isFolderDue({ finishedAt, folder }: CodeFolder, before: number): boolean {
    return before > 0 && (finishedAt < before || !existsSync(folder))
  }

  /** Returns whether it is gone. One with work that no branch can keep stays, and so do those of a repository that is gone. */
  async function removeFolder({ jobId, folder }: CodeFolder): Promise<boolean> {
    try {
      await codeResults.removeFolder(jobId)
      return true
    } catch (error) {
      log.info({ jobId, folder, err: error }, `the folder of a code task was kept: ${messageOf(error)}`)
      return false
    }
  }

  return {
    jobs: {
      measure: (before) => measureRows(db, 'jobs', before),
      prune: (before, pruning) => pruneRows(before === 0 ? [] : pruneJobsBefore(before), pruning),
    },
    deliveries: {
      measure: (before) => measureRows(db, 'deliveries', before),
      prune: (before, pruning) => pruneRows(before === 0 ? [] : pruneDeliveriesBefore(before), pruning),
    },
    folders: {
      async measure(before) {
        const all = listFinishedFolders(db)
        const sum = (some: CodeFolder[]) => sumOf(some.map(({ sizeBytes }) => sizeBytes))
        return { all: sum(all), due: sum(all.filter((one) => isFolderDue(one, before))) }
      },
      async prune(before, { report, goesOn }) {
        for (const folder of listFinishedFolders(db).filter((one) => isFolderDue(one, before))) {
          report((await removeFolder(folder)) ? 1 : 0)
          if (!goesOn()) return false
        }
        return true
      },
    },
    contents: {
      async measure(before) {
        const { all, unneeded } = await blobs.sweep({ isNeeded: isNeeded(before), counts: true })
        return { all, due: unneeded }
      },
      async prune(before, { report, goesOn }) {
        const { unneeded, isWhole } = await blobs.sweep({ isNeeded: isNeeded(before), goesOn })
        report(unneeded.count)
        return isWhole
      },
    },
    logs: {
      async measure(before) {
        const all = await listLogFiles(logsDir)
        const sum = (some: LogFile[]) => sumOf(some.map(({ bytes }) => bytes))
        return { all: sum(all), due: sum(all.filter((file) => isLogDue(file, before))) }
      },
      async prune(before, { report }) {
        const due = (await listLogFiles(logsDir)).filter((file) => isLogDue(file, before))
        await deleteLogFiles(due)
        report(due.length)
        return true
      },
    },
  }
}

/** `steps`: each yields how many it has deleted. */
async function pruneRows(steps: Iterable<number>, { report, goesOn }: Pruning): Promise<boolean> {
  for (const deleted of steps) {
    report(deleted)
    await setImmediate()
    if (!goesOn()) return false
  }
  return true
}

function isLogDue({ isInUse, writtenAt }: LogFile, before: number): boolean {
  return !isInUse && writtenAt < before
}

function sumOf(sizes: readonly number[]): Amount {
  return { count: sizes.length, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) }
}
