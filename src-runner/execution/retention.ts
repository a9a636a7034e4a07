import { setImmediate } from 'node:timers/promises'
import { commitSoon, transact } from '../platform/db/database.ts'
import { giveBackSpace } from '../platform/db/free-space.ts'
import type { EventHub } from '../platform/events/event-hub.ts'
import { RetentionKind, type Retained } from '../contract/retention.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { firstDueAt, recordRun } from '../domain/settings/periodic-work.ts'
import { readSettings } from '../domain/settings/settings.ts'
import { createRetainedData, type RetainedDataDeps } from './retained-data.ts'

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
 * asked. A pass that was interrupted begins again.
 */
export function createRetention(deps: RetainedDataDeps & { hub: EventHub; clock: Clock }) {
  const { db, hub, clock, log, age } = deps
  const retained = createRetainedData(deps)
  const stops: (() => void)[] = []
  const deleting = new Set<RetentionKind>()
  /** One pass at a time. */
  let working: Promise<void> = Promise.resolve()
  let isPassUnderWay = false
  let isStopped = false
  let isIdle = false
  let nextPassAt = Infinity

  /** What began or ended before it is due. 0: nothing. */
  function dueBefore(days: number | null): number {
    return days === null ? 0 : Math.max(0, age.now() - days * DAY_MS)
  }

  /** Returns whether it got to the end. */
  async function prune(kind: RetentionKind, goesOn: () => boolean): Promise<boolean> {
    const report = createReport(kind)
    try {
      return await retained[kind].prune(dueBefore(readSettings(db).retention[kind]), { report: report.add, goesOn })
    } finally {
      report.end()
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
      if (!isDone) return
      nextPassAt = clock.monotonic() + PASS_EVERY_MS
      await commitSoon(db, (tx) => recordRun(tx, clock, 'pruning'))
    }).finally(() => (isPassUnderWay = false))
  }

  return {
    start(): void {
      nextPassAt = firstDueAt(db, clock, 'pruning', PASS_EVERY_MS)
      stops.push(
        clock.every(LOOK_EVERY_MS, look),
        hub.subscribe(({ type }) => void (isIdle &&= OWN_EVENTS.has(type))),
      )
    },
    /** Resolves when the transaction or deletion under way has ended. */
    stop(): Promise<void> {
      isStopped = true
      for (const stop of stops.splice(0)) stop()
      return working
    },

    /** What there is of a kind, and what would be deleted if it were kept that long. */
    async measure(kind: RetentionKind, days: number | null): Promise<Retained> {
      const isDeleting = deleting.has(kind)
      return { ...(await retained[kind].measure(dueBefore(days))), isDeleting }
    },

    /** Begins to delete what is due. An event says when some of it is gone. */
    deleteDue(kind: RetentionKind): void {
      deleting.add(kind)
      const goesOn = () => !isStopped
      void queue(async () => {
        try {
          await runPass(kind === 'jobs' ? ['jobs', 'contents'] : [kind], goesOn)
        } finally {
          deleting.delete(kind)
        }
      })
      // The page shows that it is done, also when nothing was left to delete.
      void queue(() => commitSoon(db, (tx) => tx.emit({ type: 'retention.deleted', payload: { kind, count: 0 } })))
    },
  }
}
