import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Tx } from '../../platform/db/database.ts'
import type { Schedule } from '../../contract/schedules.ts'
import { openScheduleRig, type ScheduleRig } from '../../testing/schedule-rig.ts'

const HOUR = 3_600_000
const FIRST = { at: -1, seq: 0 }

let rig: ScheduleRig
let schedule: Schedule

beforeAll(() => {
  rig = openScheduleRig()
  schedule = rig.create()
})
afterAll(() => rig.close())

type Used = { sql: string; plan: string[] }

/** Every statement that `act` prepares, with its query plan. */
function plansOf(act: () => void): Used[] {
  const { db } = rig.domain
  const { connection } = db
  const used = new Set<string>()
  db.statements.listen((sql) => used.add(sql))
  try {
    act()
  } finally {
    db.statements.listen(null)
  }
  return [...used].filter((sql) => /^\s*(SELECT|WITH|UPDATE|DELETE|INSERT)/i.test(sql)).map((sql) => ({ sql, plan: planOf(sql) }))

  function planOf(sql: string): string[] {
    // A plan does not depend on values, but every placeholder needs one.
    const values = (sql.match(/\?/g) ?? []).map(() => 1)
    const named = Object.fromEntries((sql.match(/@\w+/g) ?? []).map((name) => [name.slice(1), 1]))
    return connection
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values, named)
      .map((row) => row.detail)
  }
}

/** Runs `act` in one transaction. */
function plansOfWriting(act: (tx: Tx) => unknown): Used[] {
  return rig.write((tx) => plansOf(() => void act(tx)))
}

/**
 * All schedules are moved after the clock was set back. Other scans read a partial index of exactly these rows, a few rows, or the
 * given ids.
 */
const WANTED =
  /^SCAN (moved( USING COVERING INDEX schedules_by_agent)?$|(older|newest|given|\d+-ROW VALUES CLAUSE)$|given VIRTUAL TABLE|occurrences USING (COVERING )?INDEX occurrences_one_due|CONSTANT ROW|schedules USING COVERING INDEX schedules_(due|to_resume))/

function slowParts(used: Used[]): string[] {
  return used.flatMap(({ sql, plan }) =>
    plan
      .filter((line) => (line.startsWith('SCAN ') && !WANTED.test(line)) || /TEMP B-TREE|AUTOMATIC/.test(line))
      .map((line) => `${line} in ${sql.replace(/\s+/g, ' ')}`),
  )
}

test('finds due schedules by an index of those only', () => {
  const used = plansOf(() => {
    const { db } = rig.domain
    rig.schedules.listDue(db, 'running', FIRST, 100)
    rig.schedules.listDue(db, 'paused', FIRST, 100)
    rig.schedules.listToResume(db)
    rig.schedules.listFreed(db)
    rig.schedules.listWaiting(db)
    rig.schedules.nextAt(db)
  })
  expect(used.map(({ plan }) => plan)).toEqual([
    ['SEARCH schedules USING INDEX schedules_due (next_due_at>? AND next_due_at<?)'],
    ['SEARCH schedules USING INDEX schedules_paused_due (next_due_at>? AND next_due_at<?)'],
    ['SEARCH schedules USING INDEX schedules_to_resume (resume_at<?)'],
    [
      'SCAN waiting USING COVERING INDEX occurrences_one_due',
      'SEARCH schedule USING INTEGER PRIMARY KEY (rowid=?)',
      'CORRELATED SCALAR SUBQUERY 1',
      'SEARCH job USING INDEX agent_jobs_open_runs (schedule_id=?)',
    ],
    ['SCAN waiting USING COVERING INDEX occurrences_one_due', 'SEARCH schedule USING INTEGER PRIMARY KEY (rowid=?)'],
    ['SEARCH schedules USING INDEX schedules_due (next_due_at>?)'],
    ['SEARCH schedules USING COVERING INDEX schedules_to_resume (resume_at>?)'],
  ])
})

test('decides in every way without scanning', () => {
  const used: Used[] = []
  const decide = () => used.push(...plansOfWriting((tx) => rig.schedules.decide(tx, [schedule.id])))
  rig.clock.advance(HOUR)
  decide()
  const [jobId] = rig.live(schedule)
  rig.clock.advance(3 * HOUR)
  decide()
  rig.clock.advance(2 * HOUR)
  decide()
  rig.end(jobId!)
  decide()
  rig.spend(5_000_000)
  rig.clock.advance(HOUR)
  decide()
  rig.write((tx) => rig.schedules.pause(tx, schedule.id))
  rig.clock.advance(1500 * HOUR)
  decide()
  expect(rig.runHistory(schedule).map(({ state }) => state)).toEqual([
    'caught_up',
    'missed',
    'missed',
    'skipped_overlap',
    'missed',
    'caught_up',
    'skipped_budget',
    'paused',
  ])
  expect(used.length).toBeGreaterThan(20)
  expect(slowParts(used)).toEqual([])
})

test('follows a clock set back without scanning', () => {
  const one = rig.create({ name: 'Again', dailyBudgetUsd: 0.5 })
  const used: Used[] = []
  const look = (ms: number) => {
    rig.clock.jump(ms)
    used.push(...plansOfWriting((tx) => rig.schedules.followClockBack(tx)))
    used.push(...plansOfWriting((tx) => rig.schedules.decide(tx, [one.id])))
  }
  look(1500 * HOUR)
  look(HOUR)
  look(-3 * HOUR)
  expect(rig.read(one).nextDueAt).toBeLessThan(rig.clock.now() + HOUR)
  look(HOUR)
  look(2 * HOUR)
  look(-1000 * HOUR)
  used.push(...plansOfWriting((tx) => rig.schedules.update(tx, one.id, { cron: '1 * * * *' })))
  expect(used.some(({ sql }) => sql.includes('"due_at" between'))).toBe(true)
  expect(used.some(({ sql }) => sql.includes('set "times" = ?, "until_at" = ?'))).toBe(true)
  expect(slowParts(used)).toEqual([])
  rig.write((tx) => rig.schedules.remove(tx, one.id))
})

test('decides many schedules together with a few statements', () => {
  const ids = Array.from({ length: 100 }, (_, i) => rig.create({ name: `Watch ${i}`, cron: i % 2 === 0 ? '* * * * *' : '*/1 * * * *' }).id)
  const used: Used[] = []
  const told: string[] = []
  const stop = rig.domain.db.onEvents(({ type }) => void told.push(type))
  /** Also counts the events. Returns the number of jobs made. */
  const decide = (): number => {
    let [asked, fired] = [0, 0]
    told.length = 0
    used.push(
      ...plansOfWriting((tx) => {
        const prepare: typeof tx.prepare = (sql) => (asked++, tx.prepare(sql))
        const decisions = rig.schedules.decide({ ...tx, prepare }, ids)
        fired = [...decisions.values()].filter((decision) => decision.ran).length
      }),
    )
    expect(asked).toBeLessThan(100)
    return fired
  }
  const waiting = () => rig.schedules.listWaiting(rig.domain.db).length
  const each = (...types: string[]) => Array.from({ length: 100 }, () => types).flat()
  try {
    rig.clock.advance(60_000)
    expect(decide()).toBe(100)
    rig.clock.advance(60_000)
    expect(decide()).toBe(0)
    expect({ told, waiting: waiting() }).toEqual({ told: each('schedule.skipped'), waiting: 100 })
    rig.clock.advance(60_000)
    expect(decide()).toBe(0)
    expect({ told, waiting: waiting() }).toEqual({ told: each('schedule.skipped', 'schedule.skipped'), waiting: 100 })
    for (const id of ids) for (const jobId of rig.live({ id } as Schedule)) rig.end(jobId)
    expect(decide()).toBe(100)
    expect(waiting()).toBe(0)
    rig.spend(5_000_000)
    rig.clock.advance(60_000)
    rig.told.length = 0
    rig.write((tx) => rig.schedules.decide(tx, ids))
    expect(rig.told).toHaveLength(100)
    rig.clock.advance(60_000)
    expect(decide()).toBe(0)
    expect(told).toEqual(each('schedule.skipped'))
    // The plan of an insert of many rows also has the checks of references within that statement.
    expect(slowParts(used.filter(({ sql }) => !sql.startsWith('INSERT')))).toEqual([])
  } finally {
    stop()
    for (const id of ids) rig.write((tx) => rig.schedules.remove(tx, id))
  }
})

test('reads, changes and prunes without scanning', () => {
  const { db } = rig.domain
  const other = rig.create({ name: 'Olds' })
  const used = [
    ...plansOf(() => {
      rig.schedules.get(db, schedule.id)
      rig.schedules.listOccurrences(db, { scheduleId: schedule.id, limit: 50 })
      rig.schedules.list(db, { agentId: rig.agentId, limit: 50 })
    }),
    ...plansOfWriting((tx) => {
      rig.schedules.update(tx, other.id, { cron: '1 * * * *' })
      rig.schedules.runNow(tx, other.id)
      rig.schedules.pause(tx, other.id)
      rig.schedules.resume(tx, other.id)
      rig.schedules.prune(tx)
      rig.schedules.markNotifyUnreachable(tx, other.id)
      rig.schedules.remove(tx, other.id)
    }),
  ]
  expect(used.length).toBeGreaterThan(15)
  expect(slowParts(used)).toEqual([])
})

test('lists schedules in the order of the table', () => {
  const used = plansOf(() => void rig.schedules.list(rig.domain.db, { limit: 50 }))
  expect(used.find(({ sql }) => sql.includes('order by "schedules"."seq" desc'))!.plan).toEqual([
    'SEARCH schedules USING INTEGER PRIMARY KEY (rowid<?)',
  ])
})

test('reads upcoming runs in their order, and no more than are shown', () => {
  const used = plansOf(() => void rig.schedules.listUpcoming(rig.domain.db, 24))
  expect(slowParts(used)).toEqual([])
})

test('sums up runs by their key', () => {
  const used = plansOf(() => void rig.schedules.sumUp(rig.domain.db, { from: 0, scheduleId: schedule.id }))
  const sums = used.find(({ sql }) => sql.includes('GROUP BY'))!
  // It groups rows of one schedule and reads none of another.
  expect(sums.plan.filter((line) => line.startsWith('SCAN '))).toEqual([])
  expect(sums.plan).toContainEqual(
    expect.stringMatching(/^SEARCH occurrence USING INDEX occurrences_one_per_due_time \(schedule_seq=\? AND due_at>\? AND due_at<\?\)/),
  )
})
