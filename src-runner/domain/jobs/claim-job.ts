import type { Tx } from '../../platform/db/database.ts'
import type { Job } from '../../contract/jobs.ts'
import type { JobDeps } from './job-deps.ts'
import { LONGEST_POSTPONED_MS } from './postpone-job.ts'
import { findFirstOfAgent, findToRun, listAgentsOfRunning, markClaimed, type Postponed } from './claim-job.sql.ts'
import { listQueuedAgents } from './queue.sql.ts'
import { getJob } from './read-jobs.ts'

/** The right of one attempt to write about its job. It ends when the job is taken away from the attempt or settled. */
export type Claim = { jobId: string; seq: number; claim: number; attempt: number }

export type ClaimedJob = { job: Job; claim: Claim }

/** When each agent was last served, to break ties. In memory only, because after a restart any order is fair. */
export type LastServed = { placeOf(agentId: string): number; served(agentId: string): void }

export function createLastServed(): LastServed {
  const places = new Map<string, number>()
  let newest = 0
  return { placeOf: (agentId) => places.get(agentId) ?? 0, served: (agentId) => void places.set(agentId, ++newest) }
}

/** Claims the next job of the agent with the fewest running jobs. Returns null if none may run, or `limit` jobs are running. */
export function claimNextJob(tx: Tx, deps: JobDeps, lastServed: LastServed, limit: number): ClaimedJob | null {
  const running = listAgentsOfRunning(tx)
  if (running.length >= limit) return null
  const postponed = postponedRange(deps)
  const byNeed = listQueuedAgents(tx)
    .map((agentId) => ({ agentId, running: running.filter((id) => id === agentId).length, place: lastServed.placeOf(agentId) }))
    .sort((a, b) => a.running - b.running || a.place - b.place)
  for (const { agentId } of byNeed) {
    const seq = findFirstOfAgent(tx, agentId, postponed)
    if (seq === undefined) continue
    lastServed.served(agentId)
    return claimRow(tx, deps, seq)
  }
  return null
}

/** Claims this job if it may run now. Returns null otherwise. */
export function claimJob(tx: Tx, deps: JobDeps, jobId: string, limit: number): ClaimedJob | null {
  if (listAgentsOfRunning(tx).length >= limit) return null
  const seq = findToRun(tx, jobId, postponedRange(deps))
  return seq === undefined ? null : claimRow(tx, deps, seq)
}

function postponedRange({ clock }: JobDeps): Postponed {
  return [clock.now(), clock.now() + LONGEST_POSTPONED_MS]
}

function claimRow(tx: Tx, deps: JobDeps, seq: number): ClaimedJob {
  const row = markClaimed(tx, seq, deps.bootId, deps.clock.now())
  const job = getJob(tx, row.id)
  tx.emit({
    type: 'job.started',
    payload: { jobId: job.id, agentId: job.agentId, conversationId: job.conversationId, attempt: job.attempt },
  })
  const claim: Claim = { jobId: job.id, seq, claim: row.claim, attempt: row.attempt }
  tx.afterCommit(() => {
    deps.workingTime.begin(job.id)
    deps.liveStreams.begin(claim, row.steps)
  })
  return { job, claim }
}
