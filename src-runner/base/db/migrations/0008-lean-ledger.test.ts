import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIds } from '../../../kit/ids.ts'
import { migrate } from '../migrate.ts'
import { MIGRATIONS } from './migrations.ts'

const NOON = Date.parse('2026-11-20T12:00:00Z')
const MINUTE = 60_000

let connection: Sqlite.Database
let agentId: string
const ids = createIds(() => NOON)
beforeEach(() => {
  connection = new Sqlite(':memory:')
  connection.pragma('foreign_keys = ON')
  connection.function('new_id', () => ids.next())
  connection.function('now_ms', () => NOON)
  migrate(connection, null, MIGRATIONS.slice(0, 7))
  agentId = ids.next()
  run(
    `INSERT INTO agents (id, entity_id, slug, name, instructions, fallbacks, autonomy, folders, max_turns, max_cost_micros, max_working_ms,
       max_tool_calls, is_default, created_at, updated_at)
     SELECT ?, id, 'a', 'Ada', '', '[]', 'ask_first', '[]', 1, 1, 1, 1, 0, 0, 0 FROM entities`,
    agentId,
  )
})
afterEach(() => connection.close())

const all = (sql: string, ...values: unknown[]) => connection.prepare<unknown[], Record<string, unknown>>(sql).all(...values)
const run = (sql: string, ...values: unknown[]) => connection.prepare(sql).run(...values)
const upgrade = () => migrate(connection, null, MIGRATIONS.slice(0, 8))

function addSchedule(name: string): string {
  const id = ids.next()
  run(
    `INSERT INTO schedules (id, entity_id, agent_id, name, cron, timezone, task, daily_budget_micros, catch_up_ms, notify_on_success, notify_via,
       status, next_due_at, watch_state, created_at, updated_at)
     SELECT ?, id, ?, ?, '* * * * *', 'UTC', 'Look.', 5000000, 0, 0, 'auto', 'active', ?, 'kept', 1, 2 FROM entities`,
    ...[id, agentId, name, NOON],
  )
  return id
}

function addJob(scheduleId: string | null, more: Record<string, unknown> = {}): string {
  const id = ids.next()
  const row = { status: 'completed', claim: 1, started_at: NOON, finished_at: NOON, cost_micros: 7, schedule_id: scheduleId, ...more }
  run(
    `INSERT INTO agent_jobs (id, entity_id, agent_id, channel, title, created_at, ${Object.keys(row).join(', ')})
     SELECT ?, id, ?, 'schedule', 'Job', ?, ${Object.keys(row)
       .map(() => '?')
       .join(', ')} FROM entities`,
    ...[id, agentId, NOON, ...Object.values(row)],
  )
  return id
}

function addOccurrence(scheduleId: string, state: string, minute: number, more: Record<string, unknown> = {}): string {
  const id = ids.next()
  const decidedAt = state === 'due' ? null : NOON + minute
  const row = { state, due_at: NOON + minute * MINUTE, origin: 'clock', reason: `It is ${state}.`, decided_at: decidedAt, ...more }
  run(
    `INSERT INTO occurrences (schedule_id, id, noted_at, ${Object.keys(row).join(', ')}) VALUES (?, ?, ?, ${Object.keys(row)
      .map(() => '?')
      .join(', ')})`,
    ...[scheduleId, id, NOON + 1, ...Object.values(row)],
  )
  return id
}

const LEDGER = `
  SELECT schedule.name, occurrence.id, occurrence.state, (due_at - ${NOON}) / ${MINUTE} AS minute, origin, reason, times,
    (until_at - ${NOON}) / ${MINUTE} AS until, noted_at - ${NOON} AS noted, decided_at - ${NOON} AS decided, job.id AS job
  FROM occurrences AS occurrence JOIN schedules AS schedule ON schedule.seq = occurrence.schedule_seq
    LEFT JOIN agent_jobs AS job ON job.seq = occurrence.job_seq
  ORDER BY schedule.seq, due_at, origin`

test('the ledger keeps every row, and each run its job', () => {
  const [news, olds, young] = [addSchedule('News'), addSchedule('Olds'), addSchedule('Young')]
  const ran = addOccurrence(news, 'ran', 0)
  const ranJob = addJob(news, { occurrence_id: ran })
  const missed = addOccurrence(news, 'missed', 1, { times: 5, until_at: NOON + 5 * MINUTE })
  const skipped = ['skipped_overlap', 'skipped_budget', 'paused'].map((state, i) => addOccurrence(news, state, 6 + i))
  const caughtUp = addOccurrence(news, 'caught_up', 9)
  const caughtUpJob = addJob(news, { occurrence_id: caughtUp })
  const asked = addOccurrence(news, 'ran', 9, { origin: 'run_now' })
  const askedJob = addJob(news, { occurrence_id: asked, status: 'running', finished_at: null, boot_id: 'b', heartbeat_at: 1 })
  const due = addOccurrence(news, 'due', 10)
  run('UPDATE schedules SET last_run_id = ? WHERE id = ?', asked, news)
  const retry = addJob(news, { retry_of_job_id: ranJob })
  const oldsRan = addOccurrence(olds, 'ran', 0)
  const oldsJob = addJob(olds, { occurrence_id: oldsRan })
  run('UPDATE schedules SET last_run_id = ? WHERE id = ?', oldsRan, olds)
  const other = addJob(null)
  const jobsBefore = all('SELECT seq, id, title, status, schedule_id, retry_of_job_id, cost_micros, finished_at FROM agent_jobs')
  upgrade()

  const row = (name: string, id: string | null, state: string, minute: number, more: Record<string, unknown> = {}) => ({
    ...{ name, id, state, minute, origin: 'clock', reason: `It is ${state}.`, times: 1, until: null, noted: 1 },
    ...{ decided: state === 'due' ? null : minute, job: null, ...more },
  })
  expect(all(LEDGER)).toEqual([
    row('News', null, 'ran', 0, { job: ranJob }),
    row('News', missed, 'missed', 1, { times: 5, until: 5 }),
    row('News', skipped[0]!, 'skipped_overlap', 6),
    row('News', skipped[1]!, 'skipped_budget', 7),
    row('News', skipped[2]!, 'paused', 8),
    row('News', null, 'caught_up', 9, { job: caughtUpJob }),
    row('News', null, 'ran', 9, { job: askedJob, origin: 'run_now' }),
    row('News', due, 'due', 10),
    row('Olds', null, 'ran', 0, { job: oldsJob }),
  ])
  const lastRuns = all(
    `SELECT schedule.id, job.id AS job, schedule.watch_state AS kept FROM schedules AS schedule
     LEFT JOIN occurrences AS last_run ON last_run.seq = schedule.last_run_seq LEFT JOIN agent_jobs AS job ON job.seq = last_run.job_seq`,
  )
  expect(lastRuns).toEqual([
    { id: news, job: askedJob, kept: 'kept' },
    { id: olds, job: oldsJob, kept: 'kept' },
    { id: young, job: null, kept: 'kept' },
  ])
  expect(all('SELECT seq, id, title, status, schedule_id, retry_of_job_id, cost_micros, finished_at FROM agent_jobs')).toEqual(jobsBefore)
  expect(jobsBefore.map(({ id }) => id)).toEqual([ranJob, caughtUpJob, askedJob, retry, oldsJob, other])
  expect(connection.pragma('integrity_check', { simple: true })).toBe('ok')
})

test('the database itself refuses a second decision, a second job and a run without one', () => {
  const schedule = addSchedule('News')
  const due = addOccurrence(schedule, 'due', 1)
  const ran = addOccurrence(schedule, 'ran', 0)
  addJob(schedule, { occurrence_id: ran })
  const [another, third] = [addJob(schedule), addJob(schedule)]
  upgrade()
  const seqOf = (jobId: string) => all('SELECT seq FROM agent_jobs WHERE id = ?', jobId)[0]!['seq']
  const add = (state: string, minute: number, id: string | null, jobSeq: unknown) =>
    run(
      `INSERT INTO occurrences (schedule_seq, due_at, origin, id, state, reason, noted_at, decided_at, job_seq) VALUES (1, ?, 'clock', ?, ?, '', 1, ?, ?)`,
      ...[NOON + minute * MINUTE, id, state, state === 'due' ? null : 1, jobSeq],
    )
  expect(() => add('ran', 0, null, seqOf(another))).toThrow('UNIQUE')
  expect(() => add('due', 2, ids.next(), null)).toThrow('UNIQUE')
  expect(() => add('ran', 3, null, null)).toThrow('CHECK')
  expect(() => add('missed', 3, null, seqOf(another))).toThrow('CHECK')
  expect(() => add('ran', 3, ids.next(), seqOf(another))).toThrow('CHECK')
  expect(() => add('ran', 3, null, 99)).toThrow('FOREIGN KEY')
  for (const change of [
    `job_seq = ${String(seqOf(another))}`,
    'due_at = 1',
    "state = 'caught_up'",
    'decided_at = 5',
    "origin = 'run_now'",
  ]) {
    expect(() => run(`UPDATE occurrences SET ${change} WHERE state = 'ran'`)).toThrow('a decided occurrence never changes')
  }
  // What waited is decided once, and its job is the only one.
  const decide = (jobId: string) =>
    run("UPDATE occurrences SET state = 'ran', decided_at = 1, id = NULL, job_seq = ? WHERE due_at = ?", seqOf(jobId), NOON + MINUTE)
  expect(all("SELECT id FROM occurrences WHERE state = 'due'")).toEqual([{ id: due }])
  decide(another)
  expect(() => decide(third)).toThrow('a decided occurrence never changes')
  // With the schedule its ledger goes, and nothing else.
  run('DELETE FROM schedules')
  expect(all('SELECT count(*) AS n FROM occurrences')).toEqual([{ n: 0 }])
  expect(all('SELECT count(*) AS n FROM agent_jobs')).toEqual([{ n: 3 }])
})
