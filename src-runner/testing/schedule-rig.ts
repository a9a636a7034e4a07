import { transact, type Tx } from '../base/db/transact.ts'
import type { CreateSchedule, Occurrence, Schedule } from '../contract/schedules.ts'
import { silentLog } from '../kit/log.ts'
import type { AttemptEnding } from '../records/jobs/ending.ts'
import { createJobStore, type JobStore } from '../records/jobs/job-store.ts'
import { changeSettings } from '../records/settings/settings.ts'
import type { ExhaustedSchedule } from '../records/schedules/schedule-deps.ts'
import { createScheduleStore, type ScheduleStore } from '../records/schedules/schedule-store.ts'
import { createHandClock, type HandClock } from './hand-clock.ts'
import { openRecordsRig, replyOf, type RecordsRig } from './records-rig.ts'

/** Schedules and jobs over a real database, without a timer: a test says when somebody looks. */
export type ScheduleRig = {
  records: RecordsRig
  clock: HandClock
  jobs: JobStore
  schedules: ScheduleStore
  agentId: string
  /** What the owner was told of spent budgets. */
  told: ExhaustedSchedule[]
  write<T>(work: (tx: Tx) => T): T
  create(fields?: Partial<CreateSchedule>): Schedule
  read(schedule: Schedule): Schedule
  /** The ledger, the oldest first. */
  ledger(schedule: Schedule): Occurrence[]
  /** Decides everything that is due, as the clock does, at most so many due times at once. Answers how many jobs that made. */
  look(mostTimes?: number): number
  /** The unfinished jobs of a schedule. */
  live(schedule: Schedule): string[]
  /** Claims a job and ends it, or lets it wait. */
  end(jobId: string, ending?: AttemptEnding, costMicros?: number): void
  /** The agent spends this by another job. */
  spend(costMicros: number, agentId?: string): void
  setBrake(on: boolean): void
  /** The process dies and another one starts. */
  reboot(options?: { safeMode?: boolean }): void
  close(): void
}

const COMPLETED: AttemptEnding = { ending: 'completed', text: 'Done.' }

export function openScheduleRig(startAt?: number): ScheduleRig {
  const clock = createHandClock(startAt)
  const records = openRecordsRig(clock)
  const told: ExhaustedSchedule[] = []

  function wire(safeMode: boolean): { jobs: JobStore; schedules: ScheduleStore } {
    const { db, ids, tails } = records
    const jobs: JobStore = createJobStore({
      ...{ db, clock, ids, tails, bootId: ids.next() },
      hooks: { ended: (tx, job) => schedules.jobEnded(tx, job), waiting: (tx, job) => schedules.jobWaits(tx, job) },
    })
    const hooks = { exhausted: (tx: Tx, schedule: ExhaustedSchedule) => tx.afterCommit(() => void told.push(schedule)) }
    const schedules: ScheduleStore = createScheduleStore({ clock, ids, log: silentLog, jobs, hooks, safeMode })
    return { jobs, schedules }
  }

  const rig: ScheduleRig = {
    ...{ records, clock, told, agentId: records.addAgent('Ada').id },
    ...wire(false),
    write: (work) => transact<unknown>(records.db, work) as never,
    create: (fields = {}) =>
      rig.write((tx) =>
        rig.schedules.create(tx, {
          ...{ name: 'News', agentId: rig.agentId, cron: '0 * * * *', timezone: 'UTC', task: 'Read the news.' },
          ...{ dailyBudgetUsd: 5, catchUpHours: 24, notifyOnSuccess: false, notifyVia: 'auto' },
          ...fields,
        }),
      ),
    read: ({ id }) => rig.schedules.get(records.db, id),
    ledger: ({ id }) => rig.schedules.listOccurrences(records.db, { scheduleId: id, limit: 100_000 }).occurrences.reverse(),
    look(mostTimes) {
      let fired = 0
      const decide = (id: string) => {
        for (let more = true; more;) {
          const decision = rig.write((tx) => rig.schedules.decide(tx, id, mostTimes))
          fired += decision.fired ? 1 : 0
          more = decision.more
        }
      }
      const from = rig.clock.now()
      if (rig.schedules.isClockBehind()) {
        for (let after: number | null = 0; after !== null;) after = rig.write((tx) => rig.schedules.turnBackSome(tx, after!))
        rig.schedules.turnedBack(from)
      }
      const start = { at: -1, seq: 0 }
      for (const { id } of rig.schedules.listToResume(records.db)) decide(id)
      for (const { id } of rig.schedules.listFreed(records.db)) decide(id)
      for (const { id } of rig.schedules.listDue(records.db, 'running', start, 100)) decide(id)
      for (const { id } of rig.schedules.listDue(records.db, 'paused', start, 100)) decide(id)
      return fired
    },
    live: ({ id }) =>
      records.db
        .prepare<{ id: string }>("SELECT id FROM agent_jobs WHERE schedule_id = ? AND status NOT IN ('completed', 'failed', 'cancelled')")
        .all(id)
        .map((job) => job.id),
    end(jobId, ending = COMPLETED, costMicros = 0) {
      rig.write((tx) => {
        const { claim } = rig.jobs.claim(tx, jobId, 1000)!
        rig.jobs.settle(tx, claim, ending, replyOf('Done.', { costMicros }))
      })
    },
    spend(costMicros, agentId = rig.agentId) {
      const { id } = rig.write((tx) => rig.jobs.enqueue(tx, { agentId, channel: 'api', task: 'Spend' }))
      rig.end(id, COMPLETED, costMicros)
    },
    setBrake: (on) => void rig.write((tx) => changeSettings(tx, { clock }, { brake: on })),
    reboot({ safeMode = false } = {}) {
      records.reboot()
      Object.assign(rig, wire(safeMode))
      rig.write((tx) => rig.jobs.rescue(tx))
    },
    close: () => records.close(),
  }
  return rig
}
