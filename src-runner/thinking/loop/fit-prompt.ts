import type { ModelRef } from '../../contract/agents.ts'
import { say } from '../../kit/said.ts'
import type { ModelRequest, OpenedModel, PromptMessage, Usage } from '../models/model.ts'
import { mostTokensOfMessage, mostTokensOfRequest, mostTokensOfTools, roomForPrompt } from '../models/prompt-size.ts'
import type { TooLong } from '../models/too-long.ts'
import type { Attempt } from './attempt.ts'
import { shortenPrompt } from './shorten-prompt.ts'

/** A request as it is sent. `tokens`: its size, estimated from above. */
export type FittedRequest = { request: ModelRequest; tokens: number; leftOut: number }

/** No model that works with tools holds less; below this nobody has to be asked how much it holds. */
const ALWAYS_FITS = 3_000
/** How much shorter a prompt is made that was refused, beside what the numbers of the refusal say. */
const AFTER_REFUSAL = 0.6
/** An estimate that came out too low is corrected in steps: a factor that moved with every call would move the cuts too. */
const FACTORS = [1, 1.25, 1.5, 2, 2.5, 3, 4]

/**
 * What of the conversation is sent to this model now: all of it, or as much as it holds beside its answer. How much that
 * is comes from the provider, from the list of prices, or from what it said when it last refused.
 */
export async function fitRequest(attempt: Attempt, request: ModelRequest, ref: ModelRef, opened: OpenedModel): Promise<FittedRequest> {
  const { windows, input } = attempt
  const whole = mostTokensOfRequest(request)
  const { factor, ceiling } = windows.ofJob(input.toolContext.jobId, ref)
  if (whole <= ALWAYS_FITS && ceiling === null) return { request, tokens: whole, leftOut: 0 }
  const said = (await opened.readWindow?.(whole, attempt.signal)) ?? Infinity
  const room = roomForPrompt(Math.min(said, windows.windowOf(ref) ?? Infinity)) / factor
  const budget = Math.floor(Math.min(room, ceiling ?? Infinity))
  if (whole <= budget) return { request, tokens: whole, leftOut: 0 }
  const tools = mostTokensOfTools(request.tools)
  const { messages, tokens, leftOut } = shortenPrompt(request.messages, input.prompt.length - 1, budget - tools)
  return { request: { ...request, messages }, tokens: tokens + tools, leftOut }
}

/** What the provider counted is the truth about the next prompt of this job as well, which begins with this one. */
export function learnFromUsage({ windows, input }: Attempt, ref: ModelRef, sent: FittedRequest, usage: Usage): void {
  learnFactor(windows, input.toolContext.jobId, ref, usage.input / sent.tokens)
}

/** The next prompt for this model is shorter, in this job by much, and in others by what the refusal said in numbers. */
export function learnFromRefusal({ windows, input }: Attempt, ref: ModelRef, sent: FittedRequest, said: TooLong | undefined): void {
  const { jobId } = input.toolContext
  if (said?.windowTokens) windows.learnWindow(ref, said.windowTokens)
  if (said?.promptTokens) learnFactor(windows, jobId, ref, said.promptTokens / sent.tokens)
  windows.learnOfJob(jobId, ref, { ceiling: Math.floor(sent.tokens * AFTER_REFUSAL) })
}

function learnFactor(windows: Attempt['windows'], jobId: string, ref: ModelRef, ratio: number): void {
  const factor = FACTORS.find((step) => step >= ratio) ?? FACTORS.at(-1)!
  if (factor > windows.ofJob(jobId, ref).factor) windows.learnOfJob(jobId, ref, { factor })
}

/** Of a job that does not fit at all: what of it takes how much. */
export function tooLongSentence(sent: FittedRequest, ref: ModelRef, provider: string): string {
  const { messages, tools } = sent.request
  const taskAt = messages.findLastIndex(({ role }) => role === 'user')
  const sum = (list: readonly PromptMessage[]) => list.reduce((tokens, message) => tokens + mostTokensOfMessage(message), 0)
  return say('job_too_long', {
    model: ref.model,
    provider,
    instructions: sum(messages.filter(({ role }) => role === 'system')),
    tools: mostTokensOfTools(tools),
    task: sum(messages.slice(taskAt, taskAt + 1)),
    rest: sum(messages.filter(({ role }, at) => role !== 'system' && at !== taskAt)),
  })
}
