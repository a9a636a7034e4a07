import { quote } from '../lib/messages.ts'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { OccurrenceState, Schedule } from '../contract/schedules.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../platform/db/database.ts'
import { prepareOnce } from '../platform/db/statements.ts'
import type { OccurrenceRow } from '../domain/schedules/schedules.sql.ts'
import { occurrences, schedules } from '../domain/schedules/schedules-table.ts'
import { openScheduleRig, type ScheduleRig } from './schedule-rig.ts'

/**
 * A random walk over everything that can happen to schedules, with a model of what must have become of every due
 * time. After every step the whole run history is compared with it. The model is written from the promises, not from the code.
 */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.UTC(2026, 10, 20, 9, 30)
/** A due time that is decided within this time is late, not missed. */
const LATE = 90 * SECOND
const SCHEDULES = 3
const BUDGET = 1_000_000

/** Zones without clock changes, so that due times and days are plain arithmetic here. */
const ZONES = [
  { name: 'UTC', offset: 0 },
  { name: 'Asia/Kathmandu', offset: 5 * HOUR + 45 * MINUTE },
]
const INTERVALS = [1, 10, 30, 60]

type ModelSchedule = {
  schedule: Schedule
  offset: number
  everyMs: number
  catchUpMs: number
  budget: number
  status: Schedule['status']
  resumeAt: number
  /** Up to here every due time is decided, by the clock as it went since it was last found to be behind. */
  horizon: number
  /** What became of each due time, in order. Those behind the present are what a clock decided that was ahead. */
  times: Time[]
  askedFor: number
  createdAt: number
  toldAt: number | null
  told: number
}

type Time = { dueAt: number; state: OccurrenceState; late: boolean; notedAt: number }

type Walk = {
  rig: ScheduleRig
  schedules: ModelSchedule[]
  spent: { at: number; micros: number }[]
  claims: Map<string, Claim>
  /** The latest that the clock has shown since the process started. */
  latest: number
}

const STEPS = {
  look,
  pass,
  jump,
  jumpFar,
  run,
  finish,
  wait,
  wake,
  stop,
  spend,
  pause,
  resume,
  edit,
  raise,
  runNow,
  crash,
  cutOff,
} satisfies Record<string, (walk: Walk, a: number, b: number) => void>
type StepName = keyof typeof STEPS

const WEIGHTS: Partial<Record<StepName, number>> = { look: 10, pass: 8, jump: 3, finish: 5, run: 3, spend: 3, stop: 3 }

const anyStep = fc.record({
  name: fc.oneof(...(Object.keys(STEPS) as StepName[]).map((name) => ({ weight: WEIGHTS[name] ?? 2, arbitrary: fc.constant(name) }))),
  a: fc.nat(1000),
  b: fc.nat(1000),
})

/** Throws with the shortest walk that breaks a promise. Returns how many due times were decided. */
export function walkSchedules({ runs, length, seed }: { runs: number; length: number; seed?: number }): number {
  const rig = openScheduleRig()
  // This tests the logic. The kill tests check that the disk keeps it.
  rig.domain.db.connection.pragma('synchronous = OFF')
  let decided = 0
  try {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: length, maxLength: length }), (steps) => {
        const walk = begin(rig)
        for (const { name, a, b } of steps) {
          STEPS[name](walk, a, b)
          compare(walk)
        }
        decided += walk.schedules.reduce((sum, one) => sum + one.times.length, 0)
      }),
      { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
    )
  } finally {
    rig.close()
  }
  return decided
}

/** Every walk begins at the same time with empty memory, so it can be repeated. */
function begin(rig: ScheduleRig): Walk {
  for (const table of [
    'schedules',
    'search_queue',
    'job_steps',
    'job_texts',
    'agent_jobs',
    'job_time_buckets',
    'spend_agent_buckets',
    'events',
  ]) {
    rig.domain.db.prepare(`DELETE FROM ${table}`).run()
  }
  rig.told.length = 0
  rig.clock.jump(START - rig.clock.now())
  rig.reboot()
  rig.domain.db.connection.pragma('synchronous = OFF')
  const schedules = Array.from({ length: SCHEDULES }, (_, i): ModelSchedule => {
    const zone = ZONES[i % 2]!
    const minutes = INTERVALS[1 + i]!
    const catchUpHours = [24, 0, 1][i]!
    const schedule = rig.create({ cron: cronOf(minutes), timezone: zone.name, catchUpHours, dailyBudgetUsd: BUDGET / 1_000_000 })
    return {
      schedule,
      offset: zone.offset,
      everyMs: minutes * MINUTE,
      catchUpMs: catchUpHours * HOUR,
      budget: BUDGET,
      status: 'active',
      resumeAt: 0,
      horizon: rig.clock.now(),
      times: [],
      askedFor: 0,
      createdAt: rig.clock.now(),
      toldAt: null,
      told: 0,
    }
  })
  return { rig, schedules, spent: [], claims: new Map(), latest: Infinity }
}

// What must become of due times.

/** A clock that was ahead silences nothing: every schedule continues from what the clock shows now. */
function turnBack(walk: Walk, one: ModelSchedule): void {
  const now = walk.rig.clock.now()
  if (one.horizon > now) one.horizon = now
  // Found again when its time comes.
  one.times = one.times.filter(({ dueAt, state }) => dueAt <= now || state !== 'due')
  const rows = sharedRows(walk, one)
  const newest = one.times.findLast(({ dueAt }) => dueAt <= now)
  dropLater(one, rows, now)
  bringBack(one, newest, rows, now)
  const tomorrow = dayStart(one, now) + DAY
  if (one.status !== 'budget_exhausted' || one.resumeAt <= tomorrow) return
  if (overspent(walk, one)) one.resumeAt = tomorrow
  else one.status = 'active'
}

/** The newest that has come is decided by this clock when it came to nothing at a moment that is still to come. */
function bringBack(one: ModelSchedule, newest: Time | undefined, rows: OccurrenceRow[], now: number): void {
  if (newest === undefined || newest.state === 'due' || hasRun(newest) || newest.notedAt <= now) return
  const shared = rows.find((row) => row.dueAt <= newest.dueAt && newest.dueAt <= row.untilAt!)
  if (shared !== undefined && shared.untilAt! <= now) return
  const again = shared === undefined ? newest : one.times.findLast(({ dueAt }) => shared.dueAt <= dueAt && dueAt <= now)!
  // By another expression it is not due any more.
  if (next(one, again.dueAt - 1) !== again.dueAt) return
  if (shared !== undefined) one.times = one.times.filter((time) => time !== again)
  one.horizon = Math.min(one.horizon, again.dueAt - 1)
}

/**
 * Of a row that stands for many, what is still to come is found again, too. How many are left is counted by the present plan,
 * since which one it was by then is not known any more.
 */
function dropLater(one: ModelSchedule, rows: OccurrenceRow[], now: number): void {
  for (const { dueAt: first, untilAt: until, state, times, notedAt } of rows) {
    if (until! <= now) continue
    const late = one.times.find(({ dueAt }) => dueAt === first)!.late
    const left: Time[] = first > now ? [] : [{ dueAt: first, state, late, notedAt }]
    for (let at = next(one, first); left.length > 0 && left.length < times && at <= now; at += one.everyMs) {
      left.push({ dueAt: at, state, late, notedAt })
    }
    one.times = [...one.times.filter(({ dueAt }) => dueAt < first || dueAt > until!), ...left].sort((a, b) => a.dueAt - b.dueAt)
  }
}

function sharedRows({ rig }: Walk, { schedule }: ModelSchedule): OccurrenceRow[] {
  return runHistoryOf(rig, schedule).filter(({ times }) => times > 1)
}

function decide(walk: Walk, one: ModelSchedule): void {
  const now = walk.rig.clock.now()
  const due: number[] = []
  const from = Math.max(one.horizon, knownFrom(walk, one) - 1)
  for (let at = next(one, from); at <= now; at += one.everyMs) due.push(at)
  one.horizon = Math.max(one.horizon, now)
  walk.latest = Math.max(walk.latest, now)
  decideDue(walk, one, due, now)
  one.times.sort((a, b) => a.dueAt - b.dueAt)
}

/** Nothing was due before the schedule was made. */
function knownFrom({ rig }: Walk, { createdAt }: ModelSchedule): number {
  return createdAt <= rig.clock.now() ? createdAt : 0
}

function decideDue(walk: Walk, one: ModelSchedule, all: number[], now: number): void {
  const note = (dueAt: number, state: OccurrenceState) => void one.times.push({ dueAt, state, late: now - dueAt > LATE, notedAt: now })
  // The newest is decided again when it comes again, unless it has run; of the others, those of which nothing is known yet.
  one.times = one.times.filter((time) => time.dueAt !== all.at(-1) || hasRun(time))
  const standing = new Set(one.times.map(({ dueAt }) => dueAt))
  const newest = all.at(-1) === undefined || standing.has(all.at(-1)!) ? undefined : all.at(-1)!
  const due = all.filter((dueAt) => !standing.has(dueAt) && dueAt !== newest)
  if (one.status === 'paused') return [...due, ...(newest === undefined ? [] : [newest])].forEach((dueAt) => note(dueAt, 'paused'))
  if (one.status === 'budget_exhausted' && now >= one.resumeAt) one.status = 'active'
  const waiting = one.times.find(({ state }) => state === 'due')
  if (newest === undefined && due.length === 0) {
    if (waiting === undefined || isLive(walk, one)) return
    waiting.state = overspent(walk, one) ? exhaust(walk, one) : start(one, waiting.late)
    return
  }
  if (waiting !== undefined) waiting.state = 'skipped_overlap'
  for (const dueAt of due) note(dueAt, 'missed')
  if (newest === undefined) return
  const age = now - newest
  if (age > LATE && age > one.catchUpMs) return note(newest, 'missed')
  if (overspent(walk, one)) return note(newest, exhaust(walk, one))
  note(newest, isLive(walk, one) ? 'due' : start(one, age > LATE))
}

function start(one: ModelSchedule, late: boolean): OccurrenceState {
  one.status = 'active'
  return late ? 'caught_up' : 'ran'
}

function exhaust(walk: Walk, one: ModelSchedule): OccurrenceState {
  const now = walk.rig.clock.now()
  const today = dayStart(one, now)
  const isNew = one.status !== 'budget_exhausted' || one.resumeAt <= now
  if (isNew && (one.toldAt === null || dayStart(one, one.toldAt) !== today)) {
    one.toldAt = now
    one.told++
  }
  one.status = 'budget_exhausted'
  one.resumeAt = today + DAY
  return 'skipped_budget'
}

function overspent(walk: Walk, one: ModelSchedule): boolean {
  const from = dayStart(one, walk.rig.clock.now())
  return walk.spent.reduce((sum, { at, micros }) => (at >= from && at < from + DAY ? sum + micros : sum), 0) >= one.budget
}

function dayStart({ offset }: ModelSchedule, now: number): number {
  return Math.floor((now + offset) / DAY) * DAY - offset
}

function next({ everyMs, offset }: ModelSchedule, after: number): number {
  return Math.floor((after + offset) / everyMs) * everyMs + everyMs - offset
}

function cronOf(minutes: number): string {
  return minutes === 60 ? '0 * * * *' : `*/${minutes} * * * *`
}

function isLive({ rig }: Walk, { schedule }: ModelSchedule): boolean {
  return rig.live(schedule).length > 0
}

/** A clock that is behind what was decided. */
function followClock(walk: Walk): void {
  const now = walk.rig.clock.now()
  if (now < walk.latest) {
    for (const one of walk.schedules) turnBack(walk, one)
    walk.latest = now
  }
}

// The steps.

function look(walk: Walk): void {
  followClock(walk)
  for (const one of walk.schedules) decide(walk, one)
  walk.rig.look()
}

function pass({ rig }: Walk, a: number, b: number): void {
  const longest = [2 * MINUTE, HOUR, 5 * HOUR, 5 * HOUR, 2 * DAY][b % 5]!
  rig.clock.advance(Math.ceil((a / 1000) * longest))
}

function jump({ rig }: Walk, a: number, b: number): void {
  const furthest = [MINUTE, HOUR, 3 * HOUR, DAY + HOUR][b % 4]!
  rig.clock.jump(Math.round(((a - 500) / 500) * furthest))
}

/** By an empty battery, or by a person who corrects it later. */
function jumpFar({ rig }: Walk, a: number, b: number): void {
  rig.clock.jump(Math.round((a / 1000) * 5 * DAY) * (b % 2 === 0 ? 1 : -1))
}

function jobOf({ rig, schedules }: Walk, a: number): string | undefined {
  return rig.live(schedules[a % SCHEDULES]!.schedule)[0]
}

function statusOf({ rig }: Walk, jobId: string): string {
  return rig.jobs.getJob(rig.domain.db, jobId).status
}

function run(walk: Walk, a: number): void {
  const jobId = jobOf(walk, a)
  if (jobId === undefined || statusOf(walk, jobId) !== 'pending') return
  const claimed = walk.rig.write((tx) => walk.rig.jobs.claim(tx, jobId, 1000))
  if (claimed !== null) walk.claims.set(jobId, claimed.claim)
}

function finish(walk: Walk, a: number, b: number): void {
  run(walk, a)
  const jobId = jobOf(walk, a)
  const claim = jobId === undefined ? undefined : walk.claims.get(jobId)
  if (claim === undefined || statusOf(walk, claim.jobId) !== 'running') return
  const failed = { kind: 'failed', error: 'model_unavailable', message: quote('It does not answer.') } as const
  walk.rig.write((tx) => walk.rig.jobs.settle(tx, claim, b % 3 === 0 ? failed : { kind: 'completed', text: 'Done.' }))
}

function wait(walk: Walk, a: number, b: number): void {
  run(walk, a)
  const jobId = jobOf(walk, a)
  const claim = jobId === undefined ? undefined : walk.claims.get(jobId)
  if (claim === undefined || statusOf(walk, claim.jobId) !== 'running') return
  const status = b % 2 === 0 ? 'awaiting_approval' : 'awaiting_child'
  walk.rig.write((tx) => walk.rig.jobs.settle(tx, claim, { kind: 'waiting', status }))
}

function wake(walk: Walk, a: number): void {
  const jobId = jobOf(walk, a)
  if (jobId !== undefined) walk.rig.write((tx) => walk.rig.jobs.wake(tx, jobId))
}

function stop(walk: Walk, a: number): void {
  const jobId = jobOf(walk, a)
  if (jobId === undefined) return
  walk.rig.write((tx) => void walk.rig.jobs.cancel(tx, jobId))
  walk.rig.write((tx) => void walk.rig.jobs.forceCancel(tx, jobId))
}

function spend(walk: Walk, a: number): void {
  walk.spent.push({ at: walk.rig.clock.now(), micros: 1 + a * 500 })
  walk.rig.spend(1 + a * 500)
}

function pause(walk: Walk, a: number): void {
  const one = walk.schedules[a % SCHEDULES]!
  if (one.status !== 'paused') {
    decide(walk, one)
    for (const time of one.times) if (time.state === 'due') time.state = 'paused'
    one.status = 'paused'
  }
  walk.rig.write((tx) => walk.rig.schedules.pause(tx, one.schedule.id))
}

function resume(walk: Walk, a: number): void {
  const one = walk.schedules[a % SCHEDULES]!
  if (one.status === 'paused') {
    decide(walk, one)
    one.status = 'active'
  }
  walk.rig.write((tx) => walk.rig.schedules.resume(tx, one.schedule.id))
}

function edit(walk: Walk, a: number, b: number): void {
  followClock(walk)
  const one = walk.schedules[a % SCHEDULES]!
  const minutes = INTERVALS[b % INTERVALS.length]!
  if (minutes * MINUTE !== one.everyMs) {
    decide(walk, one)
    for (const time of one.times) if (time.state === 'due') time.state = 'skipped_overlap'
    // What the old one had for later is of no plan any more.
    const now = walk.rig.clock.now()
    one.everyMs = minutes * MINUTE
    one.horizon = now
    one.times = one.times.filter((time) => time.dueAt <= now || hasRun(time))
  }
  // A form that sends back what was there is a change too: when the next day has begun, or the clock was set, before
  // anybody looked, whoever saves it sees at once whether there is budget.
  reconsider(walk, one)
  walk.rig.write((tx) => walk.rig.schedules.update(tx, one.schedule.id, { cron: cronOf(minutes) }))
}

function raise(walk: Walk, a: number, b: number): void {
  followClock(walk)
  const one = walk.schedules[a % SCHEDULES]!
  one.budget = BUDGET + (b % 5) * 500_000
  reconsider(walk, one)
  walk.rig.write((tx) => walk.rig.schedules.update(tx, one.schedule.id, { dailyBudgetUsd: one.budget / 1_000_000 }))
}

function reconsider(walk: Walk, one: ModelSchedule): void {
  if (one.status !== 'budget_exhausted') return
  if (overspent(walk, one)) one.resumeAt = dayStart(one, walk.rig.clock.now()) + DAY
  else one.status = 'active'
}

function runNow(walk: Walk, a: number): void {
  const one = walk.schedules[a % SCHEDULES]!
  const ask = () => walk.rig.write((tx) => walk.rig.schedules.runNow(tx, one.schedule.id))
  if (isLive(walk, one)) {
    assert.throws(ask, /still active/)
    return
  }
  ask()
  one.askedFor++
}

function crash(walk: Walk): void {
  walk.latest = Infinity
  walk.rig.reboot()
  walk.rig.domain.db.connection.pragma('synchronous = OFF')
}

/** The process dies in the middle of a decision: it never happened. */
function cutOff(walk: Walk, a: number): void {
  const one = walk.schedules[a % SCHEDULES]!
  const decideAndDie = () =>
    walk.rig.write((tx) => {
      walk.rig.schedules.decide(tx, [one.schedule.id])
      throw new Error('cut off')
    })
  assert.throws(decideAndDie, /cut off/)
  crash(walk)
}

// What must be true after every step.

function compare(walk: Walk): void {
  const { rig } = walk
  for (const one of walk.schedules) {
    const { id } = one.schedule
    compareRunHistory(one, runHistoryOf(rig, one.schedule))
    assert.ok(rig.live(one.schedule).length <= 1, 'one job at a time')
    const read = rig.read(one.schedule)
    assert.equal(read.status, one.status)
    const [now, first] = [rig.clock.now(), firstToDecide(one)]
    if (read.nextDueAt !== null) assert.equal(read.nextDueAt, first > now ? first : next(one, now), 'when it is due next')
    const jobs = rig.domain.db.prepare<{ n: number }>('SELECT count(*) AS n FROM agent_jobs WHERE schedule_id = ?').get(id)!.n
    const runs = one.times.filter(hasRun).length
    assert.equal(jobs, runs + one.askedFor, 'each run has one job, and nothing else has')
    compareTold(walk, one)
  }
}

function runHistoryOf({ domain }: ScheduleRig, { id }: Schedule): OccurrenceRow[] {
  return ROWS(domain.db)
    .all({ id })
    .map(({ row }) => row)
}

const ROWS = prepareOnce((db: Db) =>
  db
    .select({ row: occurrences })
    .from(occurrences)
    .innerJoin(schedules, eq(schedules.seq, occurrences.scheduleSeq))
    .where(and(eq(schedules.id, sql.placeholder('id')), eq(occurrences.origin, 'clock')))
    .orderBy(occurrences.dueAt),
)

/** What has run does not come again. */
function firstToDecide(one: ModelSchedule): number {
  const ran = new Set(one.times.filter(hasRun).map(({ dueAt }) => dueAt))
  let at = next(one, one.horizon)
  while (ran.has(at)) at = next(one, at)
  return at
}

function hasRun({ state }: Time): boolean {
  return state === 'ran' || state === 'caught_up'
}

/** Each due time is in one row, alone or with others of the same outcome. */
function compareRunHistory({ times }: ModelSchedule, rows: OccurrenceRow[]): void {
  let seen = 0
  for (const row of rows) {
    const covered = times.slice(seen, seen + row.times)
    assert.equal(covered.length, row.times, 'no due time is in the run history that never was')
    assert.equal(row.dueAt, covered[0]!.dueAt)
    assert.equal(row.untilAt ?? row.dueAt, covered.at(-1)!.dueAt)
    const other = covered.find(({ state }) => state !== row.state)
    if (other !== undefined) assert.equal(row.state, other.state, `what became of ${new Date(other.dueAt).toISOString()}`)
    seen += row.times
  }
  assert.equal(seen, times.length, 'no due time is lost')
}

function compareTold({ rig }: Walk, one: ModelSchedule): void {
  const told = rig.told.filter(({ scheduleId }) => scheduleId === one.schedule.id)
  assert.equal(told.length, one.told, 'the owner is told once on each day that comes')
  if (one.status === 'budget_exhausted') assert.ok(told.length > 0, 'the owner is told')
}
