import { eq } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import { rowInsert, writeRows } from '../../platform/db/write-rows.ts'
import type { ModelRef } from '../../contract/agents.ts'
import type { JobOutput, ReplyStep, Step, ToolCall, ToolResultStep, ToolStartedStep } from '../../contract/jobs.ts'
import type { Taint } from '../../contract/rules.ts'
import { toUsd } from '../../lib/micros.ts'
import { addSpend } from '../spend/add-spend.sql.ts'
import type { Claim } from './claim-job.ts'
import type { JobDeps } from './job-deps.ts'
import { jobSteps, jobTexts, replyParts } from './jobs-table.ts'
import { forgetPostponed } from './postpone-job.ts'
import { addToAncestors, hasReplyOf, placeReply, placeTool, type Place } from './record-steps.sql.ts'
import { StaleClaimError } from '../../lib/errors.ts'

/** A complete reply of a model. */
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
  /** The server that asked the model for itself. Not a turn of the job. */
  askedBy?: string
  durationMs: number
  /** What its provider expects back with it. Opaque here. */
  sent?: object
}

export type NewToolStart = { callId: string; name: string; leftMachine?: boolean }

export type NewToolResult = {
  callId: string
  name: string
  ok: boolean
  output: string
  durationMs: number
  /** The taints that the result adds to the job. */
  addsTaint?: readonly Taint[]
  /** The call sent something to another machine. */
  leftMachine?: boolean
  /** Replaces the job's structured result. */
  result?: JobOutput
}

const STEP_KEYS = ['jobSeq', 'seq', 'kind', 'attempt', 'claim', 'createdAt', 'durationMs', 'text'] as const
const REPLIES = rowInsert(jobSteps, [
  ...STEP_KEYS,
  ...(['providerId', 'model', 'inputTokens', 'outputTokens', 'cachedTokens', 'costUsd', 'priced', 'estimated', 'interrupted'] as const),
  ...(['firstOfJob', 'firstOfModel', 'toolCalls', 'reasoning', 'askedBy'] as const),
])
const TOOL_STEPS = rowInsert(jobSteps, [...STEP_KEYS, 'callId', 'name', 'ok', 'addsTaint', 'leftMachine'])
const REPLY_PARTS = rowInsert(replyParts, ['jobSeq', 'seq', 'parts'])

/** Throws StaleClaimError, like all functions here, if another attempt owns the job. */
export function recordReply(tx: Tx, deps: JobDeps, claim: Claim, reply: NewReply): ReplyStep {
  const at = deps.money.now()
  const inputTokens = count(reply.usage.input)
  const cachedTokens = Math.min(inputTokens, count(reply.usage.cached))
  const tokens = { inputTokens, outputTokens: count(reply.usage.output), cachedTokens }
  const costMicros = count(reply.costMicros)
  const durationMs = count(reply.durationMs)
  const { text, reasoning, toolCalls, model, priced, estimated, interrupted, askedBy } = reply
  const place = placeReply(tx, claim, {
    ...model,
    ...tokens,
    costMicros,
    priced,
    turns: askedBy === undefined ? 1 : 0,
    now: deps.clock.now(),
    workedMs: deps.workingTime.take(claim.jobId),
  })
  if (place === undefined) throw new StaleClaimError(claim)
  const { seq, agentId, channel, parentJobId, parentCallId } = place
  const firstOfJob = place.turns === 1 && askedBy === undefined
  const firstOfModel = firstOfJob || !hasReplyOf(tx, claim.seq, model)
  const costUsd = toUsd(costMicros)
  const head = { seq, attempt: claim.attempt, createdAt: at, durationMs, kind: 'reply' as const, text, toolCalls }
  const figures = { ...tokens, costUsd, priced, estimated, interrupted }
  const own = { jobSeq: claim.seq, claim: claim.claim, reasoning: reasoning === '' ? null : reasoning, firstOfJob, firstOfModel, askedBy }
  writeRows(tx, REPLIES, [{ ...head, ...figures, ...own, ...model }])
  if (!interrupted) forgetPostponed(tx, claim.seq)
  if (reply.sent !== undefined) writeRows(tx, REPLY_PARTS, [{ jobSeq: claim.seq, seq, parts: reply.sent }])
  addSpend(tx, { at, agentId, channel, ...model, costMicros, ...tokens, priced, firstOfJob, firstOfModel })
  if (costMicros > 0 && parentCallId !== null) addToAncestors(tx, parentJobId!, costMicros)
  const step: ReplyStep = {
    ...head,
    ...(reasoning === '' ? {} : { reasoning }),
    model,
    ...figures,
    ...(askedBy !== undefined && { askedBy }),
  }
  publishStep(tx, deps, claim, place, step, costUsd)
  return step
}

/** For a non-idempotent call: on disk before the tool runs. */
export function recordToolStarted(tx: Tx, deps: JobDeps, claim: Claim, call: NewToolStart): ToolStartedStep {
  const { place, head } = placeToolStep(tx, deps, claim, 'tool_started', { ...call, ok: null, output: '', durationMs: 0 })
  const step: ToolStartedStep = { ...head, kind: 'tool_started', callId: call.callId, name: call.name }
  publishStep(tx, deps, claim, place, step, 0)
  return step
}

export function recordToolResult(tx: Tx, deps: JobDeps, claim: Claim, result: NewToolResult): ToolResultStep {
  const { place, head } = placeToolStep(tx, deps, claim, 'tool_result', result)
  const { callId, name, ok, output } = result
  if (result.result !== undefined) {
    tx.update(jobTexts).set({ output: result.result }).where(eq(jobTexts.jobSeq, claim.seq)).run()
  }
  const step: ToolResultStep = { ...head, kind: 'tool_result', callId, name, ok, output }
  publishStep(tx, deps, claim, place, step, 0)
  return step
}

function placeToolStep(
  tx: Tx,
  deps: JobDeps,
  claim: Claim,
  kind: 'tool_started' | 'tool_result',
  tool: Omit<NewToolResult, 'ok'> & { ok: boolean | null },
): { place: Place; head: { seq: number; attempt: number; createdAt: number; durationMs: number } } {
  const at = deps.money.now()
  const place = placeTool(tx, claim, kind, { now: deps.clock.now(), workedMs: deps.workingTime.take(claim.jobId) })
  if (place === undefined) throw new StaleClaimError(claim)
  const head = { seq: place.seq, attempt: claim.attempt, createdAt: at, durationMs: count(tool.durationMs) }
  const { callId, name, ok, output: text, leftMachine } = tool
  const addsTaint = addedTaintText(tool.addsTaint)
  writeRows(tx, TOOL_STEPS, [{ ...head, jobSeq: claim.seq, claim: claim.claim, kind, callId, name, ok, text, addsTaint, leftMachine }])
  return { place, head }
}

function publishStep(tx: Tx, deps: JobDeps, claim: Claim, place: Place, step: Step, costUsd: number): void {
  tx.emit({
    type: 'job.step_recorded',
    payload: { jobId: claim.jobId, conversationId: place.conversationId, seq: step.seq, kind: step.kind, costUsd },
  })
  tx.afterCommit(() => deps.liveStreams.step(claim.jobId, step))
}

/** In the form of the table's CHECK. */
function addedTaintText(addsTaint: readonly Taint[] = []): (typeof jobSteps.$inferSelect)['addsTaint'] {
  return addsTaint.length === 0 ? null : ([...new Set(addsTaint)].sort().join(',') as 'private,untrusted')
}

/** A provider may report a fraction, a negative number or no number. */
function count(value: number): number {
  return Number.isFinite(value) && value > 0 ? Math.round(value) : 0
}
