import type { Message } from '../../contract/messages.ts'
import type { ModelRef } from '../../contract/agents.ts'
import { createMessage } from '../../lib/messages.ts'
import type { ModelRequest, OpenedModel, PromptMessage, Usage } from '../providers/model.ts'
import { maxTokensOfMessage, maxTokensOfRequest, maxTokensOfTools, roomForPrompt } from '../providers/prompt-size.ts'
import type { TooLong } from '../providers/prompt-too-long.ts'
import type { Attempt } from './attempt.ts'
import { truncatePrompt } from './truncate-prompt.ts'

/** A request as it is sent. `tokens`: the upper estimate of its size. */
export type FittedRequest = { request: ModelRequest; tokens: number; leftOut: number }

/** Every model that can use tools holds this much. */
const ALWAYS_FITS = 3_000
/** How much shorter a prompt gets after a refusal. */
const AFTER_REFUSAL = 0.6
/** Low estimates are corrected in steps: with a factor that moved on every call, the truncation would move too. */
const FACTORS = [1, 1.25, 1.5, 2, 2.5, 3, 4]

/**
 * Returns as much of the conversation as this model can read beside its reply. The window's size comes from
 * the provider, from the price list, or from the last refusal.
 */
export async function fitRequest(attempt: Attempt, request: ModelRequest, ref: ModelRef, opened: OpenedModel): Promise<FittedRequest> {
  const { windows, input } = attempt
  const tokens = maxTokensOfRequest(request)
  const { factor, ceiling } = windows.ofJob(input.toolContext.jobId, ref)
  if (tokens <= ALWAYS_FITS && ceiling === null) return { request, tokens, leftOut: 0 }
  const stated = (await opened.readWindow?.(tokens, attempt.signal)) ?? Infinity
  const room = roomForPrompt(Math.min(stated, windows.windowOf(ref) ?? Infinity)) / factor
  const limit = Math.floor(Math.min(room, ceiling ?? Infinity))
  if (tokens <= limit) return { request, tokens, leftOut: 0 }
  const tools = maxTokensOfTools(request.tools)
  const truncated = truncatePrompt(request.messages, input.prompt.length - 1, limit - tools)
  return { request: { ...request, messages: truncated.messages }, tokens: truncated.tokens + tools, leftOut: truncated.leftOut }
}

/** The provider's count also corrects the next prompt of this job, which begins with this one. */
export function learnFromUsage({ windows, input }: Attempt, ref: ModelRef, sent: FittedRequest, usage: Usage): void {
  learnFactor(windows, input.toolContext.jobId, ref, usage.input / sent.tokens)
}

/** Shortens the next prompt for this model: by much in this job, in others by the numbers in the refusal. */
export function learnFromRefusal({ windows, input }: Attempt, ref: ModelRef, sent: FittedRequest, stated: TooLong | undefined): void {
  const { jobId } = input.toolContext
  if (stated?.windowTokens) windows.learnWindow(ref, stated.windowTokens)
  if (stated?.promptTokens) learnFactor(windows, jobId, ref, stated.promptTokens / sent.tokens)
  windows.learnOfJob(jobId, ref, { ceiling: Math.floor(sent.tokens * AFTER_REFUSAL) })
}

function learnFactor(windows: Attempt['windows'], jobId: string, ref: ModelRef, ratio: number): void {
  const factor = FACTORS.find((step) => step >= ratio) ?? FACTORS.at(-1)!
  if (factor > windows.ofJob(jobId, ref).factor) windows.learnOfJob(jobId, ref, { factor })
}

/** Says which part of a job that does not fit takes how much. */
export function tooLongMessage(sent: FittedRequest, ref: ModelRef, provider: string): Message {
  const { messages, tools } = sent.request
  const taskAt = messages.findLastIndex(({ role }) => role === 'user')
  const sum = (list: readonly PromptMessage[]) => list.reduce((tokens, message) => tokens + maxTokensOfMessage(message), 0)
  return createMessage('job_too_long', {
    model: ref.model,
    provider,
    instructions: sum(messages.filter(({ role }) => role === 'system')),
    tools: maxTokensOfTools(tools),
    task: sum(messages.slice(taskAt, taskAt + 1)),
    rest: sum(messages.filter(({ role }, at) => role !== 'system' && at !== taskAt)),
  })
}
