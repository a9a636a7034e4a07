import { commitSoon, type Tx } from '../platform/db/database.ts'
import type { Job } from '../contract/jobs.ts'
import { Taint, type Taints } from '../contract/rules.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import {
  findJobCursor,
  findRun,
  findRunBefore,
  findScheduleCursor,
  recordJobCursor,
  saveScheduleCursor,
  type JobCursor,
  type PreviousRun,
} from '../domain/schedules/schedule-cursor.ts'
import type { ScheduleCursor } from '../agent/tools/tool.ts'
import { commitClaimed, type ClaimedDeps } from './commit-claimed.ts'
import type { PromptCursor } from './prompt.ts'

type CursorDeps = ClaimedDeps & { approvals: Pick<ApprovalStore, 'readTaints'> }

/**
 * What a run of a schedule learns about earlier runs. Recorded on first use, so that a retry after a crash gets the same, and
 * the taints are on the job before a model reads any of it.
 */
export async function takeCursor({ db, approvals }: Omit<CursorDeps, 'jobs'>, job: Job): Promise<PromptCursor | undefined> {
  if (!isRun(job)) return undefined
  const cursor = findJobCursor(db, job.id) ?? (await commitSoon(db, (tx) => recordCursor(tx, approvals, job)))
  return {
    previous: cursor.previousJobId === null ? null : resultOf(findRun(db, cursor.previousJobId)),
    state: cursor.state,
    isUntrusted: cursor.addsTaint.includes('untrusted'),
  }
}

/** undefined: the job is not a run of a schedule. */
export function createScheduleCursor(deps: CursorDeps, claim: Claim, job: Job): ScheduleCursor | undefined {
  if (!isRun(job)) return undefined
  const { id, scheduleId } = job
  return {
    keep: (state) =>
      commitClaimed(deps, claim, (tx) => saveScheduleCursor(tx, scheduleId, state, taintsIn(deps.approvals.readTaints(tx, id)))),
  }
}

function isRun(job: Job): job is Job & { scheduleId: string } {
  return job.channel === 'schedule' && job.scheduleId !== null
}

function recordCursor(tx: Tx, approvals: CursorDeps['approvals'], job: Job & { scheduleId: string }): JobCursor {
  const previous = findRunBefore(tx, job)
  const kept = findScheduleCursor(tx, job.scheduleId)
  const resultTaints = resultOf(previous)?.result == null ? [] : taintsIn(approvals.readTaints(tx, previous!.jobId))
  const cursor: JobCursor = {
    previousJobId: previous?.jobId ?? null,
    state: kept?.state ?? null,
    addsTaint: [...(kept?.addsTaint ?? []), ...resultTaints],
  }
  recordJobCursor(tx, job.id, cursor)
  return cursor
}

/** If the run did not complete, this only says how it ended. */
function resultOf(run: PreviousRun | null): PromptCursor['previous'] {
  if (run === null) return null
  const { startedAt, status, noOp, error } = run
  return { startedAt, status, noOp, error, result: status === 'completed' && !noOp ? run.result : null }
}

function taintsIn(taints: Taints): Taint[] {
  return Taint.options.filter((taint) => taints[taint] !== null)
}
