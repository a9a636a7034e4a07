import type { Db } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/transact.ts'
import type { Job } from '../../contract/jobs.ts'
import type { Claim } from './claim.ts'
import type { JobDeps } from './job-deps.ts'
import { LONGEST_POSTPONED_MS } from './postpone-job.ts'
import { findFirstOfAgent, findToRun, listAgentsOfRunning, markClaimed, type Postponed } from './claim-job.sql.ts'
import { listQueuedAgents } from './queue.sql.ts'
import { getJob } from './read-jobs.ts'

export type ClaimedJob = { job: Job; claim: Claim }

/** Which agent was served when, to break ties. Kept in memory only: after a restart any order is fair. */
export type Turns = { lastTurnOf(agentId: string): number; served(agentId: string): void }

export function createTurns(): Turns {
  const turns = new Map<string, number>()
  let turn = 0
  return { lastTurnOf: (agentId) => turns.get(agentId) ?? 0, served: (agentId) => void turns.set(agentId, ++turn) }
}

/** The next job of the agent with the fewest running jobs. null when none may run, or `limit` jobs are running. */
export function claimNextJob(tx: Tx, deps: JobDeps, turns: Turns, limit: number): ClaimedJob | null {
  const running = countRunningByAgent(tx)
  if (sum(running.values()) >= limit) return null
  const postponed = postponedRange(deps)
  const byNeed = listQueuedAgents(tx)
    .map((agentId) => ({ agentId, running: running.get(agentId) ?? 0, lastTurn: turns.lastTurnOf(agentId) }))
    .sort((a, b) => a.running - b.running || a.lastTurn - b.lastTurn)
  for (const { agentId } of byNeed) {
    const seq = findFirstOfAgent(tx, agentId, postponed)
    if (seq === undefined) continue
    turns.served(agentId)
    return claimRow(tx, deps, seq)
  }
  return null
}

/** Claims this job if it may run now, and returns null otherwise. */
export function claimJob(tx: Tx, deps: JobDeps, jobId: string, limit: number): ClaimedJob | null {
  if (sum(countRunningByAgent(tx).values()) >= limit) return null
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

function countRunningByAgent(db: Db): Map<string, number> {
  const counts = new Map<string, number>()
  for (const agentId of listAgentsOfRunning(db)) counts.set(agentId, (counts.get(agentId) ?? 0) + 1)
  return counts
}

function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
