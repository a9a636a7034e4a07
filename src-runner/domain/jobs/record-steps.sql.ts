import type { Tx } from '../../platform/db/database.ts'
import type { ModelRef } from '../../contract/agents.ts'
import type { ReplyStep } from '../../contract/jobs.ts'
import type { Claim } from './claim-job.ts'
import type { jobs } from './jobs-table.ts'

/** The number of the new step, and the job it belongs to. */
export type Place = Pick<
  typeof jobs.$inferSelect,
  'seq' | 'turns' | 'agentId' | 'channel' | 'conversationId' | 'parentJobId' | 'parentCallId'
>

/** Every step passes here. If the claim is no longer the job's, no row matches and nothing is written. */
const PLACE = `heartbeat_at = ?, working_ms = working_ms + ?, steps = steps + 1
  WHERE seq = ? AND claim = ? AND status = 'running' RETURNING steps AS seq, turns, agent_id AS agentId, channel,
    conversation_id AS conversationId, parent_job_id AS parentJobId, parent_call_id AS parentCallId`

type Beat = { now: number; workedMs: number }
type Tokens = Pick<ReplyStep, 'inputTokens' | 'outputTokens' | 'cachedTokens'>

/** What a server made the model write is no progress: the call may be what kills the process. */
const PLACE_REPLY = `
  UPDATE agent_jobs SET turns = turns + ?, crashes = iif(?, 0, crashes), provider_id = ?, model = ?, input_tokens = input_tokens + ?,
    output_tokens = output_tokens + ?, cached_tokens = cached_tokens + ?, cost_micros = cost_micros + ?,
    unpriced_calls = unpriced_calls + ?, ${PLACE}`

export function placeReply(
  tx: Tx,
  claim: Claim,
  reply: ModelRef & Tokens & Beat & { costMicros: number; priced: boolean; turns: number },
): Place | undefined {
  return tx
    .prepare<Place>(PLACE_REPLY)
    .get(
      reply.turns,
      reply.turns,
      reply.providerId,
      reply.model,
      reply.inputTokens,
      reply.outputTokens,
      reply.cachedTokens,
      reply.costMicros,
      reply.priced ? 0 : 1,
      reply.now,
      reply.workedMs,
      claim.seq,
      claim.claim,
    )
}

/** A result shows that the job makes progress. A start does not: the call may be what kills the process. */
const PLACE_TOOL = {
  tool_started: `UPDATE agent_jobs SET ${PLACE}`,
  tool_result: `UPDATE agent_jobs SET tool_calls = tool_calls + 1, crashes = 0, ${PLACE}`,
}

export function placeTool(tx: Tx, claim: Claim, kind: keyof typeof PLACE_TOOL, { now, workedMs }: Beat): Place | undefined {
  return tx.prepare<Place>(PLACE_TOOL[kind]).get(now, workedMs, claim.seq, claim.claim)
}

export function hasReplyOf(tx: Tx, jobSeq: number, { providerId, model }: ModelRef): boolean {
  const found = tx
    .prepare("SELECT 1 FROM job_steps WHERE job_seq = ? AND kind = 'reply' AND model = ? AND provider_id = ? LIMIT 1")
    .get(jobSeq, model, providerId)
  return found !== undefined
}

/** The cost of a delegated job counts for every job above it. */
export function addToAncestors(tx: Tx, parentJobId: string, micros: number): void {
  tx.prepare(
    `WITH RECURSIVE above (id) AS (
       SELECT ? UNION SELECT job.parent_job_id FROM agent_jobs AS job JOIN above ON job.id = above.id WHERE job.parent_call_id IS NOT NULL
     ) UPDATE agent_jobs SET children_cost_micros = children_cost_micros + ? WHERE id IN (SELECT id FROM above)`,
  ).run(parentJobId, micros)
}
