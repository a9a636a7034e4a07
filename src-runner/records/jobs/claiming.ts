import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Job } from '../../contract/jobs.ts'
import type { Claim } from './claim.ts'
import type { JobDeps } from './job-deps.ts'
import { LONGEST_POSTPONED_MS } from './postponing.ts'
import { listQueuedAgents } from './queue.ts'
import { getJob } from './reading.ts'

export type ClaimedJob = { job: Job; claim: Claim }

/** Who was served when: breaks ties between agents. Fairness is no truth, so it may be forgotten with the process. */
export type Turns = { lastTurnOf(agentId: string): number; served(agentId: string): void }

export function createTurns(): Turns {
  const turns = new Map<string, number>()
  let turn = 0
  return { lastTurnOf: (agentId) => turns.get(agentId) ?? 0, served: (agentId) => void turns.set(agentId, ++turn) }
}

/**
 * What may run: in a conversation and in a schedule, nothing runs while an earlier job is unfinished. A job that was
 * running when the process died is a suspect until it gets on; suspects run one at a time, so that a job that
 * kills the process is found out without taking others down with it a second time. A postponed job is left until its time; one
 * that lies further ahead than anybody postpones was written by a clock that was wrong.
 */
const MAY_RUN = `
  job.status = 'pending'
  AND NOT EXISTS (SELECT 1 FROM postponed_jobs AS later WHERE later.job_seq = job.seq AND later.until > ? AND later.until <= ?)
  AND (job.crashes = 0 OR NOT EXISTS (SELECT 1 FROM agent_jobs AS other WHERE other.status = 'running' AND other.crashes > 0))
  AND (job.conversation_id IS NULL OR NOT EXISTS (
    SELECT 1 FROM agent_jobs AS earlier WHERE earlier.conversation_id = job.conversation_id AND earlier.seq < job.seq
    AND earlier.status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')))
  AND (job.schedule_id IS NULL OR NOT EXISTS (
    SELECT 1 FROM agent_jobs AS earlier WHERE earlier.schedule_id = job.schedule_id AND earlier.seq < job.seq
    AND earlier.status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')))`

export const FIRST_OF_AGENT = `SELECT job.seq FROM agent_jobs AS job WHERE job.agent_id = ? AND ${MAY_RUN} ORDER BY job.seq LIMIT 1`
export const ONE_JOB = `SELECT job.seq FROM agent_jobs AS job WHERE job.id = ? AND ${MAY_RUN}`

/** The next job, of the agent that has the fewest running; null when none may run or `limit` jobs are running. */
export function claimNextJob(tx: Tx, deps: JobDeps, turns: Turns, limit: number): ClaimedJob | null {
  const running = countRunningByAgent(tx)
  if (sum(running.values()) >= limit) return null
  const postponed = postponedRange(deps)
  const byNeed = listQueuedAgents(tx)
    .map((agentId) => ({ agentId, running: running.get(agentId) ?? 0, lastTurn: turns.lastTurnOf(agentId) }))
    .sort((a, b) => a.running - b.running || a.lastTurn - b.lastTurn)
  for (const { agentId } of byNeed) {
    const found = tx.prepare<{ seq: number }>(FIRST_OF_AGENT).get(agentId, ...postponed)
    if (found === undefined) continue
    turns.served(agentId)
    return claimRow(tx, deps, found.seq)
  }
  return null
}

/** This job, if it may run now. One that is finished, claimed, in another's way or over the limit is left as it is: null. */
export function claimJob(tx: Tx, deps: JobDeps, jobId: string, limit: number): ClaimedJob | null {
  if (sum(countRunningByAgent(tx).values()) >= limit) return null
  const found = tx.prepare<{ seq: number }>(ONE_JOB).get(jobId, ...postponedRange(deps))
  return found === undefined ? null : claimRow(tx, deps, found.seq)
}

/** Between what moments a job may be postponed to. */
function postponedRange({ clock }: JobDeps): [after: number, until: number] {
  return [clock.now(), clock.now() + LONGEST_POSTPONED_MS]
}

function claimRow(tx: Tx, deps: JobDeps, seq: number): ClaimedJob {
  const at = deps.clock.now()
  const row = tx
    .prepare<{ id: string; claim: number; attempt: number; steps: number }>(
      `UPDATE agent_jobs SET status = 'running', claim = claim + 1, attempt = attempt + 1, boot_id = ?, heartbeat_at = ?,
         started_at = coalesce(started_at, ?)
       WHERE seq = ? AND status = 'pending' RETURNING id, claim, attempt, steps`,
    )
    .get(deps.bootId, at, at, seq)!
  const job = getJob(tx, row.id)
  tx.emit({
    type: 'job.started',
    payload: { jobId: job.id, agentId: job.agentId, conversationId: job.conversationId, attempt: job.attempt },
  })
  const claim: Claim = { jobId: job.id, seq, claim: row.claim, attempt: row.attempt }
  tx.afterCommit(() => {
    deps.workingTime.begin(job.id)
    deps.tails.begin(claim, row.steps)
  })
  return { job, claim }
}

function countRunningByAgent(db: Db): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { agent_id } of db.prepare<{ agent_id: string }>("SELECT agent_id FROM agent_jobs WHERE status = 'running'").all()) {
    counts.set(agent_id, (counts.get(agent_id) ?? 0) + 1)
  }
  return counts
}

function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
