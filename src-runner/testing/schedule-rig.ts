import { transact, type Tx } from '../platform/db/database.ts'
import type { CreateSchedule, Occurrence, Schedule } from '../contract/schedules.ts'
import { silentLog } from '../lib/log.ts'
import type { AttemptOutcome } from '../domain/jobs/settle-job.ts'
import { createJobStore, type JobStore } from '../domain/jobs/job-store.ts'
import { changeSettings } from '../domain/settings/settings.ts'
import type { ExhaustedSchedule } from '../domain/schedules/schedule-deps.ts'
import { createScheduleStore, type ScheduleStore } from '../domain/schedules/schedule-store.ts'
import { createHandClock, type HandClock } from './hand-clock.ts'
import { openDomainRig, replyOf, type DomainRig } from './domain-rig.ts'

/** Schedules and jobs with a real database, without a timer: a test says when to check. */
export type ScheduleRig = {
  domain: DomainRig
  clock: HandClock
  jobs: JobStore
  schedules: ScheduleStore
  agentId: string
  /** The notes about spent budgets. */
  told: ExhaustedSchedule[]
  write<T>(work: (tx: Tx) => T): T
  create(fields?: Partial<CreateSchedule>): Schedule
  read(schedule: Schedule): Schedule
  /** The run history, the oldest first. */
  runHistory(schedule: Schedule): Occurrence[]
  /** Decides everything that is due, as the scheduler does. Returns how many jobs that made. */
  look(): number
  /** The unfinished jobs of a schedule. */
  live(schedule: Schedule): string[]
  /** Claims a job, and ends it or lets it wait. */
  end(jobId: string, outcome?: AttemptOutcome, costMicros?: number): void
  /** The agent spends this in another job. */
  spend(costMicros: number, agentId?: string): void
  setPauseAll(on: boolean): void
  /** The process dies and another one starts. */
  reboot(options?: { safeMode?: boolean }): void
  close(): void
}

const COMPLETED: AttemptOutcome = { kind: 'completed', text: 'Done.' }

export function openScheduleRig(startAt?: number): ScheduleRig {
  const clock = createHandClock(startAt)
  const domain = openDomainRig(clock)
  const told: ExhaustedSchedule[] = []

  function wire(safeMode: boolean): { jobs: JobStore; schedules: ScheduleStore } {
    const { db, ids, liveStreams } = domain
    const jobs: JobStore = createJobStore({
      db,
      clock,
      ids,
      liveStreams,
      bootId: ids.next(),
      hooks: { ended: (tx, job) => schedules.jobEnded(tx, job), waiting: (tx, job) => schedules.jobWaits(tx, job) },
    })
    const hooks = { exhausted: (tx: Tx, schedule: ExhaustedSchedule) => tx.afterCommit(() => void told.push(schedule)) }
    const schedules: ScheduleStore = createScheduleStore({ clock, ids, log: silentLog, jobs, hooks, safeMode })
    return { jobs, schedules }
  }

  const rig: ScheduleRig = {
    domain,
    clock,
    told,
    agentId: domain.addAgent('Ada').id,
    ...wire(false),
    write: (work) => transact<unknown>(domain.db, work) as never,
    create: (fields = {}) =>
      rig.write((tx) =>
        rig.schedules.create(tx, {
          name: 'News',
          agentId: rig.agentId,
          cron: '0 * * * *',
          timezone: 'UTC',
          task: 'Read the news.',
          dailyBudgetUsd: 5,
          catchUpHours: 24,
          notifyOnSuccess: false,
          notifyVia: 'auto',
          ...fields,
        }),
      ),
    read: ({ id }) => rig.schedules.get(domain.db, id),
    runHistory: ({ id }) => rig.schedules.listOccurrences(domain.db, { scheduleId: id, limit: 100_000 }).occurrences.reverse(),
    look() {
      if (rig.schedules.isClockBehind()) rig.write((tx) => rig.schedules.followClockBack(tx))
      const start = { at: -1, seq: 0 }
      const { db } = domain
      const lists = [
        () => rig.schedules.listToResume(db),
        () => rig.schedules.listFreed(db),
        () => rig.schedules.listDue(db, 'running', start, 100),
        () => rig.schedules.listDue(db, 'paused', start, 100),
      ]
      const decisions = lists.flatMap((list) => list().flatMap(({ id }) => [...rig.write((tx) => rig.schedules.decide(tx, [id])).values()]))
      return decisions.filter(({ ran }) => ran).length
    },
    live: ({ id }) =>
      domain.db
        .prepare<{ id: string }>("SELECT id FROM agent_jobs WHERE schedule_id = ? AND status NOT IN ('completed', 'failed', 'cancelled')")
        .all(id)
        .map((job) => job.id),
    end(jobId, outcome = COMPLETED, costMicros = 0) {
      rig.write((tx) => {
        const { claim } = rig.jobs.claim(tx, jobId, 1000)!
        rig.jobs.settle(tx, claim, outcome, replyOf('Done.', { costMicros }))
      })
    },
    spend(costMicros, agentId = rig.agentId) {
      const { id } = rig.write((tx) => rig.jobs.enqueue(tx, { agentId, channel: 'api', task: 'Spend' }))
      rig.end(id, COMPLETED, costMicros)
    },
    setPauseAll: (on) => void rig.write((tx) => changeSettings(tx, { clock }, { pauseAll: on })),
    reboot({ safeMode = false } = {}) {
      domain.reboot()
      Object.assign(rig, wire(safeMode))
      rig.write((tx) => rig.jobs.rescue(tx))
    },
    close: () => domain.close(),
  }
  return rig
}
