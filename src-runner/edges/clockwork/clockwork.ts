import type { Database } from '../../base/db/database.ts'
import { commitSoon, transact } from '../../base/db/transact.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError, messageOf } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import type { ScheduleStore } from '../../records/schedules/schedule-store.ts'
import type { Alarm } from './alarm.ts'

/** What a look came to: jobs made, due times that wait for the run before them, due times that met a spent budget. */
export type Tick = { fired: number; skipped: number; exhausted: number }

export type Clockwork = {
  /** From now on what comes due is decided. */
  start(): void
  /** Resolves when nothing is being decided any more. */
  stop(): Promise<void>
  /** Looks at everything now. Rejects when the database cannot be written. */
  tick(): Promise<Tick>
  /** The machine was asleep until now: the alarm knows nothing of that time. */
  woke(): void
}

/**
 * The safety net below the one alarm: a clock that was set, a machine that slept, a commit that failed. It is less than
 * the time for which a due time counts as late and not as missed, and it notes what paused schedules would have done.
 */
const LOOK_EVERY_MS = 30_000
/** Wall clock and stopwatch that are further apart than this between two looks: the clock was set or the machine slept. */
const JUMP_MS = 2_000
/** What shares a commit at most. Between two such groups everything else has its turn. */
const GROUP = 256

/** Decides what comes due, at its moment. One alarm for all schedules; the database says what it is set for. */
export function createClockwork({
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
}): Clockwork {
  const stops: (() => void)[] = []
  const freed = new Set<string>()
  let state: 'new' | 'on' | 'stopped' = 'new'
  let looking: Promise<unknown> = Promise.resolve()
  let planned: NodeJS.Immediate | null = null
  /** Not before this, whatever is due: what failed a moment ago would fail again. */
  let restUntil = 0
  let seen = { wall: clock.now(), stopwatch: clock.monotonic() }

  /** One look after the other: two at once would decide the same twice and find it decided. */
  function inTurn<T>(look: () => Promise<T>): Promise<T> {
    const mine = looking.then(look)
    looking = mine.catch(() => {})
    return mine
  }

  /** Everything that is due, in the order of time, each schedule for itself: one that fails keeps no other from running. */
  async function decide(all: boolean): Promise<Tick & { failed: number }> {
    const sum = { fired: 0, skipped: 0, exhausted: 0, failed: 0 }
    const decideGroup = async (group: readonly { id: string }[]) => {
      const results = await Promise.allSettled(group.map(({ id }) => decideOne(id)))
      const failures = results.flatMap((result, i) =>
        result.status === 'rejected' ? [{ id: group[i]!.id, error: result.reason as unknown }] : [],
      )
      // With the file in trouble nothing else can be decided either.
      for (const { error } of failures) if (error instanceof AppError) throw error
      for (const { id, error } of failures)
        log.error({ err: error, scheduleId: id }, `a schedule could not be decided: ${messageOf(error)}`)
      sum.failed += failures.length
      for (const result of results) {
        if (result.status === 'rejected') continue
        sum.fired += result.value.fired
        sum.exhausted += result.value.exhausted
      }
    }
    await decideGroup(schedules.listToResume(db))
    const named = [...freed].map((id) => ({ id }))
    freed.clear()
    await decideGroup(all ? schedules.listFreed(db) : named)
    for (const which of all ? (['running', 'paused'] as const) : (['running'] as const)) {
      let after = { at: -1, seq: 0 }
      for (;;) {
        const group = state === 'stopped' ? [] : schedules.listDue(db, which, after, GROUP)
        if (group.length === 0) break
        await decideGroup(group)
        after = group.at(-1)!
      }
    }
    return { ...sum, skipped: schedules.countWaiting(db) }
  }

  /** All that is due of one schedule; what was missed in a long absence takes several steps. */
  async function decideOne(scheduleId: string): Promise<{ fired: number; exhausted: number }> {
    const sum = { fired: 0, exhausted: 0 }
    for (let more = true; more && state !== 'stopped';) {
      const decision = await commitSoon(db, (tx) => schedules.decide(tx, scheduleId))
      sum.fired += decision.fired ? 1 : 0
      sum.exhausted += decision.exhausted ? 1 : 0
      more = decision.more
    }
    return sum
  }

  async function look(all: boolean): Promise<Tick> {
    restUntil = clock.monotonic() + LOOK_EVERY_MS
    try {
      const { failed, ...tick } = await decide(all)
      if (failed === 0) restUntil = 0
      return tick
    } finally {
      setAlarm()
    }
  }

  function setAlarm(): void {
    if (state !== 'on' || !db.connection.open) return
    const rest = restUntil - clock.monotonic()
    const next = schedules.nextAt(db)
    alarm.set(next === null || rest <= 0 ? next : Math.max(next, clock.now() + rest), () => plan())
  }

  /** Soon, and once for all who ask in this turn. */
  function plan(): void {
    if (state !== 'on') return
    planned ??= setImmediate(() => {
      planned = null
      quietly(false)
    })
  }

  function quietly(all: boolean): void {
    inTurn(() => (state === 'on' ? look(all) : Promise.resolve(null))).catch((error: unknown) => {
      log.warn({ err: error }, `what is due could not be decided yet: ${messageOf(error)}`)
    })
  }

  function watchOver(): void {
    const now = { wall: clock.now(), stopwatch: clock.monotonic() }
    const jump = now.wall - seen.wall - (now.stopwatch - seen.stopwatch)
    if (Math.abs(jump) > JUMP_MS) log.info({ jumpMs: Math.round(jump) }, 'the clock was set or the machine slept')
    seen = now
    quietly(true)
    forgetSome()
  }

  function forgetSome(): void {
    try {
      transact(db, (tx) => schedules.forgetSome(tx))
    } catch (error) {
      log.warn({ err: error }, 'old occurrences could not be removed')
    }
  }

  return {
    start() {
      if (state !== 'new') return
      state = 'on'
      stops.push(
        clock.every(LOOK_EVERY_MS, watchOver),
        schedules.watch({
          changed: plan,
          freed(scheduleId) {
            freed.add(scheduleId)
            plan()
          },
        }),
      )
      quietly(true)
    },
    async stop() {
      if (state === 'on') alarm.set(null, () => {})
      state = 'stopped'
      for (const stop of stops) stop()
      if (planned !== null) clearImmediate(planned)
      planned = null
      await looking
    },
    async tick() {
      // Not started: safe mode, in which nothing is due.
      if (state !== 'on') return { fired: 0, skipped: 0, exhausted: 0 }
      return inTurn(() => look(true))
    },
    woke() {
      if (state === 'on') watchOver()
    },
  }
}
