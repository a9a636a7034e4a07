import type { Database } from '../base/db/database.ts'
import { commitSoon, type Tx } from '../base/db/transact.ts'
import type { Job } from '../contract/jobs.ts'
import type { Brings, Marks } from '../contract/rules.ts'
import type { ApprovalStore } from '../records/approvals/approvals.ts'
import { LostClaim, type Claim } from '../records/jobs/claim.ts'
import type { JobStore } from '../records/jobs/job-store.ts'
import { findJobWatch, findRun, findRunBefore, findWatchState, keepWatchState, recordJobWatch } from '../records/schedules/watching.ts'
import type { JobWatch, PreviousRun } from '../records/schedules/watching.ts'
import type { WatchState } from '../thinking/tools/watch-state.ts'
import type { PromptWatch } from './prompt.ts'

type WatchDeps = { db: Database; approvals: Pick<ApprovalStore, 'readMarks'>; jobs: Pick<JobStore, 'isHeld'> }

/**
 * What a run of a schedule is told of the runs before it. Written down the first time it is asked for: the same attempt
 * after a crash is told the same, whatever the job has kept since, and the marks that come with it are on the job before a
 * model reads any of it.
 */
export async function takeWatch({ db, approvals }: Omit<WatchDeps, 'jobs'>, job: Job): Promise<PromptWatch | undefined> {
  if (!isRun(job)) return undefined
  const told = findJobWatch(db, job.id) ?? (await commitSoon(db, (tx) => tell(tx, approvals, job)))
  return {
    previous: told.previousJobId === null ? null : saidBy(findRun(db, told.previousJobId)),
    state: told.state,
    isUntrusted: told.brings.includes('untrusted'),
  }
}

/** Where a run keeps something for the next one. undefined: the job is no run of a schedule. */
export function createWatchState({ db, approvals, jobs }: WatchDeps, claim: Claim, job: Job): WatchState | undefined {
  if (!isRun(job)) return undefined
  const { id, scheduleId } = job
  return {
    keep: (state) =>
      commitSoon(db, (tx) => {
        if (!jobs.isHeld(tx, claim)) throw new LostClaim(claim)
        return keepWatchState(tx, scheduleId, state, bringsOf(approvals.readMarks(tx, id)))
      }),
  }
}

function isRun(job: Job): job is Job & { scheduleId: string } {
  return job.channel === 'schedule' && job.scheduleId !== null
}

function tell(tx: Tx, approvals: WatchDeps['approvals'], job: Job & { scheduleId: string }): JobWatch {
  const previous = findRunBefore(tx, job)
  const kept = findWatchState(tx, job.scheduleId)
  const said = saidBy(previous)?.result == null ? [] : bringsOf(approvals.readMarks(tx, previous!.jobId))
  const told: JobWatch = { previousJobId: previous?.jobId ?? null, state: kept?.state ?? null, brings: [...(kept?.brings ?? []), ...said] }
  recordJobWatch(tx, job.id, told)
  return told
}

/** Of a run that did not complete, only how it ended: what it had said by then is half a thing. */
function saidBy(run: PreviousRun | null): PromptWatch['previous'] {
  if (run === null) return null
  const { startedAt, status, quiet, error } = run
  return { startedAt, status, quiet, error, result: status === 'completed' && !quiet ? run.result : null }
}

/** An effect outside is no text: it comes into no other job. */
function bringsOf(marks: Marks): Brings[] {
  return (['private', 'untrusted'] as const).filter((mark) => marks[mark] !== null)
}
