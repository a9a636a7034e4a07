import type { Database } from '../../base/db/database.ts'
import { commitSoon, transact } from '../../base/db/transact.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError, messageOf } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import { LATE_MS, type Decision } from '../../records/schedules/deciding.ts'
import type { ScheduleStore } from '../../records/schedules/schedule-store.ts'
import type { Alarm } from './alarm.ts'

/** What a look came to: jobs made, due times that wait for the run before them, due times that met a spent budget. */
export type Tick = { fired: number; skipped: number; exhausted: number }

export type Clockwork = {
  /** From now on what comes due is decided. */
  start(): void
  /** Resolves when nothing is being decided any more. */
  stop(): Promise<void>
  /**
   * Looks at everything now, until nothing is left. Who asks while that is going on shares its answer, which counts all that
   * was due by then. Rejects when the database cannot be written.
   */
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
/**
 * So many schedules are decided in one piece at most, fewer when they have missed something, and so many due times of each.
 * Between two pieces everything else has its turn.
 */
const BATCH = 256
const BATCH_OF_LATE = 64
const TIMES_AT_ONCE = 20
/** After so much time with what was missed long ago, those that are due now come first again. */
const CATCHING_UP_MS = 200

/** `at`: the oldest of its due times, when that is known. */
type Due = { id: string; at?: number }
/** `isBehind`: something is left for the next look. */
type Look = Tick & { failed: number; isBehind: boolean }
/** `isOpen`: others may share it. `isAsked`: somebody did since its present look began. */
type Asking = { isOpen: boolean; isAsked: boolean }

function count(sum: Look, { fired, exhausted }: Decision): void {
  if (fired) sum.fired++
  if (exhausted) sum.exhausted++
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
  /** What is not decided to the end, for as many looks as that takes. */
  const behind = new Set<string>()
  let state: 'new' | 'on' | 'stopped' = 'new'
  let looking: Promise<unknown> = Promise.resolve()
  let planned: NodeJS.Immediate | null = null
  let asked = { waits: false, all: false }
  let shared: (Asking & { tick: Promise<Tick> }) | null = null
  /** Until then what is past is left alone: it failed a moment ago and would fail again. */
  let restUntil = 0
  let seen = { wall: clock.now(), stopwatch: clock.monotonic() }

  /** The database works again. */
  function goOn(): void {
    restUntil = 0
    quietly(true)
  }

  /** One look after the other: two at once would decide the same twice and find it decided. */
  function inTurn<T>(look: () => Promise<T>): Promise<T> {
    const mine = looking.then(look)
    looking = mine.catch(() => {})
    return mine
  }

  /**
   * Everything that is due, in the order of time. A schedule that fails keeps no other from running, and what was missed in
   * a long absence waits for those that are on time.
   */
  async function decide(all: boolean): Promise<Look> {
    if (schedules.isClockBehind()) await turnBack()
    const sum: Look = { fired: 0, exhausted: 0, skipped: 0, failed: 0, isBehind: false }
    const decideThese = async (due: readonly Due[]) => {
      for (let from = 0; from < due.length;) {
        const { at } = due[from]!
        const batch = due.slice(from, from + (at !== undefined && at < clock.now() - LATE_MS ? BATCH_OF_LATE : BATCH))
        await decideBatch(batch, sum)
        from += batch.length
      }
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
        // What is not decided to the end stands further back in the list now, and is due all the same.
        await decideThese(page.filter(({ id }) => !behind.has(id)))
        after = page.at(-1)!
      }
    }
    const until = clock.monotonic() + CATCHING_UP_MS
    for (const id of behind) {
      let more = true
      while (more && clock.monotonic() <= until && state !== 'stopped') more = await decideOne(id, sum)
      if (!more) behind.delete(id)
    }
    return { ...sum, skipped: schedules.countWaiting(db), isBehind: behind.size > 0 }
  }

  /** The clock was set back, or this is the first look: from now on everything that is to come counts from what it shows now. */
  async function turnBack(): Promise<void> {
    const from = clock.now()
    for (let after: number | null = 0; after !== null;) {
      const behind: number = after
      if (state === 'stopped') return
      after = await commitSoon(db, (tx) => schedules.turnBackSome(tx, behind))
    }
    schedules.turnedBack(from)
  }

  /** All or none of them. When one fails, each by itself. */
  async function decideBatch(batch: readonly Due[], sum: Look): Promise<void> {
    try {
      const ids = batch.map(({ id }) => id)
      for (const [id, decision] of await commitSoon(db, (tx) => schedules.decideAll(tx, ids, TIMES_AT_ONCE))) {
        count(sum, decision)
        if (decision.more) behind.add(id)
      }
    } catch (error) {
      // With the file in trouble nothing else can be decided either.
      if (error instanceof AppError) throw error
      for (const { id } of batch) if (await decideOne(id, sum)) behind.add(id)
    }
  }

  /** Answers whether there is more of it. */
  async function decideOne(scheduleId: string, sum: Look): Promise<boolean> {
    try {
      const decision = await commitSoon(db, (tx) => schedules.decide(tx, scheduleId))
      count(sum, decision)
      return decision.more
    } catch (error) {
      if (error instanceof AppError) throw error
      log.error({ err: error, scheduleId }, `a schedule could not be decided: ${messageOf(error)}`)
      sum.failed++
      return false
    }
  }

  async function look(all: boolean): Promise<Look> {
    restUntil = clock.monotonic() + LOOK_EVERY_MS
    try {
      const sum = await decide(all)
      if (sum.failed === 0) restUntil = 0
      return sum
    } finally {
      setAlarm()
    }
  }

  async function lookAtAll(asking: Asking): Promise<Tick> {
    const sum: Tick = { fired: 0, skipped: 0, exhausted: 0 }
    // Not started: safe mode, in which nothing is due.
    for (let again = true; again && state === 'on';) {
      const seen = await inTurn(() => {
        asking.isAsked = false
        return look(true)
      })
      sum.fired += seen.fired
      sum.exhausted += seen.exhausted
      sum.skipped = seen.skipped
      again = seen.isBehind || asking.isAsked
      // Once more for those who asked during this look, and not for ever: who asks from now on has a tick of their own.
      if (!seen.isBehind) asking.isOpen = false
    }
    return sum
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
        db.condition.onChange((trouble) => trouble === null && goOn()),
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
    tick() {
      if (shared?.isOpen) {
        shared.isAsked = true
        return shared.tick
      }
      const mine = { isOpen: true, isAsked: false }
      const tick = lookAtAll(mine).finally(() => {
        if (shared?.tick === tick) shared = null
      })
      shared = Object.assign(mine, { tick })
      return tick
    },
    woke() {
      if (state === 'on') watchOver()
    },
  }
}
