import type { Database } from '../platform/db/database.ts'
import { commitSoon, type Tx } from '../platform/db/transact.ts'
import type { Job } from '../contract/jobs.ts'
import type { Taint, Taints } from '../contract/rules.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import type { Claim } from '../domain/jobs/claim.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import {
  findJobCursor,
  findRun,
  findRunBefore,
  findScheduleCursor,
  saveScheduleCursor,
  recordJobCursor,
} from '../domain/schedules/schedule-cursor.ts'
import type { JobCursor, PreviousRun } from '../domain/schedules/schedule-cursor.ts'
import type { ScheduleCursor } from '../agent/tools/tool.ts'
import type { PromptCursor } from './prompt.ts'
import { StaleClaimError } from '../lib/errors.ts'

type CursorDeps = { db: Database; approvals: Pick<ApprovalStore, 'readTaints'>; jobs: Pick<JobStore, 'isHeld'> }

/**
 * What a run of a schedule learns about earlier runs. Recorded on first use, so that a retry after a crash gets the same, and
 * the taints are on the job before a model reads any of it.
 */
export async function takeCursor({ db, approvals }: Omit<CursorDeps, 'jobs'>, job: Job): Promise<PromptCursor | undefined> {
  if (!isRun(job)) return undefined
  const told = findJobCursor(db, job.id) ?? (await commitSoon(db, (tx) => tell(tx, approvals, job)))
  return {
    previous: told.previousJobId === null ? null : saidBy(findRun(db, told.previousJobId)),
    state: told.state,
    isUntrusted: told.addsTaint.includes('untrusted'),
  }
}

/** undefined: the job is not a run of a schedule. */
export function createScheduleCursor({ db, approvals, jobs }: CursorDeps, claim: Claim, job: Job): ScheduleCursor | undefined {
  if (!isRun(job)) return undefined
  const { id, scheduleId } = job
  return {
    keep: (state) =>
      commitSoon(db, (tx) => {
        if (!jobs.isHeld(tx, claim)) throw new StaleClaimError(claim)
        return saveScheduleCursor(tx, scheduleId, state, addedTaintsOf(approvals.readTaints(tx, id)))
      }),
  }
}

function isRun(job: Job): job is Job & { scheduleId: string } {
  return job.channel === 'schedule' && job.scheduleId !== null
}

function tell(tx: Tx, approvals: CursorDeps['approvals'], job: Job & { scheduleId: string }): JobCursor {
  const previous = findRunBefore(tx, job)
  const kept = findScheduleCursor(tx, job.scheduleId)
  const said = saidBy(previous)?.result == null ? [] : addedTaintsOf(approvals.readTaints(tx, previous!.jobId))
  const told: JobCursor = {
    previousJobId: previous?.jobId ?? null,
    state: kept?.state ?? null,
    addsTaint: [...(kept?.addsTaint ?? []), ...said],
  }
  recordJobCursor(tx, job.id, told)
  return told
}

/** Of a run that did not complete, only how it ended. */
function saidBy(run: PreviousRun | null): PromptCursor['previous'] {
  if (run === null) return null
  const { startedAt, status, quiet, error } = run
  return { startedAt, status, quiet, error, result: status === 'completed' && !quiet ? run.result : null }
}

function addedTaintsOf(taints: Taints): Taint[] {
  return (['private', 'untrusted'] as const).filter((mark) => taints[mark] !== null)
}
