import type { Database } from '../../platform/db/database.ts'
import { commitSoon, transact } from '../../platform/db/transact.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { LATE_MS } from '../../domain/schedules/decide-due.ts'
import type { ScheduleStore } from '../../domain/schedules/schedule-store.ts'
import type { Alarm } from './alarm.ts'

/** What one check did: jobs made, due times that wait for the run before them, due times that met a spent budget. */
export type Tick = { fired: number; skipped: number; exhausted: number }

export type Scheduler = {
  start(): void
  /** Resolves when nothing is being decided any more. */
  stop(): Promise<void>
  /** Checks everything now. Rejects when the database cannot be written. */
  tick(): Promise<Tick>
  /** The machine was asleep until now: the alarm knows nothing of that time. */
  woke(): void
}

/**
 * The safety check behind the one alarm: for a clock that was set, a machine that slept, a commit that failed. It is more
 * frequent than the time within which a due time counts as late and not as missed. It also records what paused schedules
 * would have done.
 */
const CHECK_EVERY_MS = 30_000
/** Schedules decided in one transaction, fewer when they have missed something. Between two, everything else has its turn. */
const BATCH = 256
const BATCH_OF_LATE = 16

/** Decides what comes due, at its moment. One alarm for all schedules; the database says what it is set for. */
export function createScheduler({
  db,
  clock,
  alarm,
  schedules,
  log,
}: {
  db: Database
  clock: Clock
  alarm: Alarm
  schedules: ScheduleStore
  log: Log
}): Scheduler {
  const stops: (() => void)[] = []
  let state: 'new' | 'on' | 'stopped' = 'new'
  /** Checks run one after the other: two at once would decide the same due times. */
  let running: Promise<unknown> = Promise.resolve()
  /** The check that has not begun yet. It serves everybody who asks until then. */
  let next: { all: boolean; tick: Promise<Tick> } | null = null
  /** Until then, what is past due is left alone: it failed a moment ago and would fail again. */
  let restUntil = 0

  function requestCheck(all: boolean): Promise<Tick> {
    if (next !== null) {
      next.all ||= all
      return next.tick
    }
    const tick = running.then(() => {
      const wanted = next!.all
      next = null
      // Not started means safe mode, in which nothing is due.
      return state === 'on' ? check(wanted) : { fired: 0, skipped: 0, exhausted: 0 }
    })
    next = { all, tick }
    running = tick.catch(() => {})
    return tick
  }

  function check(all: boolean): Promise<Tick> {
    restUntil = clock.monotonic() + CHECK_EVERY_MS
    return decideEverything(all).finally(setAlarm)
  }

  /** For callers that wait for no answer. */
  function checkSoon(all: boolean): void {
    if (state !== 'on') return
    requestCheck(all).catch((error: unknown) => log.warn({ err: error }, `due schedules could not be decided yet: ${messageOf(error)}`))
  }

  /** Everything that is due, the oldest due time first. `all`: paused schedules too, whose due times are only recorded. */
  async function decideEverything(all: boolean): Promise<Tick> {
    if (schedules.isClockBehind()) await commitSoon(db, (tx) => schedules.followClockBack(tx))
    const sum = { fired: 0, exhausted: 0, failed: 0 }
    const waiting = [...schedules.listToResume(db), ...schedules.listFreed(db)]
    for (let from = 0; from < waiting.length; from += BATCH) await decideBatch(waiting.slice(from, from + BATCH), sum)
    for (const which of all ? (['running', 'paused'] as const) : (['running'] as const)) {
      let after = { at: -1, seq: 0 }
      for (;;) {
        const due = state === 'stopped' ? [] : schedules.listDue(db, which, after, BATCH)
        if (due.length === 0) break
        const isLate = due[0]!.at < clock.now() - LATE_MS
        const batch = isLate ? due.slice(0, BATCH_OF_LATE) : due
        await decideBatch(batch, sum)
        after = batch.at(-1)!
      }
    }
    if (sum.failed === 0) restUntil = 0
    return { fired: sum.fired, skipped: schedules.countWaiting(db), exhausted: sum.exhausted }
  }

  /** All or none of them. When one fails, each is decided by itself, so that it keeps no other from running. */
  async function decideBatch(batch: readonly { id: string }[], sum: { fired: number; exhausted: number; failed: number }): Promise<void> {
    try {
      const ids = new Set(batch.map(({ id }) => id))
      for (const { fired, exhausted } of (await commitSoon(db, (tx) => schedules.decide(tx, [...ids]))).values()) {
        if (fired) sum.fired++
        if (exhausted) sum.exhausted++
      }
    } catch (error) {
      // With the file in trouble nothing else can be decided either.
      if (error instanceof AppError) throw error
      if (batch.length > 1) {
        for (const one of batch) await decideBatch([one], sum)
        return
      }
      log.error({ err: error, scheduleId: batch[0]!.id }, `a schedule could not be decided: ${messageOf(error)}`)
      sum.failed++
    }
  }

  function setAlarm(): void {
    if (state !== 'on' || !db.connection.open) return
    const now = clock.now()
    const rest = restUntil - clock.monotonic()
    const at = rest <= 0 ? schedules.nextAt(db) : Math.min(now + rest, schedules.nextAt(db, now) ?? Infinity)
    alarm.set(at, () => checkSoon(false))
  }

  function prune(): void {
    try {
      transact(db, (tx) => schedules.prune(tx))
    } catch (error) {
      log.warn({ err: error }, 'old runs could not be deleted from the run history')
    }
  }

  return {
    start() {
      if (state !== 'new') return
      state = 'on'
      stops.push(
        clock.every(CHECK_EVERY_MS, () => {
          checkSoon(true)
          prune()
        }),
        // The database works again.
        db.condition.onChange((trouble) => trouble === null && checkSoon(true)),
        schedules.watch(() => checkSoon(false)),
      )
      checkSoon(true)
    },
    async stop() {
      if (state === 'on') alarm.set(null, () => {})
      state = 'stopped'
      for (const stop of stops) stop()
      await running
    },
    tick: () => requestCheck(true),
    woke: () => checkSoon(true),
  }
}
