import { createMachineTime } from '../../src-runner/platform/time/machine-time.ts'
import type { Job } from '../../src-runner/contract/jobs.ts'
import type { CreateSchedule, Schedule } from '../../src-runner/contract/schedules.ts'
import { CreateTrigger, type Trigger } from '../../src-runner/contract/triggers.ts'
import { describeDelivery } from '../../src-runner/adapters/webhooks/delivery-body.ts'

import { createDeliveryLog, type Refusal } from '../../src-runner/domain/triggers/delivery-log.ts'
import { acceptDeliveries } from '../../src-runner/domain/triggers/accept-deliveries.ts'
import { taskFor } from '../../src-runner/domain/triggers/accept-deliveries.ts'
import { readIndexedTrigger } from '../../src-runner/domain/triggers/trigger-index.ts'
import { createTrigger, setTriggerStatus } from '../../src-runner/domain/triggers/triggers.ts'
import type { Seed, SeededJob } from './seed.ts'

type Headers = Record<string, string>
type Run = Pick<SeededJob, 'turns' | 'model' | 'outcome'>

/** Seeds webhooks and schedules through the product's own stores. */
export type SeededAutomations = {
  trigger(fields: Parameters<typeof CreateTrigger.parse>[0]): Trigger
  pauseTrigger(trigger: Trigger): void
  /** An accepted delivery, or a repeat. Returns null if it made no job. */
  post(trigger: Trigger, payload: unknown, headers?: Headers): Job | null
  /** A number of refused deliveries in a row. */
  refuse(
    trigger: Trigger,
    outcome: Refusal['outcome'],
    status: number,
    sent?: { times?: number; payload?: string; headers?: Headers },
  ): void
  schedule(fields: Partial<CreateSchedule> & Pick<CreateSchedule, 'name' | 'agentId' | 'cron' | 'task'>): Schedule
  /** Advances the clock and runs what is due; `play` plays each run. */
  pass(ms: number, play: (job: Job) => Run): void
  /** Advances the clock while the machine is off, so that runs are missed. */
  sleep(ms: number): void
}

export function seedAutomations({ clock, parts, play: playJob }: Seed, agents: readonly SeededJob['agent'][]): SeededAutomations {
  const { db, ids, jobs, schedules, write } = parts
  const time = createMachineTime(clock, null)
  const deliveryLog = createDeliveryLog({ db, ids })
  const known = (trigger: Trigger) => readIndexedTrigger(db, trigger.id)!
  const agentOf = (job: Job) => agents.find((agent) => agent.id === job.agentId)!

  function decideAll(): void {
    const start = { at: -1, seq: 0 }
    const due = [
      ...schedules.listToResume(db),
      ...schedules.listFreed(db),
      ...schedules.listDue(db, 'running', start, 100),
      ...schedules.listDue(db, 'paused', start, 100),
    ]
    for (const { id } of due) write((tx) => schedules.decide(tx, [id]))
  }

  const pendingFires = () =>
    db
      .prepare<{ id: string }>("SELECT id FROM agent_jobs WHERE status = 'pending' AND schedule_id IS NOT NULL ORDER BY seq")
      .all()
      .map(({ id }) => jobs.getJob(db, id))

  return {
    trigger: (fields) => write((tx) => createTrigger(tx, { clock, ids, time }, ids.next(), CreateTrigger.parse(fields)).trigger),
    pauseTrigger: (trigger) => write((tx) => void setTriggerStatus(tx, time, trigger.id, 'paused')),
    post(trigger, payload, headers = {}) {
      clock.advance(1000)
      const delivery = {
        payload: Buffer.from(JSON.stringify(payload)),
        ...describeDelivery(known(trigger), headers, payload),
        ...taskFor(trigger.taskTemplate, payload),
        receivedAt: clock.now(),
      }
      const taken = write((tx) => acceptDeliveries(tx, { jobs, ids, time, deliveryLog }, [{ trigger: known(trigger), delivery }])[0]!)
      if (taken.outcome === 'accepted') return jobs.getJob(db, taken.jobId)
      if (taken.outcome === 'duplicate')
        deliveryLog.addRefusal(known(trigger), { outcome: 'duplicate', status: 202, jobId: taken.jobId, ...delivery })
      deliveryLog.flush()
      return null
    },
    refuse(trigger, outcome, status, { times = 1, payload, headers = {} } = {}) {
      const body = payload === undefined ? null : Buffer.from(payload)
      const { headers: kept, eventName } = describeDelivery(known(trigger), headers)
      for (let n = 0; n < times; n++) {
        clock.advance(500)
        const refusal = { outcome, status, receivedAt: clock.now(), bytes: body?.length ?? 0, payload: body }
        deliveryLog.addRefusal(known(trigger), { ...refusal, headers: kept, eventName })
      }
      deliveryLog.flush()
    },
    schedule: (fields) =>
      write((tx) =>
        schedules.create(tx, {
          timezone: 'UTC',
          dailyBudgetUsd: 5,
          catchUpHours: 24,
          notifyOnSuccess: false,
          notifyVia: 'auto',
          ...fields,
        }),
      ),
    pass(ms, planRun) {
      const until = clock.now() + ms
      for (;;) {
        decideAll()
        for (const job of pendingFires()) playJob(job, { agent: agentOf(job), ...planRun(job) })
        const next = schedules.nextAt(db)
        if (next === null || next > until) break
        clock.advance(Math.max(0, next - clock.now()))
      }
      clock.advance(Math.max(0, until - clock.now()))
    },
    sleep: (ms) => clock.advance(ms),
  }
}
