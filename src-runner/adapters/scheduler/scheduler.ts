import { commitSoon, transact } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import { LATE_MS } from '../../domain/schedules/decide-due.ts'
import type { ScheduleStore } from '../../domain/schedules/schedule-store.ts'
import type { Alarm } from './alarm.ts'

/** The schedules of which one check made a job, whose due time waits for the run before it, and whose due time met a spent budget. */
export type Tick = Record<'fired' | 'skipped' | 'exhausted', readonly string[]>

type Sum = { fired: string[]; exhausted: string[]; failed: number }

export type Scheduler = ReturnType<typeof createScheduler>

type SchedulerDeps = Pick<Services, 'db' | 'clock' | 'log'> & { alarm: Alarm; schedules: ScheduleStore }

/**
 * The alarm alone is not enough: the clock may be set, the machine may sleep, a commit may fail. The interval is shorter than
 * the time within which a due time counts as late and not as missed. This check also records what paused schedules would
 * have done.
 */
const CHECK_EVERY_MS = 30_000
/** Schedules decided in one transaction, fewer if they have missed runs. Other work runs between two transactions. */
const BATCH = 256
const BATCH_OF_LATE = 16

/** Decides due times when they come. One alarm serves all schedules; the database says when the next one is due. */
export function createScheduler({ db, clock, alarm, schedules, log }: SchedulerDeps) {
  const stops: (() => void)[] = []
  let state: 'new' | 'on' | 'stopped' = 'new'
  /** Checks run one after the other: two at once would decide the same due times. */
  let running: Promise<unknown> = Promise.resolve()
  /** The check that has not begun yet. It serves all requests until then. */
  let next: { all: boolean; tick: Promise<Tick> } | null = null
  /** Until then, overdue schedules are not decided: they have just failed and would fail again. */
  let retryAt = 0

  function requestCheck(all: boolean): Promise<Tick> {
    if (next !== null) {
      next.all ||= all
      return next.tick
    }
    const tick = running.then(() => {
      const includesPaused = next!.all
      next = null
      // Not started means safe mode, in which nothing is due.
      return state === 'on' ? check(includesPaused) : { fired: [], skipped: [], exhausted: [] }
    })
    next = { all, tick }
    running = tick.catch(() => {})
    return tick
  }

  function check(all: boolean): Promise<Tick> {
    retryAt = clock.monotonic() + CHECK_EVERY_MS
    return decideEverything(all).finally(setAlarm)
  }

  /** For callers that need no result. */
  function checkSoon(all: boolean): void {
    if (state !== 'on') return
    requestCheck(all).catch((error: unknown) => log.warn({ err: error }, `could not decide due schedules yet: ${messageOf(error)}`))
  }

  /** Everything that is due, the oldest due time first. `all`: paused schedules too, whose due times are only recorded. */
  async function decideEverything(all: boolean): Promise<Tick> {
    if (schedules.isClockBehind()) await commitSoon(db, (tx) => schedules.followClockBack(tx))
    const sum: Sum = { fired: [], exhausted: [], failed: 0 }
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
    if (sum.failed === 0) retryAt = 0
    return { fired: sum.fired, skipped: schedules.listWaiting(db), exhausted: sum.exhausted }
  }

  /** Decides all or none. If one fails, each is decided alone, so that it stops no other. */
  async function decideBatch(batch: readonly { id: string }[], sum: Sum): Promise<void> {
    try {
      const ids = new Set(batch.map(({ id }) => id))
      for (const [id, { ran, exhausted }] of await commitSoon(db, (tx) => schedules.decide(tx, [...ids]))) {
        if (ran) sum.fired.push(id)
        if (exhausted) sum.exhausted.push(id)
      }
    } catch (error) {
      // In database trouble, no other schedule can be decided either.
      if (error instanceof AppError) throw error
      if (batch.length > 1) {
        for (const one of batch) await decideBatch([one], sum)
        return
      }
      log.error({ err: error, scheduleId: batch[0]!.id }, `could not decide a schedule: ${messageOf(error)}`)
      sum.failed++
    }
  }

  function setAlarm(): void {
    if (state !== 'on' || !db.connection.open) return
    const now = clock.now()
    const waitMs = retryAt - clock.monotonic()
    const at = waitMs <= 0 ? schedules.nextAt(db) : Math.min(now + waitMs, schedules.nextAt(db, now) ?? Infinity)
    alarm.set(at, () => checkSoon(false))
  }

  return {
    start(): void {
      if (state !== 'new') return
      state = 'on'
      stops.push(
        clock.every(CHECK_EVERY_MS, () => {
          checkSoon(true)
          transact(db, (tx) => schedules.prune(tx))
        }),
        // The database works again.
        db.condition.onChange((trouble) => trouble === null && checkSoon(true)),
        schedules.watch(() => checkSoon(false)),
      )
      checkSoon(true)
    },
    /** Resolves when no decision is in progress. */
    async stop(): Promise<void> {
      if (state === 'on') alarm.set(null, () => {})
      state = 'stopped'
      for (const stop of stops) stop()
      await running
    },
    /** Checks everything now. Rejects if the database cannot be written. */
    tick: () => requestCheck(true),
    /** The machine was asleep until now, and the alarm did not count that time. */
    woke: () => checkSoon(true),
  }
}
