import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { transact, type Database } from '../platform/db/database.ts'
import { giveBackSpace } from '../platform/db/free-space.ts'
import type { EventHub } from '../platform/events/event-hub.ts'
import { deleteLogFiles, listLogFiles } from '../platform/log/old-logs.ts'
import { RetentionKind, type Retained } from '../contract/retention.ts'
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
import { readSettings } from '../domain/settings/settings.ts'
import type { CodeResults } from './coding/code-results.ts'

export type RetentionDeps = {
  db: Database
  hub: EventHub
  clock: Clock
  log: Log
  /** A wrong clock deletes nothing. */
  age: Pick<Clock, 'now'>
  jobs: JobStore
  blobs: Blobs
  codeResults: Pick<CodeResults, 'removeFolder'>
  dataDir: string
}

export type RetentionKeeper = ReturnType<typeof createRetention>

const LOOK_EVERY_MS = 30_000
const PASS_EVERY_MS = 3_600_000
/** Even if the app is never idle. */
const LONGEST_DELAY_MS = 24 * 3_600_000
const DAY_MS = 86_400_000
const REPORT_EVERY = 1000
/** It causes these itself. */
const OWN_EVENTS: ReadonlySet<string> = new Set(['retention.deleted', 'code_task.changed'])

/**
 * Deletes what is older than the time that a person set, in small transactions: once an hour when the app is idle, or at once when
 * asked. Every transaction leaves whole data, so a pass may stop anywhere. The next one begins again.
 */
export function createRetention({ db, hub, clock, log, age, jobs, blobs, codeResults, dataDir }: RetentionDeps) {
  const stops: (() => void)[] = []
  const logsDir = join(dataDir, 'logs')
  const deleting = new Set<RetentionKind>()
  /** One pass at a time. */
  let working: Promise<void> = Promise.resolve()
  let isPassUnderWay = false
  let isStopped = false
  let isIdle = false
  let nextPassAt = clock.monotonic() + PASS_EVERY_MS

  /** What began or ended before it is due. 0: nothing. */
  function dueBefore(days: number | null): number {
    return days === null ? 0 : Math.max(0, age.now() - days * DAY_MS)
  }

  const isNeeded = (since: number) => (mark: string) => isContentNeeded(db, mark, since)

  /** Deletes everything of the kind that is due, unless `goesOn` returns false before. Returns whether it got to the end. */
  async function prune(kind: RetentionKind, goesOn: () => boolean): Promise<boolean> {
    const before = dueBefore(readSettings(db).retention[kind])
    const report = createReport(kind)
    try {
      if (kind === 'contents') {
        const { unneeded, isWhole } = await blobs.sweep({ isNeeded: isNeeded(before), goesOn })
        report.add(unneeded.count)
        return isWhole
      }
      if (before === 0) return true
      if (kind === 'folders') {
        for (const folder of listDueFolders(before)) {
          report.add((await removeFolder(folder)) ? 1 : 0)
          if (!goesOn()) return false
        }
        return true
      }
      if (kind === 'logs') {
        const due = (await listLogFiles(logsDir)).filter(({ isInUse, writtenAt }) => !isInUse && writtenAt < before)
        await deleteLogFiles(due)
        report.add(due.length)
        return true
      }
      const steps = kind === 'jobs' ? pruneJobsBefore(before) : pruneDeliveriesBefore(before)
      for (const deleted of steps) {
        report.add(deleted)
        await setImmediate()
        if (!goesOn()) return false
      }
      return true
    } finally {
      report.end()
    }
  }

  /** A folder that somebody removed by hand is due, too: the repository still knows it. */
  function listDueFolders(before: number): CodeFolder[] {
    return listFinishedFolders(db).filter(({ finishedAt, folder }) => finishedAt < before || !existsSync(folder))
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

  /** One event for many deletions. */
  function createReport(kind: RetentionKind) {
    let [total, unreported] = [0, 0]
    const send = () => {
      const count = unreported
      unreported = 0
      if (count > 0 && !isStopped) transact(db, (tx) => tx.emit({ type: 'retention.deleted', payload: { kind, count } }))
    }
    return {
      add(count: number): void {
        total += count
        unreported += count
        if (unreported >= REPORT_EVERY) send()
      },
      end(): void {
        send()
        if (total > 0) log.info({ kind, total }, 'what was older than its time to keep was deleted')
      },
    }
  }

  async function giveBack(goesOn: () => boolean): Promise<boolean> {
    while (giveBackSpace(db)) {
      await setImmediate()
      if (!goesOn()) return false
    }
    return true
  }

  /** Contents come after jobs, because a deleted job needs none. */
  async function runPass(kinds: readonly RetentionKind[], goesOn: () => boolean): Promise<boolean> {
    for (const kind of kinds) if (!(await prune(kind, goesOn))) return false
    return giveBack(goesOn)
  }

  function queue(work: () => Promise<void>): Promise<void> {
    working = working.then(async () => {
      try {
        if (!isStopped) await work()
      } catch (error) {
        log.warn({ err: error }, `old data could not be deleted this time: ${messageOf(error)}`)
      }
    })
    return working
  }

  function look(): void {
    const wasIdle = isIdle
    isIdle = true
    const now = clock.monotonic()
    const isOverdue = now >= nextPassAt + LONGEST_DELAY_MS
    if (isPassUnderWay || now < nextPassAt || (!wasIdle && !isOverdue) || db.trouble() !== null) return
    isPassUnderWay = true
    void queue(async () => {
      // A pass that was interrupted continues at the next idle moment.
      const isDone = await runPass(RetentionKind.options, () => !isStopped && (isIdle || isOverdue))
      if (isDone) nextPassAt = clock.monotonic() + PASS_EVERY_MS
    }).finally(() => (isPassUnderWay = false))
  }

  return {
    start: () =>
      void stops.push(
        clock.every(LOOK_EVERY_MS, look),
        hub.subscribe(({ type }) => void (isIdle &&= OWN_EVENTS.has(type))),
      ),
    /** Resolves when the transaction or deletion under way has ended. */
    stop(): Promise<void> {
      isStopped = true
      for (const stop of stops.splice(0)) stop()
      return working
    },

    /** What there is of a kind, and what would be deleted if it were kept that long. */
    async measure(kind: RetentionKind, days: number | null): Promise<Retained> {
      const before = dueBefore(days)
      const isDeleting = deleting.has(kind)
      if (kind === 'jobs' || kind === 'deliveries') return { ...(await measureRows(db, kind, before)), isDeleting }
      if (kind === 'contents') {
        const { all, unneeded } = await blobs.sweep({ isNeeded: isNeeded(before), counts: true })
        return { all, due: unneeded, isDeleting }
      }
      if (kind === 'folders') {
        const sum = (some: CodeFolder[]) => ({ count: some.length, bytes: some.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0) })
        return { all: sum(listFinishedFolders(db)), due: sum(before === 0 ? [] : listDueFolders(before)), isDeleting }
      }
      const files = await listLogFiles(logsDir)
      const sum = (some: typeof files) => ({ count: some.length, bytes: some.reduce((bytes, file) => bytes + file.bytes, 0) })
      return { all: sum(files), due: sum(files.filter(({ isInUse, writtenAt }) => !isInUse && writtenAt < before)), isDeleting }
    },

    /** Begins to delete what is due. An event says when some of it is gone. */
    deleteDue(kind: RetentionKind): void {
      deleting.add(kind)
      const goesOn = () => !isStopped
      void queue(async () => void (await runPass(kind === 'jobs' ? ['jobs', 'contents'] : [kind], goesOn))).finally(() => {
        deleting.delete(kind)
        // The page shows that it is done, also when nothing was left to delete.
        if (!isStopped && db.trouble() === null) transact(db, (tx) => tx.emit({ type: 'retention.deleted', payload: { kind, count: 0 } }))
      })
    },
  }
}
