import { join } from 'node:path'
import type { Database } from '../platform/db/database.ts'
import { createEventHub } from '../platform/events/event-hub.ts'
import { createLiveJobStreams } from '../platform/events/live-job-streams.ts'
import { createMachineTime } from '../platform/time/machine-time.ts'
import { createTrustedClock } from '../platform/time/trusted-clock.ts'
import type { Access } from '../contract/port.ts'
import { createMachineTimezone } from '../lib/timezone.ts'
import { createApprovals } from '../domain/approvals/approvals.ts'
import { withdrawApprovals } from '../domain/approvals/answer-approval.ts'
import { createReservations } from '../domain/budgets/reservations.ts'
import { createOwnerNotifications } from '../domain/channels/notify-owner.ts'
import { createBlobs } from '../domain/files/blobs.ts'
import { createJobStore, type JobStore } from '../domain/jobs/job-store.ts'
import { createRuleBook } from '../domain/rules/rules.ts'
import { createScheduleStore, type ScheduleStore } from '../domain/schedules/schedule-store.ts'
import { createSkillFolders } from '../domain/skills/skill-folders.ts'
import { createSettingsBook } from '../domain/settings/settings.ts'
import type { Core } from './core.ts'

export type Storage = ReturnType<typeof createStorage>

/** The database's stores and what they need. */
export function createStorage({ access, dataDir, machine, clock, ids, log, speech, bootId, safeMode, disposables }: Core, db: Database) {
  const hub = createEventHub({ db, log })
  const liveStreams = createLiveJobStreams({ log })
  const time = createMachineTime(clock, machine)
  const times = createTrustedClock({ db, clock, time })
  const { money, age, deadlines } = times
  const jobs: JobStore = createJobStore({
    db,
    clock,
    money,
    ids,
    bootId,
    liveStreams,
    hooks: {
      ended: (tx, job) => {
        // First the schedule, which may then learn that nobody could be notified of its run.
        schedules.jobEnded(tx, job)
        ownerNotifications.jobEnded(tx, job)
        withdrawApprovals(tx, job)
      },
      waiting: (tx, job) => schedules.jobWaits(tx, job),
    },
  })
  const ownerNotifications = createOwnerNotifications({
    clock,
    ids,
    log,
    speech,
    dashboardUrl: () => dashboardUrlOf(access),
    markNotifyUnreachable: (tx, scheduleId) => schedules.markNotifyUnreachable(tx, scheduleId),
  })
  const schedules: ScheduleStore = createScheduleStore({
    clock,
    money,
    age,
    ids,
    log,
    jobs,
    safeMode,
    hooks: { exhausted: ownerNotifications.budgetExhausted },
  })
  const approvals = createApprovals({ clock, deadlines, ids, jobs, hooks: { asked: ownerNotifications.approvalAsked } })
  const rules = createRuleBook(db)
  const settings = createSettingsBook(db)
  const timezone = createMachineTimezone(clock)
  const reservations = createReservations({ db, money, timezone })
  const blobs = createBlobs(join(dataDir, 'files'))
  const skillFolders = createSkillFolders(join(dataDir, 'skills'))
  disposables.add(rules.close, settings.close)
  return {
    db,
    hub,
    liveStreams,
    time,
    times,
    money,
    age,
    jobs,
    schedules,
    approvals,
    rules,
    settings,
    timezone,
    reservations,
    blobs,
    skillFolders,
  }
}

/** The dashboard's address for other machines: the configured one, if it is an origin of the dashboard. null: none. */
function dashboardUrlOf({ origins, appUrl }: Access): string | null {
  const isElsewhere = (url: URL) => /^https?:$/.test(url.protocol) && !/^(localhost|127\.|\[::1\])/.test(url.hostname)
  const elsewhere = origins.filter((origin) => URL.canParse(origin) && isElsewhere(new URL(origin)))
  const configured = appUrl === undefined ? null : new URL(appUrl).origin
  return elsewhere.find((origin) => origin === configured) ?? elsewhere[0] ?? null
}
