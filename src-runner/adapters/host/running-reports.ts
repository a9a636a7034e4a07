import type { Db } from '../../platform/db/database.ts'
import type { StoredEvent } from '../../contract/events.ts'
import type { RunningReport, WebhookReach } from '../../contract/port.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ApprovalStore } from '../../domain/approvals/approvals.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import { readSettings } from '../../domain/settings/settings.ts'
import { SHOWN_WAITING, waitingApprovalOf } from './waiting-approvals.ts'

export type RunningReportsDeps = {
  db: Db
  clock: Pick<Clock, 'after'>
  jobs: Pick<JobStore, 'countJobs' | 'listRunningJobs'>
  approvals: Pick<ApprovalStore, 'list'>
  reach(): WebhookReach
  /** Without a listener no report is made. */
  hasListener(): boolean
  send(report: RunningReport): void
}

export type RunningReports = ReturnType<typeof createRunningReports>

const REPORT_AFTER_MS = 50

/** Reports to the host what runs and what waits, shortly after a change and once for many changes. */
export function createRunningReports({ db, clock, jobs, approvals, reach, hasListener, send }: RunningReportsDeps) {
  let cancelPlanned: (() => void) | null = null
  let isStopped = false

  function report(): void {
    cancelPlanned = null
    const waiting = approvals.list(db, { status: 'pending', limit: SHOWN_WAITING })
    send({
      jobs: jobs.listRunningJobs(db),
      pending: jobs.countJobs(db).pending,
      approvals: waiting.pending,
      waiting: waiting.approvals.map(waitingApprovalOf),
      pauseAll: readSettings(db).pauseAll,
      webhooks: reach(),
    })
  }

  function plan(): void {
    if (hasListener() && !isStopped) cancelPlanned ??= clock.after(REPORT_AFTER_MS, report)
  }

  return {
    onEvent(event: StoredEvent): void {
      if (/^(job|approval|settings)\./.test(event.type)) plan()
    },
    /** Plans a report after a change without an event. */
    plan,
    stop(): void {
      isStopped = true
      cancelPlanned?.()
    },
  }
}
