// Kills the runner around the moments at which schedules come due, and looks whether a due time was lost or ran twice. Then
// stops the process and lets it go on, as a machine does that sleeps.
//
//   node build/schedule-kill-test.ts [--kills 500] [--freeze-minutes 3]
//
// Before each start, while nobody holds the database, every schedule whose due time was decided gets a new one, a moment
// ahead. Half of the deaths come from here at a random moment around those; half are self-inflicted in the middle of the
// transaction or right behind it (src-runner/testing/fault-points.ts). The clock, the alarm and the database are real.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { systemClock } from '../src-runner/lib/clock.ts'
import { builtChild } from '../src-runner/testing/built-children.ts'
import type { FaultPoint } from '../src-runner/testing/fault-points.ts'
import { findFreePort } from '../src-runner/testing/free-port.ts'
import { startModelServer, type ModelServer } from '../src-runner/testing/model-servers/model-server.ts'
import { createRunnerClient, type RunnerClient } from '../src-runner/testing/runner-client.ts'
import { setup } from './build-first.mjs'
import { endProcess, isAlive, startRunnerProcess, untilHealthy } from './runner-process.ts'

export type ScheduleKillOptions = {
  kills: number
  schedules?: number
  /** How long the process is stopped at the end. 0: for two seconds, over one due time. */
  freezeMinutes?: number
  tell?: (line: string) => void
  signal?: AbortSignal
}

export type ScheduleKillResult = {
  kills: number
  /** Deaths that left a due time behind that had come and was not decided. */
  between: number
  dueTimes: number
  jobs: number
  frozenMs: number
  /** Runs that each schedule made for the time in which the process was stopped: the least and the most. */
  caughtUp: [number, number]
  broken: string[]
}

const CHILD = builtChild('kill-child')
const POINTS: readonly FaultPoint[] = [
  'a due time is being decided',
  'a job is being kept',
  'the next due time is being noted',
  'a job is kept',
]
const MINUTE_MS = 60_000
/** The due times of a start lie this far behind the moment at which it should be healthy. */
const LEAD_MS = 60
const SPREAD_MS = 60
const LIMIT_MS = 120_000
/** The due time in which the process is stopped lies this far behind the moment at which it should be healthy. */
const FREEZE_LEAD_MS = 5_000
/** With more, the due times would not fit into one minute with what comes before them. */
const MAX_FREEZE_LEAD_MS = 30_000
/** From the last rest to the start of the process that is stopped. */
const END_MS = 8_000

export async function runScheduleKillTest({
  kills,
  schedules: count = 40,
  freezeMinutes = 0,
  tell = () => {},
  signal,
}: ScheduleKillOptions): Promise<ScheduleKillResult> {
  const home = mkdtempSync(join(tmpdir(), 'deckhand-schedule-kill-'))
  const models = await startModelServer({ fallback: { text: ['Done.'], usage: { input: 10, output: 5 } } })
  const stage = { home, port: await findFreePort(), file: join(home, 'deckhand.db'), signal }
  const client = createRunnerClient(`http://127.0.0.1:${stage.port}`)
  const broken: string[] = []
  const planned = new Plan(stage.file)
  const startedAt = Date.now()
  let child = startRunner(stage)
  try {
    await untilHealthy(client, child, LIMIT_MS)
    const startMs = Date.now() - startedAt
    await prepare(client, models, count)
    await endProcess(child, 'SIGKILL')

    let between = 0
    for (let kill = 1; kill <= kills; kill++) {
      const dueAt = Date.now() + startMs + LEAD_MS
      planned.plan(dueAt)
      const point = kill % 2 === 0 ? POINTS[(kill / 2) % POINTS.length] : undefined
      child = startRunner(stage, point, Math.floor(Math.random() * count))
      if (point === undefined) await die(child, dueAt + (Math.random() * 4 - 0.5) * SPREAD_MS)
      else await exitOf(child)
      if (planned.countOpen(Date.now()) > 0) between++
      if (kill % 50 === 0 || kill === kills) {
        broken.push(...planned.inspect())
        tell(`${kill} kills, ${planned.size()} due times, ${between} deaths between due and decided, ${broken.length} broken`)
      }
    }

    const restartedAt = Date.now()
    child = startRunner(stage)
    await untilHealthy(client, child, LIMIT_MS)
    const leadMs = Math.min(2 * (Date.now() - restartedAt) + FREEZE_LEAD_MS, MAX_FREEZE_LEAD_MS)
    await untilIdleWithinMinute(client, leadMs + END_MS)
    await endProcess(child, 'SIGKILL')
    const frozen = await freeze(leadMs)
    if ((await endProcess(child, 'SIGTERM')) !== 0) broken.push('the runner did not end well')
    broken.push(...planned.inspect())
    const runs = [...planned.outcomes(frozen.from, frozen.to)].map(([id, rows]) => {
      const made = rows.filter(({ jobs }) => jobs > 0).length
      if (made !== 1 || rows.some(({ state, jobs }) => jobs === 0 && state !== 'missed')) {
        broken.push(`${id} after it was stopped: ${rows.map(({ state, jobs }) => `${state} ${jobs}`).join(', ')}`)
      }
      return made
    })
    return {
      kills,
      between,
      ...planned.count(),
      frozenMs: frozen.to - frozen.from,
      caughtUp: [Math.min(...runs), Math.max(...runs)],
      broken: [...new Set(broken)].slice(0, 50),
    }
  } finally {
    await endProcess(child, 'SIGKILL')
    await models.close()
    rmSync(home, { recursive: true, force: true })
  }

  /** Due times come while the process is stopped; its timers know nothing of that time. */
  async function freeze(leadMs: number): Promise<{ from: number; to: number }> {
    const dueAt = Date.now() + leadMs
    planned.plan(dueAt)
    child = startRunner(stage)
    await untilHealthy(client, child, LIMIT_MS)
    await until(dueAt - 200)
    child.kill('SIGSTOP')
    const from = Date.now()
    tell(`stopped for ${freezeMinutes === 0 ? 'two seconds' : `${freezeMinutes} minutes`}`)
    await until(dueAt + SPREAD_MS + (freezeMinutes === 0 ? 2_000 : freezeMinutes * MINUTE_MS))
    const to = Date.now()
    child.kill('SIGCONT')
    await untilIdle(client)
    return { from, to }
  }
}

/** What must stand in the run history, seen from outside: read and written only while no runner has the database. */
class Plan {
  readonly #file: string
  /** Due times that have to be in the run history some day, by schedule. */
  readonly #expected = new Map<string, Set<number>>()

  constructor(file: string) {
    this.#file = file
  }

  /** Gives every schedule whose last due time was decided a new one around this moment. */
  plan(aroundMs: number): void {
    this.#with((db) => {
      const set = db.prepare('UPDATE schedules SET next_due_at = ? WHERE id = ?')
      const runHistory = db.prepare<[number, number]>(
        "SELECT 1 FROM occurrences WHERE schedule_seq = ? AND due_at = ? AND origin = 'clock'",
      )
      const rows = db.prepare<[], { seq: number; id: string; next_due_at: number }>('SELECT seq, id, next_due_at FROM schedules').all()
      for (const { seq, id, next_due_at: next } of rows) {
        const expected = this.#expectedOf(id)
        const dueAt = Math.floor(aroundMs + Math.random() * SPREAD_MS)
        const isOpen = [...expected].slice(-1).some((at) => runHistory.get(seq, at) === undefined)
        // What comes due by its own expression stays in the plan: nothing may be lost by the test itself.
        if (isOpen || next <= dueAt) expected.add(next)
        else {
          expected.add(dueAt)
          set.run(dueAt, id)
        }
      }
    })
  }

  /** How many due times have come by then and are not in the run history. */
  countOpen(now: number): number {
    return this.#with((db) => db.prepare<[number], { n: number }>('SELECT count(*) AS n FROM schedules WHERE next_due_at <= ?').get(now)!.n)
  }

  size(): number {
    return [...this.#expected.values()].reduce((sum, times) => sum + times.size, 0)
  }

  count(): { dueTimes: number; jobs: number } {
    return this.#with((db) => ({
      dueTimes: db.prepare<[], { n: number }>('SELECT sum(times) AS n FROM occurrences').get()!.n,
      jobs: db.prepare<[], { n: number }>('SELECT count(*) AS n FROM agent_jobs WHERE schedule_id IS NOT NULL').get()!.n,
    }))
  }

  /** What is wrong now, in words. A due time that is still ahead of its schedule is not lost. */
  inspect(): string[] {
    return this.#with((db) => {
      const found: string[] = []
      const say = (sql: string, words: (row: Record<string, unknown>) => string) =>
        found.push(...db.prepare<[], Record<string, unknown>>(sql).all().map(words))
      const next = db.prepare<[string], { at: number }>('SELECT next_due_at AS at FROM schedules WHERE id = ?')
      const inRunHistory = db.prepare<[string, number, number]>(
        `SELECT 1 FROM occurrences WHERE schedule_seq = (SELECT seq FROM schedules WHERE id = ?)
           AND (due_at = ? OR (due_at < ? AND until_at IS NOT NULL AND until_at >= due_at))`,
      )
      for (const [id, times] of this.#expected) {
        const ahead = next.get(id)!.at
        for (const at of times)
          if (at < ahead && inRunHistory.get(id, at, at) === undefined) found.push(`the due time ${at} of ${id} was lost`)
      }
      say(
        'SELECT schedule_seq AS seq, due_at FROM occurrences GROUP BY schedule_seq, due_at HAVING count(*) > 1',
        (row) => `twice in the run history: ${JSON.stringify(row)}`,
      )
      say(
        'SELECT job_seq AS seq FROM occurrences WHERE job_seq IS NOT NULL GROUP BY job_seq HAVING count(*) > 1',
        (row) => `two due times of the job ${String(row['seq'])}`,
      )
      say(
        `SELECT o.seq, o.state FROM occurrences AS o JOIN schedules AS schedule ON schedule.seq = o.schedule_seq
         LEFT JOIN agent_jobs AS job ON job.seq = o.job_seq AND job.schedule_id = schedule.id
         WHERE (o.state IN ('ran', 'caught_up')) <> (job.id IS NOT NULL)`,
        (row) => `the job of ${String(row['state'])} ${String(row['seq'])} is not what the run history says`,
      )
      say(
        `SELECT job.id FROM agent_jobs AS job LEFT JOIN occurrences AS o ON o.job_seq = job.seq
         WHERE job.schedule_id IS NOT NULL AND o.seq IS NULL`,
        (row) => `the job ${String(row['id'])} belongs to no due time`,
      )
      say(
        `SELECT schedule_id AS id FROM agent_jobs WHERE status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')
         AND schedule_id IS NOT NULL GROUP BY schedule_id HAVING count(*) > 1`,
        (row) => `two jobs of the schedule ${String(row['id'])} at the same time`,
      )
      if (db.pragma('quick_check', { simple: true }) !== 'ok') found.push('the file is damaged')
      return found
    })
  }

  /** Rows of each schedule for due times in this range: what became of them. */
  outcomes(fromMs: number, toMs: number): Map<string, { dueAt: number; state: string; jobs: number }[]> {
    return this.#with((db) => {
      const rows = db
        .prepare<[number, number], { id: string; due_at: number; state: string; jobs: number }>(
          `SELECT schedule.id, o.due_at, o.state, o.job_seq IS NOT NULL AS jobs
           FROM occurrences AS o JOIN schedules AS schedule ON schedule.seq = o.schedule_seq
           WHERE o.due_at BETWEEN ? AND ? ORDER BY o.due_at`,
        )
        .all(fromMs, toMs)
      return new Map(
        [...this.#expected.keys()].map((id) => [
          id,
          rows.filter((row) => row.id === id).map(({ due_at: dueAt, state, jobs }) => ({ dueAt, state, jobs })),
        ]),
      )
    })
  }

  #expectedOf(id: string): Set<number> {
    let times = this.#expected.get(id)
    if (!times) this.#expected.set(id, (times = new Set()))
    return times
  }

  #with<T>(look: (db: Database.Database) => T): T {
    const db = new Database(this.#file)
    try {
      return look(db)
    } finally {
      db.close()
    }
  }
}

async function prepare(client: RunnerClient, models: ModelServer, count: number): Promise<void> {
  const { provider } = await client.ok('createProvider', {
    body: { kind: 'openai-compatible', name: 'Kill test', baseUrl: `${models.url}/v1` },
  })
  const { agent } = await client.ok('createAgent', { body: { name: 'Watcher', model: { providerId: provider.id, model: 'small' } } })
  for (let i = 0; i < count; i++) {
    const body = { name: `Watch ${i}`, agentId: agent.id, cron: '* * * * *', timezone: 'UTC', task: 'Look.' }
    await client.ok('createSchedule', { body })
  }
}

type Stage = { home: string; port: number; file: string; signal?: AbortSignal }

function startRunner({ home, port, signal }: Stage, point?: FaultPoint, after = 0): ChildProcess {
  const fault: Record<string, string> = point === undefined ? {} : { KILL_AT: point, KILL_AFTER: String(after) }
  return startRunnerProcess(CHILD, { dataDir: home, port, signal, env: { WORKER_SECRET: 'x'.repeat(43), ...fault } })
}

async function die(child: ChildProcess, at: number): Promise<void> {
  await until(at)
  await endProcess(child, 'SIGKILL')
}

async function exitOf(child: ChildProcess): Promise<void> {
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  if (isAlive(child)) await once(child, 'exit')
  clearTimeout(limit)
}

function until(at: number): Promise<void> {
  return systemClock.sleep(Math.max(0, at - Date.now()))
}

/** Nothing is due, nothing waits and nothing runs, and so it was a moment ago. */
async function untilIdle(client: RunnerClient): Promise<void> {
  let quiet = 0
  await poll(async () => {
    const { schedules } = await client.ok('listSchedules', { query: { limit: 200 } })
    const isQuiet = schedules.every(({ liveJobId, nextDueAt }) => liveJobId === null && nextDueAt! > Date.now())
    quiet = isQuiet ? quiet + 1 : 0
    return quiet === 5
  }, 'the runner did not come to rest')
}

/**
 * The same, with enough of the minute left for what follows: a due time of the schedules' own that came before the stop
 * would run then, and leave none for the time after it.
 */
async function untilIdleWithinMinute(client: RunnerClient, neededMs: number): Promise<void> {
  for (;;) {
    await untilIdle(client)
    const left = MINUTE_MS - (Date.now() % MINUTE_MS)
    if (left > neededMs) return
    await systemClock.sleep(left)
  }
}

async function poll(isSo: () => Promise<boolean>, failure: string): Promise<void> {
  for (const limit = Date.now() + LIMIT_MS; Date.now() < limit; await systemClock.sleep(20)) if (await isSo()) return
  throw new Error(`${failure} within ${LIMIT_MS / 1000} s`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await setup()
  const { values } = parseArgs({
    options: { kills: { type: 'string', default: '500' }, 'freeze-minutes': { type: 'string', default: '3' } },
  })
  const startedAt = performance.now()
  const result = await runScheduleKillTest({
    kills: Number(values.kills),
    freezeMinutes: Number(values['freeze-minutes']),
    tell: (line) => process.stdout.write(`${line}\n`),
  })
  process.stdout.write(`${JSON.stringify({ ...result, seconds: Math.round((performance.now() - startedAt) / 1000) }, null, 2)}\n`)
  process.exit(result.broken.length === 0 ? 0 : 1)
}
