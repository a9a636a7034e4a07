import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { transact, type Database } from '../../src-runner/platform/db/database.ts'
import { openDatabase } from '../../src-runner/platform/db/open-database.ts'
import { createLiveJobStreams } from '../../src-runner/platform/events/live-job-streams.ts'
import { readRunnerEnvironment } from '../../src-runner/adapters/host/environment.ts'
import { systemClock, type Clock } from '../../src-runner/lib/clock.ts'
import { keepRequestsYoung } from '../../src-runner/lib/heap.ts'
import { createIds } from '../../src-runner/lib/ids.ts'
import { silentLog } from '../../src-runner/lib/log.ts'
import { createMemoryVault } from '../../src-runner/lib/vault.ts'
import { createAgent } from '../../src-runner/domain/agents/agents.ts'
import { createJobStore } from '../../src-runner/domain/jobs/job-store.ts'
import { createScheduleStore } from '../../src-runner/domain/schedules/schedule-store.ts'
import { changeSettings } from '../../src-runner/domain/settings/settings.ts'
import { createRunner } from '../../src-runner/runner.ts'
import { createRunnerClient } from '../../src-runner/testing/runner-client.ts'
import { makeFolder } from './processes.ts'

/**
 * 10,000 schedules that are due in the same second, round after round, on one of two sides: `runner`, the whole of it, with
 * pause all on so that no job runs; or `bare`, a timer and one transaction that walks the index and writes the same rows.
 *
 *   node build/bench/schedule-storm.ts runner|bare <rounds>
 */
const SCHEDULES = 10_000
/** All due in every minute, by different words and in different zones. */
const CRONS = ['* * * * *', '*/1 * * * *', '0-59 * * * *']
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu']
const MINUTE_MS = 60_000
const LEAD_MS = 700
const WARM_UP = 2

export type Storm = {
  /** Milliseconds from the due time to the commit of the last job, for each round. */
  lastMs: number[]
  /** Processor time of each round in milliseconds: on a machine that is shared, the figure that says more. */
  cpuMs: number[]
  /** Milliseconds from the due time to the commit of each job of all rounds, ascending: every hundredth. */
  eachMs: number[]
  /** What the rounds left behind in the heap, after the warm-up and a collection. */
  heapMb: number
}

const [side, rounds] = [process.argv[2], Number(process.argv[3])]
const folder = makeFolder()
const file = join(folder, 'deckhand.db')
setFlagsFromString('--expose-gc')
// As the runner's own entry has it.
keepRequestsYoung()
const collect = runInNewContext('gc') as () => void
/**
 * Set forward between rounds, so that none has to wait for a real minute; and at first to the beginning of one, so that
 * nothing comes due before the first round.
 */
let aheadMs = MINUTE_MS - (Date.now() % MINUTE_MS)
const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs }

fill()
process.stdout.write(`${JSON.stringify(side === 'bare' ? await stormBare() : await stormRunner())}\n`)
process.exit(0)

function fill(): void {
  const db = openDatabase({ file, clock })
  const ids = createIds(clock.now)
  const jobs = createJobStore({ db, clock, ids, bootId: 'fill', liveStreams: createLiveJobStreams() })
  const schedules = createScheduleStore({ clock, ids, log: silentLog, jobs })
  transact(db, (tx) => {
    const agent = createAgent(tx, { clock, ids }, { name: 'Bench' })
    changeSettings(tx, { clock }, { pauseAll: true })
    for (let i = 0; i < SCHEDULES; i++) {
      schedules.create(tx, {
        name: `Watch ${i}`,
        agentId: agent.id,
        cron: CRONS[i % CRONS.length]!,
        timezone: ZONES[i % ZONES.length]!,
        task: 'Look whether the price has changed.',
        dailyBudgetUsd: 5,
        catchUpHours: 24,
        notifyOnSuccess: false,
        notifyVia: 'auto',
      })
    }
  })
  db.close()
}

async function stormRunner(): Promise<Storm> {
  let db!: Database
  const runner = createRunner({
    config: readRunnerEnvironment({ DECKHAND_DATA_DIR: folder, RUNNER_PORT: '0', WORKER_SECRET: 'x'.repeat(43), LOG_LEVEL: 'error' }),
    vault: createMemoryVault(),
    clock,
    openDatabase: (given) => (db = openDatabase(given)),
  })
  const { port } = await runner.start()
  const client = createRunnerClient(`http://127.0.0.1:${port}`, 'x'.repeat(43))
  const { schedules } = await client.ok('listSchedules', { query: { limit: 1 } })
  const look = () => client.ok('updateSchedule', { params: { scheduleId: schedules[0]!.id }, body: { name: 'Watch' } })
  return measure(db, async (dueAt, made) => {
    const all = Promise.withResolvers<void>()
    let count = 0
    const stop = db.onEvents(({ type }) => {
      if (type !== 'job.created') return
      made(clock.now() - dueAt)
      if (++count === SCHEDULES) all.resolve()
    })
    // The clock was set, so everything that waits for a time of day looks at it again.
    await look()
    await all.promise
    stop()
  })
}

async function stormBare(): Promise<Storm> {
  const db = openDatabase({ file, clock })
  const { connection } = db
  const ids = createIds(clock.now)
  const due = connection.prepare<[number], { seq: number; id: string; entity_id: string; agent_id: string; name: string; task: string }>(
    `SELECT seq, id, entity_id, agent_id, name, task FROM schedules INDEXED BY schedules_due
     WHERE status <> 'paused' AND next_due_at <= ? ORDER BY next_due_at, seq`,
  )
  const note = connection.prepare(
    `INSERT INTO occurrences (schedule_seq, due_at, origin, state, reason, noted_at, decided_at, job_seq)
     VALUES (?, ?, 'clock', 'ran', '{"code":"due_on_time","params":{}}', ?, ?, ?)`,
  )
  const job = connection.prepare(
    `INSERT INTO agent_jobs (id, entity_id, agent_id, channel, status, title, schedule_id, created_at)
     VALUES (?, ?, ?, 'schedule', 'pending', ?, ?, ?)`,
  )
  const texts = connection.prepare('INSERT INTO job_texts (job_seq, task, context) VALUES (?, ?, ?)')
  const event = connection.prepare("INSERT INTO events (at, type, payload) VALUES (?, 'job.created', ?)")
  const move = connection.prepare("UPDATE schedules SET next_due_at = ?, last_status = 'running', last_run_seq = ? WHERE seq = ?")
  const fire = connection.transaction((dueAt: number) => {
    for (const row of due.all(dueAt)) {
      const [jobId, now] = [ids.next(), clock.now()]
      const { lastInsertRowid: jobSeq } = job.run(jobId, row.entity_id, row.agent_id, row.name, row.id, now)
      const { lastInsertRowid: occurrenceSeq } = note.run(row.seq, dueAt, now, now, jobSeq)
      texts.run(jobSeq, row.task, JSON.stringify({ schedule: { id: row.id, name: row.name }, dueAt }))
      event.run(now, JSON.stringify({ jobId, agentId: row.agent_id, title: row.name, scheduleId: row.id }))
      move.run(dueAt + MINUTE_MS, occurrenceSeq, row.seq)
    }
  })
  return measure(db, async (dueAt, made) => {
    await systemClock.sleep(dueAt - clock.now())
    fire(dueAt)
    for (let i = 0; i < SCHEDULES; i++) made(clock.now() - dueAt)
  })
}

/** Each round, all jobs of the round before have ended and a minute is about to begin. */
async function measure(db: Database, storm: (dueAt: number, made: (ms: number) => void) => Promise<void>): Promise<Storm> {
  const last: number[] = []
  const each: number[] = []
  const cpu: number[] = []
  let heapBefore = 0
  for (let round = -WARM_UP; round < rounds; round++) {
    db.connection.exec(
      `UPDATE agent_jobs SET status = 'cancelled', finished_at = created_at WHERE status = 'pending'; PRAGMA wal_checkpoint(RESTART)`,
    )
    if (round === 0) heapBefore = heapNow()
    const nextMinute = Math.ceil((clock.now() + LEAD_MS) / MINUTE_MS) * MINUTE_MS
    aheadMs += nextMinute - LEAD_MS - clock.now()
    let latest = 0
    // What the round before left to do is not this one's.
    let before = process.cpuUsage()
    setTimeout(() => (before = process.cpuUsage()), nextMinute - clock.now() - 5)
    await storm(nextMinute, (ms) => {
      latest = Math.max(latest, ms)
      if (round >= 0) each.push(ms)
    })
    const { user, system } = process.cpuUsage(before)
    if (round < 0) continue
    last.push(latest)
    cpu.push((user + system) / 1000)
  }
  const rows = db.prepare<{ n: number }>('SELECT count(*) AS n FROM agent_jobs').get()!.n
  if (rows !== SCHEDULES * (rounds + WARM_UP)) throw new Error(`there are ${rows} jobs`)
  each.sort((a, b) => a - b)
  const eachMs = each.filter((_, i) => i % 100 === 50)
  each.length = 0
  return { lastMs: last, cpuMs: cpu, eachMs, heapMb: (heapNow() - heapBefore) / 1e6 }
}

function heapNow(): number {
  collect()
  collect()
  return process.memoryUsage().heapUsed
}
