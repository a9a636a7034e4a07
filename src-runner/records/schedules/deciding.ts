import type { Tx } from '../../base/db/transact.ts'
import { rowUpdate, writeRows } from '../../base/db/write-rows.ts'
import type { OccurrenceState } from '../../contract/schedules.ts'
import { messageOf } from '../../kit/errors.ts'
import { isBrakeOn } from '../settings/settings.ts'
import { dueTimesFrom, findDueAgain, mayComeAgain, type DueTimes } from './coming-again.ts'
import { nextDueAfter } from './due-times.ts'
import { createLocalDays, createOverspend, exhaust, isExhausted, resumeFromBudget, type ScheduleChange } from './exhausting.ts'
import { fireSchedules, type Fire } from './firing.ts'
import { createNotes, noteTimes, type Notes } from './noting.ts'
import { behindBrake, heldBy, lateBy, overBudget, REASONS, skippedFor, tooLongAgo } from './reasons.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import { liveOf, readToDecide, waitingOf, type ScheduleToDecide, type Waiting } from './schedule-rows.ts'

/**
 * A due time that is looked at within this is late, not missed, whatever kept us: a restart, a busy machine, a clock that
 * was set. It is more than the time between two looks of the safety net, so nothing that happens while the app runs is
 * ever called missed, and nobody would call a run a minute after its time a catch-up.
 */
export const LATE_MS = 90_000

/** Lateness that is not worth a word. */
const ON_TIME_MS = 5_000

/** So many due times of a schedule are decided in one go at most: that takes some hundredths of a second. */
const MOST_TIMES = 10_000

export type Decision = {
  /** A job was made. */
  fired: boolean
  /** A due time met a spent budget. */
  exhausted: boolean
  /** There are due times left to decide. */
  more: boolean
}

const NOTHING: Decision = { fired: false, exhausted: false, more: false }

/**
 * Decides what has come due of one schedule: at most one run, whatever was missed. The ledger, the job, the next due time
 * and the events are one transaction, so after a crash a due time is either wholly decided or still ahead. Whatever is done
 * to the clock, none makes two jobs: the ledger has its row.
 */
export function decideSchedule(tx: Tx, deps: ScheduleDeps, scheduleId: string, mostTimes = MOST_TIMES): Decision {
  return decideSchedules(tx, deps, [scheduleId], mostTimes).get(scheduleId) ?? NOTHING
}

/**
 * The same for many, each named once. What they share is looked up once, and what they come to is written together, which
 * costs a third of deciding one after the other. Those that are not there are left out of the answer.
 */
export function decideSchedules(tx: Tx, deps: ScheduleDeps, scheduleIds: readonly string[], mostTimes = MOST_TIMES): Map<string, Decision> {
  const now = deps.clock.now()
  deps.clockSeen(now)
  const round: Round = {
    ...{ tx, deps, now, mostTimes, brake: isBrakeOn(tx), notes: createNotes(tx, deps), dayIn: createLocalDays(now) },
    findOverspend: createOverspend(tx, deps.money.now()),
    findDueTimes: createDueTimes(now, mostTimes),
  }
  const decided = readToDecide(tx, scheduleIds).map((row) => ({ row, ...decide(round, row) }))
  round.notes.write()
  const made = fireSchedules(
    tx,
    deps,
    decided.flatMap(({ fire }) => fire ?? []),
  )
  let nextMade = 0
  saveChanges(
    tx,
    decided.map(({ row, change, fire }) => ({
      seq: row.seq,
      change: fire === null ? change : { ...change, last_status: 'running', last_run_seq: made[nextMade++]!.occurrenceSeq },
    })),
  )
  return new Map(decided.map(({ row, fire, exhausted, more }) => [row.id, { fired: fire !== null, exhausted, more }]))
}

/** What is the same for all that are decided in one go. */
type Round = {
  tx: Tx
  deps: ScheduleDeps
  now: number
  mostTimes: number
  brake: boolean
  notes: Notes
  dayIn: ReturnType<typeof createLocalDays>
  findOverspend: ReturnType<typeof createOverspend>
  findDueTimes: ReturnType<typeof createDueTimes>
}

/** What a schedule comes to; `fire` is still to be carried out. */
type Outcome = { fire: Fire | null; exhausted: boolean; change: ScheduleChange }

const UNCHANGED: Outcome = { fire: null, exhausted: false, change: {} }
const NOTHING_DUE: DueTimes = { stretches: [], newest: null, more: false, next: null }

function decide(round: Round, row: ScheduleToDecide): Outcome & { more: boolean } {
  const isDue = row.next_due_at !== null && row.next_due_at <= round.now
  const due = isDue ? readDueTimes(round, row) : NOTHING_DUE
  if (due === null) return { ...UNCHANGED, more: false, change: { next_due_at: null } }
  const move: ScheduleChange = isDue ? { next_due_at: due.next } : {}
  if (row.status === 'paused') {
    note(round, row, { ...due, state: 'paused', reason: REASONS.paused })
    return { ...UNCHANGED, more: due.more, change: move }
  }
  const resumed = row.status === 'budget_exhausted' && !isExhausted(row, round.now) ? resumeFromBudget(row, round.notes.tell) : {}
  const { fire, exhausted, change } = due.stretches.length > 0 || due.more ? decideTimes(round, row, due) : decideWhatWaits(round, row)
  return { fire, exhausted, more: due.more, change: { ...resumed, ...move, ...change } }
}

/** null: the schedule cannot be read any more, because this machine does not know its time zone. */
function readDueTimes({ tx, deps, now, mostTimes, findDueTimes }: Round, row: ScheduleToDecide): DueTimes | null {
  try {
    return mayComeAgain(row) ? findDueAgain(tx, row, now, mostTimes) : findDueTimes(row)
  } catch (error) {
    deps.log.error({ err: error, scheduleId: row.id }, `a schedule has no more due times: ${messageOf(error)}`)
    return null
  }
}

/** Thousands of schedules share a few expressions and zones. */
function createDueTimes(now: number, mostTimes: number): (row: ScheduleToDecide) => DueTimes {
  const known = new Map<string, DueTimes>()
  return (row) => {
    const key = `${row.next_due_at} ${row.timezone} ${row.cron}`
    let due = known.get(key)
    if (due === undefined) known.set(key, (due = find(row)))
    return due
  }

  function find(row: ScheduleToDecide): DueTimes {
    const { times, more } = dueTimesFrom(row, row.next_due_at!, now, mostTimes)
    const last = times.at(-1)!
    return { stretches: [times], newest: more ? null : last, more, next: nextDueAfter(row.cron, row.timezone, last) }
  }
}

function decideTimes(round: Round, row: ScheduleToDecide, { stretches, newest, more }: DueTimes): Outcome {
  const last = stretches.at(-1)?.at(-1)
  // All of these are in the ledger, and what comes behind them may be the next one.
  if (last === undefined) return UNCHANGED
  const waiting = waitingOf(row)
  if (waiting !== null) overtakeWaiting(round, row, waiting)
  const tooOld = whyTooOld(round.deps, row, round.now - last)
  const runs = newest !== null && tooOld === null
  const reason = tooOld ?? (row.catch_up_ms === 0 ? REASONS.noCatchUp : REASONS.missed)
  note(round, row, { stretches: runs ? withoutLast(stretches) : stretches, more, state: 'missed', reason })
  return runs ? decideNewest(round, row, newest) : UNCHANGED
}

function withoutLast(stretches: DueTimes['stretches']): DueTimes['stretches'] {
  const [rest, last] = [stretches.slice(0, -1), stretches.at(-1)!]
  return last.length === 1 ? rest : [...rest, last.slice(0, -1)]
}

/** null: it is not. */
function whyTooOld({ safeMode }: ScheduleDeps, row: ScheduleToDecide, ageMs: number): string | null {
  if (safeMode) return REASONS.safeMode
  if (ageMs <= LATE_MS || ageMs <= row.catch_up_ms) return null
  return row.catch_up_ms === 0 ? REASONS.noCatchUp : tooLongAgo(row.catch_up_ms)
}

function decideNewest(round: Round, row: ScheduleToDecide, dueAt: number): Outcome {
  const { now, brake, notes } = round
  const note = (state: 'due' | 'skipped_budget', reason: string) => {
    notes.addUnrun(row.seq, [dueAt], state, reason)
    tellSkipped(round, row, state)
  }
  const spent = round.findOverspend(row)
  if (spent !== null) {
    note('skipped_budget', overBudget(spent, row.daily_budget_micros))
    return exhausted(round, row, spent)
  }
  const live = liveOf(row)
  if (live !== null) {
    note('due', heldBy(live, brake))
    return UNCHANGED
  }
  const lateMs = now - dueAt
  const caughtUp = lateMs > LATE_MS
  const reason = caughtUp ? REASONS.caughtUp : lateMs > ON_TIME_MS ? lateBy(lateMs) : REASONS.onTime
  return fire(round, row, { dueAt, state: caughtUp ? 'caught_up' : 'ran', reason, waiting: null })
}

/** Nothing new has come due: perhaps a due time waits, and the run before it has ended. */
function decideWhatWaits(round: Round, row: ScheduleToDecide): Outcome {
  const waiting = waitingOf(row)
  if (round.deps.safeMode || waiting === null || liveOf(row) !== null) return UNCHANGED
  const spent = round.findOverspend(row)
  if (spent !== null) {
    round.notes.decide(waiting, 'skipped_budget', overBudget(spent, row.daily_budget_micros))
    tellSkipped(round, row, 'skipped_budget')
    return exhausted(round, row, spent)
  }
  const caughtUp = waiting.noted_at - waiting.due_at > LATE_MS
  return fire(round, row, {
    dueAt: waiting.due_at,
    state: caughtUp ? 'caught_up' : 'ran',
    reason: REASONS.waited,
    waiting,
  })
}

function fire({ brake }: Round, row: ScheduleToDecide, run: Pick<Fire, 'dueAt' | 'state' | 'reason' | 'waiting'>): Outcome {
  const change: ScheduleChange = row.status === 'budget_exhausted' ? { status: 'active', resume_at: null } : {}
  const reason = brake ? behindBrake(run.reason) : run.reason
  return { fire: { ...run, schedule: row, origin: 'clock', reason }, exhausted: false, change }
}

function exhausted({ tx, deps, now, notes, dayIn }: Round, row: ScheduleToDecide, spentMicros: number): Outcome {
  const change = exhaust(tx, deps, notes, row, { spentMicros, now, today: dayIn(row.timezone) })
  return { fire: null, exhausted: true, change }
}

/** Only the newest of the due times that come while a run is going is still to be run after it. */
function overtakeWaiting(round: Round, row: ScheduleToDecide, waiting: Waiting): void {
  round.notes.decide(waiting, 'skipped_overlap', skippedFor(liveOf(row), round.brake))
  tellSkipped(round, row, 'skipped_overlap')
}

/** A schedule that is paused: what waited will not run. */
export function pauseWaiting(tx: Tx, deps: ScheduleDeps, waiting: Waiting): void {
  const notes = createNotes(tx, deps)
  notes.decide(waiting, 'paused', REASONS.pausedWaiting)
  notes.write()
}

function note(
  round: Round,
  row: ScheduleToDecide,
  { stretches, more, state, reason }: Pick<DueTimes, 'stretches' | 'more'> & { state: 'missed' | 'paused'; reason: string },
): void {
  if (stretches.length === 0) return
  const { tx, deps, notes } = round
  for (const [nth, times] of stretches.entries()) {
    // How many there are in a row is read from the ledger.
    if (nth > 0) notes.write()
    noteTimes(tx, notes, deps, row.seq, { times, state, reason, more: more && nth === stretches.length - 1 })
  }
  tellSkipped(round, row, state)
}

function tellSkipped({ notes }: Round, { id: scheduleId }: ScheduleToDecide, state: OccurrenceState): void {
  notes.tell({ type: 'schedule.skipped', payload: { scheduleId, state } })
}

/** Writes what changed of schedules and nothing else: each column that is named costs the indices that it is in. */
export function saveChanges(tx: Tx, changes: readonly { seq: number; change: ScheduleChange }[]): void {
  for (const [columns, alike] of Map.groupBy(changes, ({ change }) => Object.keys(change).join())) {
    if (columns === '') continue
    const rows = alike.map(({ seq, change }) => [seq, ...Object.values(change)])
    writeRows(tx, rowUpdate('schedules', 'seq', columns.split(',')), rows)
  }
}
