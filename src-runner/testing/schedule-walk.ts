import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { OccurrenceState, Schedule } from '../contract/schedules.ts'
import type { Claim } from '../records/jobs/claim.ts'
import type { OccurrenceRow } from '../records/schedules/schedule-rows.ts'
import { openScheduleRig, type ScheduleRig } from './schedule-rig.ts'

/**
 * A random walk over everything that can happen to schedules, beside a model that says what must have become of every due
 * time. After every step the whole ledger is compared with it. The model is written from the promises, not from the code.
 */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** What is looked at within this of its moment is late, not missed. */
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
  /** Up to here every due time is decided. */
  horizon: number
  /** What became of each due time, in order. */
  times: { dueAt: number; state: OccurrenceState; late: boolean }[]
  askedFor: number
}

type Walk = { rig: ScheduleRig; schedules: ModelSchedule[]; spent: { at: number; micros: number }[]; claims: Map<string, Claim> }

const STEPS = {
  look,
  pass,
  jump,
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

/** Throws, with the shortest walk that shows it, when a promise is broken. Answers how many due times were decided. */
export function walkSchedules({ runs, length, seed }: { runs: number; length: number; seed?: number }): number {
  const rig = openScheduleRig()
  // What is walked here is the logic; that the disk keeps it is proved by killing a process.
  rig.records.db.connection.pragma('synchronous = OFF')
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

function begin(rig: ScheduleRig): Walk {
  for (const table of [
    'schedules',
    'search_queue',
    'job_steps',
    'job_texts',
    'agent_jobs',
    'job_quarters',
    'spend_agent_quarters',
    'events',
  ]) {
    rig.records.db.prepare(`DELETE FROM ${table}`).run()
  }
  rig.told.length = 0
  rig.records.db.connection.pragma('synchronous = OFF')
  const schedules = Array.from({ length: SCHEDULES }, (_, i): ModelSchedule => {
    const zone = ZONES[i % 2]!
    const minutes = INTERVALS[1 + i]!
    const catchUpHours = [24, 0, 1][i]!
    const schedule = rig.create({ cron: cronOf(minutes), timezone: zone.name, catchUpHours, dailyBudgetUsd: BUDGET / 1_000_000 })
    return {
      ...{ schedule, offset: zone.offset, everyMs: minutes * MINUTE, catchUpMs: catchUpHours * HOUR, budget: BUDGET },
      ...{ status: 'active', resumeAt: 0, horizon: rig.clock.now(), times: [], askedFor: 0 },
    }
  })
  return { rig, schedules, spent: [], claims: new Map() }
}

// What must become of due times.

function decide(walk: Walk, one: ModelSchedule): void {
  const now = walk.rig.clock.now()
  const due: number[] = []
  for (let at = next(one, one.horizon); at <= now; at += one.everyMs) due.push(at)
  one.horizon = Math.max(one.horizon, now)
  const note = (dueAt: number, state: OccurrenceState) => void one.times.push({ dueAt, state, late: now - dueAt > LATE })
  if (one.status === 'paused') return due.forEach((dueAt) => note(dueAt, 'paused'))
  if (one.status === 'budget_exhausted' && now >= one.resumeAt) one.status = 'active'
  const waiting = one.times.find(({ state }) => state === 'due')
  const newest = due.pop()
  if (newest === undefined) {
    if (waiting === undefined || isLive(walk, one)) return
    waiting.state = overspent(walk, one) ? exhaust(walk, one) : start(one, waiting.late)
    return
  }
  if (waiting !== undefined) waiting.state = 'skipped_overlap'
  for (const dueAt of due) note(dueAt, 'missed')
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
  one.status = 'budget_exhausted'
  one.resumeAt = dayStart(one, walk.rig.clock.now()) + DAY
  return 'skipped_budget'
}

function overspent(walk: Walk, one: ModelSchedule): boolean {
  const from = dayStart(one, walk.rig.clock.now())
  return walk.spent.reduce((sum, { at, micros }) => (at >= from ? sum + micros : sum), 0) >= one.budget
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

// The steps.

function look(walk: Walk, _a: number, b: number): void {
  for (const one of walk.schedules) decide(walk, one)
  walk.rig.look([7, 100, 10_000][b % 3])
}

function pass({ rig }: Walk, a: number, b: number): void {
  const longest = [2 * MINUTE, HOUR, 5 * HOUR, 5 * HOUR, 2 * DAY][b % 5]!
  rig.clock.advance(Math.ceil((a / 1000) * longest))
}

function jump({ rig }: Walk, a: number, b: number): void {
  const furthest = [MINUTE, HOUR, 3 * HOUR, DAY + HOUR][b % 4]!
  rig.clock.jump(Math.round(((a - 500) / 500) * furthest))
}

function jobOf({ rig, schedules }: Walk, a: number): string | undefined {
  return rig.live(schedules[a % SCHEDULES]!.schedule)[0]
}

function statusOf({ rig }: Walk, jobId: string): string {
  return rig.jobs.getJob(rig.records.db, jobId).status
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
  const failed = { ending: 'failed', error: 'model_unavailable', message: 'It does not answer.' } as const
  walk.rig.write((tx) => walk.rig.jobs.settle(tx, claim, b % 3 === 0 ? failed : { ending: 'completed', text: 'Done.' }))
}

function wait(walk: Walk, a: number, b: number): void {
  run(walk, a)
  const jobId = jobOf(walk, a)
  const claim = jobId === undefined ? undefined : walk.claims.get(jobId)
  if (claim === undefined || statusOf(walk, claim.jobId) !== 'running') return
  const status = b % 2 === 0 ? 'awaiting_approval' : 'awaiting_child'
  walk.rig.write((tx) => walk.rig.jobs.settle(tx, claim, { ending: 'waiting', status }))
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
  const one = walk.schedules[a % SCHEDULES]!
  const minutes = INTERVALS[b % INTERVALS.length]!
  if (minutes * MINUTE !== one.everyMs) {
    decide(walk, one)
    one.everyMs = minutes * MINUTE
    one.horizon = Math.max(walk.rig.clock.now(), one.times.at(-1)?.dueAt ?? 0)
  }
  // A form that sends back what was there is a change too: when the next day has begun, or the clock was set, before
  // anybody looked, whoever saves it sees at once whether there is budget.
  reconsider(walk, one)
  walk.rig.write((tx) => walk.rig.schedules.update(tx, one.schedule.id, { cron: cronOf(minutes) }))
}

function raise(walk: Walk, a: number, b: number): void {
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
    assert.throws(ask, /still going/)
    return
  }
  ask()
  one.askedFor++
}

function crash(walk: Walk): void {
  walk.rig.reboot()
  walk.rig.records.db.connection.pragma('synchronous = OFF')
}

/** The process dies in the middle of a decision: it never happened. */
function cutOff(walk: Walk, a: number): void {
  const one = walk.schedules[a % SCHEDULES]!
  const decideAndDie = () =>
    walk.rig.write((tx) => {
      walk.rig.schedules.decide(tx, one.schedule.id)
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
    compareLedger(
      one,
      rig.records.db
        .prepare<OccurrenceRow>(
          "SELECT * FROM occurrences WHERE schedule_seq = (SELECT seq FROM schedules WHERE id = ?) AND origin = 'clock' ORDER BY due_at",
        )
        .all(id),
    )
    assert.ok(rig.live(one.schedule).length <= 1, 'one job at a time')
    const read = rig.read(one.schedule)
    assert.equal(read.status, one.status)
    if (read.nextDueAt !== null) assert.ok(read.nextDueAt > Math.max(rig.clock.now(), one.times.at(-1)?.dueAt ?? 0))
    const jobs = rig.records.db.prepare<{ n: number }>('SELECT count(*) AS n FROM agent_jobs WHERE schedule_id = ?').get(id)!.n
    const runs = one.times.filter(({ state }) => state === 'ran' || state === 'caught_up').length
    assert.equal(jobs, runs + one.askedFor, 'each run has one job, and nothing else has')
    compareTold(walk, one)
  }
}

/** Each due time is in one row, a row of its own or one of many that came to the same. */
function compareLedger({ times }: ModelSchedule, rows: OccurrenceRow[]): void {
  let seen = 0
  for (const row of rows) {
    const covered = times.slice(seen, seen + row.times)
    assert.equal(covered.length, row.times, 'no due time is in the ledger that never was')
    assert.equal(row.due_at, covered[0]!.dueAt)
    assert.equal(row.until_at ?? row.due_at, covered.at(-1)!.dueAt)
    for (const { state, dueAt } of covered) assert.equal(row.state, state, `what became of ${new Date(dueAt).toISOString()}`)
    seen += row.times
  }
  assert.equal(seen, times.length, 'no due time is lost')
}

function compareTold({ rig }: Walk, one: ModelSchedule): void {
  const days = rig.told.filter(({ scheduleId }) => scheduleId === one.schedule.id).map(({ resumeAt }) => resumeAt)
  assert.equal(new Set(days).size, days.length, 'the owner is told once a day')
  if (one.status === 'budget_exhausted') assert.ok(days.length > 0, 'the owner is told')
}
