import type { Tx } from '../../base/db/transact.ts'
import type { ModelRef } from '../../contract/agents.ts'
import type { JobChannel, JobOutput, ReplyStep, Step, ToolCall, ToolResultStep, ToolStartedStep } from '../../contract/jobs.ts'
import type { Brings } from '../../contract/rules.ts'
import { toUsd } from '../micros.ts'
import { addSpend } from '../spend/add-spend.ts'
import { LostClaim, type Claim } from './claim.ts'
import type { JobDeps } from './job-deps.ts'
import { forgetPostponed } from './postponing.ts'

/** A complete reply of a model, as the one who called it saw it. */
export type NewReply = {
  text: string
  reasoning: string
  toolCalls: ToolCall[]
  model: ModelRef
  usage: { input: number; output: number; cached: number }
  estimated: boolean
  costMicros: number
  priced: boolean
  interrupted: boolean
  durationMs: number
  /** What its provider wants to have back with it. Opaque here. */
  sent?: object
}

export type NewToolStart = { callId: string; name: string; leftMachine?: boolean }

export type NewToolResult = {
  callId: string
  name: string
  ok: boolean
  output: string
  durationMs: number
  /** What the answer brought into the job. */
  brings?: readonly Brings[]
  /** The call went out of this machine. */
  leftMachine?: boolean
  /** What the job hands back, from now on. */
  result?: JobOutput
}

/** Where a step goes: answered by the update that checks the claim and counts the step. */
type Place = {
  seq: number
  turns: number
  agent_id: string
  channel: JobChannel
  conversation_id: string | null
  parent_job_id: string | null
  parent_call_id: string | null
}

/** Every write of an attempt passes here or through `heldJob`: no row has this claim any more, nothing is written. */
const PLACE = `heartbeat_at = ?, working_ms = working_ms + ?, steps = steps + 1
  WHERE seq = ? AND claim = ? AND status = 'running' RETURNING steps AS seq, turns, agent_id, channel, conversation_id,
    parent_job_id, parent_call_id`

/** Throws LostClaim, like all functions here, when the attempt may no longer write. */
export function recordReply(tx: Tx, deps: JobDeps, claim: Claim, reply: NewReply): ReplyStep {
  const at = deps.money.now()
  const input = count(reply.usage.input)
  const usage = { input, output: count(reply.usage.output), cached: Math.min(input, count(reply.usage.cached)) }
  const costMicros = count(reply.costMicros)
  const { providerId, model } = reply.model
  const place = tx
    .prepare<Place>(
      `UPDATE agent_jobs SET turns = turns + 1, crashes = 0, provider_id = ?, model = ?, input_tokens = input_tokens + ?,
         output_tokens = output_tokens + ?, cached_tokens = cached_tokens + ?, cost_micros = cost_micros + ?,
         unpriced_calls = unpriced_calls + ?, ${PLACE}`,
    )
    .get(
      providerId,
      model,
      usage.input,
      usage.output,
      usage.cached,
      costMicros,
      reply.priced ? 0 : 1,
      deps.clock.now(),
      deps.workingTime.take(claim.jobId),
      claim.seq,
      claim.claim,
    )
  if (place === undefined) throw new LostClaim(claim)
  const firstOfJob = place.turns === 1
  const firstOfModel = firstOfJob || !hasReplyOf(tx, claim.seq, reply.model)
  const durationMs = count(reply.durationMs)
  tx.prepare(
    `INSERT INTO job_steps (job_seq, seq, kind, attempt, claim, created_at, duration_ms, provider_id, model, input_tokens, output_tokens,
       cached_tokens, cost_micros, priced, estimated, interrupted, first_of_job, first_of_model, tool_calls, reasoning, text)
     VALUES (?, ?, 'reply', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    claim.seq,
    place.seq,
    claim.attempt,
    claim.claim,
    at,
    durationMs,
    providerId,
    model,
    usage.input,
    usage.output,
    usage.cached,
    costMicros,
    flag(reply.priced),
    flag(reply.estimated),
    flag(reply.interrupted),
    flag(firstOfJob),
    flag(firstOfModel),
    JSON.stringify(reply.toolCalls),
    reply.reasoning === '' ? null : reply.reasoning,
    reply.text,
  )
  if (!reply.interrupted) forgetPostponed(tx, claim.seq)
  if (reply.sent !== undefined) {
    tx.prepare('INSERT INTO reply_parts (job_seq, seq, parts) VALUES (?, ?, ?)').run(claim.seq, place.seq, JSON.stringify(reply.sent))
  }
  addSpend(tx, {
    at,
    agentId: place.agent_id,
    channel: place.channel,
    providerId,
    model,
    costMicros,
    inputTokens: usage.input,
    outputTokens: usage.output,
    cachedTokens: usage.cached,
    priced: reply.priced,
    firstOfJob,
    firstOfModel,
  })
  if (costMicros > 0 && place.parent_call_id !== null) addToAncestors(tx, place.parent_job_id!, costMicros)
  const step: ReplyStep = {
    seq: place.seq,
    attempt: claim.attempt,
    createdAt: at,
    durationMs,
    kind: 'reply',
    text: reply.text,
    ...(reply.reasoning === '' ? {} : { reasoning: reply.reasoning }),
    toolCalls: reply.toolCalls,
    model: { providerId, model },
    inputTokens: usage.input,
    outputTokens: usage.output,
    cachedTokens: usage.cached,
    costUsd: toUsd(costMicros),
    priced: reply.priced,
    estimated: reply.estimated,
    interrupted: reply.interrupted,
  }
  tell(tx, deps, claim, place, step, toUsd(costMicros))
  return step
}

/** What a delegated job costs counts at every job above it, as soon as it is recorded. */
function addToAncestors(tx: Tx, parentJobId: string, micros: number): void {
  tx.prepare(
    `WITH RECURSIVE above (id) AS (
       SELECT ? UNION SELECT job.parent_job_id FROM agent_jobs AS job JOIN above ON job.id = above.id WHERE job.parent_call_id IS NOT NULL
     ) UPDATE agent_jobs SET children_cost_micros = children_cost_micros + ? WHERE id IN (SELECT id FROM above)`,
  ).run(parentJobId, micros)
}

/** For a call that must not be repeated: on disk before the tool runs. */
export function recordToolStarted(tx: Tx, deps: JobDeps, claim: Claim, call: NewToolStart): ToolStartedStep {
  const { place, head } = placeToolStep(tx, deps, claim, 'tool_started', { ...call, ok: null, output: '', durationMs: 0 })
  const step: ToolStartedStep = { ...head, kind: 'tool_started', callId: call.callId, name: call.name }
  tell(tx, deps, claim, place, step, 0)
  return step
}

export function recordToolResult(tx: Tx, deps: JobDeps, claim: Claim, result: NewToolResult): ToolResultStep {
  const { place, head } = placeToolStep(tx, deps, claim, 'tool_result', result)
  const { callId, name, ok, output } = result
  if (result.result !== undefined) {
    tx.prepare('UPDATE job_texts SET output = ? WHERE job_seq = ?').run(JSON.stringify(result.result), claim.seq)
  }
  const step: ToolResultStep = { ...head, kind: 'tool_result', callId, name, ok, output }
  tell(tx, deps, claim, place, step, 0)
  return step
}

/** A result shows that the job got on; a start does not, since it may be the very thing that kills the process. */
const PLACE_TOOL = {
  tool_started: `UPDATE agent_jobs SET ${PLACE}`,
  tool_result: `UPDATE agent_jobs SET tool_calls = tool_calls + 1, crashes = 0, ${PLACE}`,
}

function placeToolStep(
  tx: Tx,
  deps: JobDeps,
  claim: Claim,
  kind: keyof typeof PLACE_TOOL,
  tool: Omit<NewToolResult, 'ok'> & { ok: boolean | null },
): { place: Place; head: { seq: number; attempt: number; createdAt: number; durationMs: number } } {
  const at = deps.money.now()
  const place = tx.prepare<Place>(PLACE_TOOL[kind]).get(deps.clock.now(), deps.workingTime.take(claim.jobId), claim.seq, claim.claim)
  if (place === undefined) throw new LostClaim(claim)
  const head = { seq: place.seq, attempt: claim.attempt, createdAt: at, durationMs: count(tool.durationMs) }
  tx.prepare(
    `INSERT INTO job_steps (job_seq, seq, kind, attempt, claim, created_at, duration_ms, call_id, name, ok, text, brings, left_machine)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    claim.seq,
    head.seq,
    kind,
    head.attempt,
    claim.claim,
    at,
    head.durationMs,
    tool.callId,
    tool.name,
    tool.ok === null ? null : flag(tool.ok),
    tool.output,
    bringsText(tool.brings),
    tool.leftMachine === undefined ? null : flag(tool.leftMachine),
  )
  return { place, head }
}

function tell(tx: Tx, deps: JobDeps, claim: Claim, place: Place, step: Step, costUsd: number): void {
  tx.emit({
    type: 'job.step_recorded',
    payload: { jobId: claim.jobId, conversationId: place.conversation_id, seq: step.seq, kind: step.kind, costUsd },
  })
  tx.afterCommit(() => deps.tails.step(claim.jobId, step))
}

function hasReplyOf(tx: Tx, jobSeq: number, { providerId, model }: ModelRef): boolean {
  const found = tx
    .prepare("SELECT 1 FROM job_steps WHERE job_seq = ? AND kind = 'reply' AND model = ? AND provider_id = ? LIMIT 1")
    .get(jobSeq, model, providerId)
  return found !== undefined
}

/** As the table's CHECK spells it. */
function bringsText(brings: readonly Brings[] = []): string | null {
  return brings.length === 0 ? null : [...new Set(brings)].sort().join(',')
}

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0
}

/** What comes from outside may be a fraction, negative or no number at all; what is counted is a whole number. */
function count(value: number): number {
  return Number.isFinite(value) && value > 0 ? Math.round(value) : 0
}
