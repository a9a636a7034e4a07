import type { Database } from '../../base/db/database.ts'
import { commitSoon, transact } from '../../base/db/transact.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError, messageOf } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import type { Decision } from '../../records/schedules/deciding.ts'
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
/** So many schedules are decided in one piece at most. Between two pieces everything else has its turn. */
const BATCH = 256

type Counts = { fired: number; exhausted: number; failed: number }

function countsOf({ fired, exhausted }: Decision): Counts {
  return { fired: fired ? 1 : 0, exhausted: exhausted ? 1 : 0, failed: 0 }
}

function add(sum: Counts, more: Counts): void {
  sum.fired += more.fired
  sum.exhausted += more.exhausted
  sum.failed += more.failed
}

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
  let asked = { waits: false, all: false }
  /** Until then what is past is left alone: it failed a moment ago and would fail again. */
  let restUntil = 0
  let seen = { wall: clock.now(), stopwatch: clock.monotonic() }

  /** One look after the other: two at once would decide the same twice and find it decided. */
  function inTurn<T>(look: () => Promise<T>): Promise<T> {
    const mine = looking.then(look)
    looking = mine.catch(() => {})
    return mine
  }

  /** Everything that is due, in the order of time. A schedule that fails keeps no other from running. */
  async function decide(all: boolean): Promise<Tick & { failed: number }> {
    const sum = { fired: 0, exhausted: 0, failed: 0 }
    const decideThese = async (due: readonly { id: string }[]) => {
      for (let from = 0; from < due.length; from += BATCH) add(sum, await decideBatch(due.slice(from, from + BATCH)))
    }
    await decideThese(schedules.listToResume(db))
    const named = [...freed].map((id) => ({ id }))
    freed.clear()
    await decideThese(all ? schedules.listFreed(db) : named)
    for (const which of all ? (['running', 'paused'] as const) : (['running'] as const)) {
      let after = { at: -1, seq: 0 }
      for (;;) {
        const page = state === 'stopped' ? [] : schedules.listDue(db, which, after, BATCH)
        if (page.length === 0) break
        await decideThese(page)
        after = page.at(-1)!
      }
    }
    return { ...sum, skipped: schedules.countWaiting(db) }
  }

  /** In one savepoint: one for each costs as much as deciding does. When one of them fails, each by itself. */
  async function decideBatch(batch: readonly { id: string }[]): Promise<Counts> {
    const sum = { fired: 0, exhausted: 0, failed: 0 }
    let unfinished = batch
    try {
      const decisions = await commitSoon(db, (tx) => batch.map(({ id }) => schedules.decide(tx, id)))
      for (const decision of decisions) add(sum, countsOf(decision))
      unfinished = batch.filter((_, i) => decisions[i]!.more)
    } catch (error) {
      // With the file in trouble nothing else can be decided either.
      if (error instanceof AppError) throw error
    }
    for (const { id } of unfinished) add(sum, await decideOne(id))
    return sum
  }

  /** What was missed in a long absence takes several steps. */
  async function decideOne(scheduleId: string): Promise<Counts> {
    const sum = { fired: 0, exhausted: 0, failed: 0 }
    try {
      for (let more = true; more && state !== 'stopped';) {
        const decision = await commitSoon(db, (tx) => schedules.decide(tx, scheduleId))
        add(sum, countsOf(decision))
        more = decision.more
      }
    } catch (error) {
      if (error instanceof AppError) throw error
      log.error({ err: error, scheduleId }, `a schedule could not be decided: ${messageOf(error)}`)
      sum.failed++
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
    const now = clock.now()
    const rest = restUntil - clock.monotonic()
    const next = rest <= 0 ? schedules.nextAt(db) : Math.min(now + rest, schedules.nextAt(db, now) ?? Infinity)
    alarm.set(next, plan)
  }

  /** Soon, and once for all who ask in this turn. */
  function plan(): void {
    if (state !== 'on') return
    planned ??= setImmediate(() => {
      planned = null
      quietly(false)
    })
  }

  /** By itself, so what goes wrong is only logged. Whoever asks before its turn has come is served by the same look. */
  function quietly(all: boolean): void {
    asked.all ||= all
    if (asked.waits) return
    asked.waits = true
    inTurn(async () => {
      const wanted = asked.all
      asked = { waits: false, all: false }
      if (state === 'on') await look(wanted)
    }).catch((error: unknown) => log.warn({ err: error }, `what is due could not be decided yet: ${messageOf(error)}`))
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
