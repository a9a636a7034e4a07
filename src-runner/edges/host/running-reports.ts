import type { Db } from '../../base/db/database.ts'
import type { StoredEvent } from '../../contract/events.ts'
import type { RunningReport, WebhookReach } from '../../contract/port.ts'
import type { Clock } from '../../kit/clock.ts'
import type { ApprovalStore } from '../../records/approvals/approvals.ts'
import type { JobStore } from '../../records/jobs/job-store.ts'
import { readSettings } from '../../records/settings/settings.ts'
import { SHOWN_WAITING, waitingApprovalOf } from './waiting-approvals.ts'

export type RunningReportsDeps = {
  db: Db
  clock: Pick<Clock, 'after'>
  jobs: Pick<JobStore, 'countJobs' | 'listRunningJobs'>
  approvals: Pick<ApprovalStore, 'list'>
  reach(): WebhookReach
  /** Without a listener nothing is looked up. */
  isHeard(): boolean
  tell(report: RunningReport): void
}

export type RunningReports = {
  onEvent(event: StoredEvent): void
  /** Something has changed of which no event tells. */
  plan(): void
  stop(): void
}

const REPORT_AFTER_MS = 50

/** Tells the host what runs and what waits, a moment after it changed and once for many changes. */
export function createRunningReports({ db, clock, jobs, approvals, reach, isHeard, tell }: RunningReportsDeps): RunningReports {
  let cancelPlanned: (() => void) | null = null
  let isStopped = false

  function report(): void {
    cancelPlanned = null
    const waiting = approvals.list(db, { status: 'pending', limit: SHOWN_WAITING })
    tell({
      jobs: jobs.listRunningJobs(db),
      pending: jobs.countJobs(db).pending,
      approvals: waiting.pending,
      waiting: waiting.approvals.map(waitingApprovalOf),
      brake: readSettings(db).brake,
      webhooks: reach(),
    })
  }

  function plan(): void {
    if (isHeard() && !isStopped) cancelPlanned ??= clock.after(REPORT_AFTER_MS, report)
  }

  return {
    onEvent(event) {
      if (/^(job|approval|settings)\./.test(event.type)) plan()
    },
    plan,
    stop() {
      isStopped = true
      cancelPlanned?.()
    },
  }
}
