import type { KnownPrice, ModelRequest, PromptMessage, Usage } from '../providers/model.ts'
import { costMicros } from '../providers/prices.ts'
import { BYTES_PER_TOKEN, maxTokensOfRequest } from '../providers/prompt-size.ts'

/** The cost of the model calls for one reply. */
export type CallCost = { usage: Usage; estimated: boolean; costMicros: number; priced: boolean }

export const NO_COST: CallCost = { usage: { input: 0, output: 0, cached: 0 }, estimated: false, costMicros: 0, priced: true }

/** Without plausible usage from the provider, the cost is an estimate: better than a job that looks free. */
export function costOfCall(reported: Usage | null, estimate: () => Usage, price: KnownPrice | null): CallCost {
  const trusted = reported !== null && isPlausible(reported) ? reported : null
  const usage = trusted ?? estimate()
  return { usage, estimated: trusted === null, costMicros: price === null ? 0 : costMicros(usage, price), priced: price !== null }
}

export function addCosts(a: CallCost, b: CallCost): CallCost {
  return {
    usage: { input: a.usage.input + b.usage.input, output: a.usage.output + b.usage.output, cached: a.usage.cached + b.usage.cached },
    estimated: a.estimated || b.estimated,
    costMicros: a.costMicros + b.costMicros,
    priced: a.priced && b.priced,
  }
}

/** Most replies are shorter. A longer one is paid for, and counts at the next call. */
const EXPECTED_OUTPUT_TOKENS = 1_000

/** Of the upper estimate: four bytes to a token, which is prose in any script. */
const LIKELY_SHARE = BYTES_PER_TOKEN / 4

/** The highest expected cost in micro-dollars. null: the price is unknown. */
export function estimateOfCall(request: ModelRequest, price: KnownPrice | null): number | null {
  if (price === null) return null
  const output = Math.min(request.maxOutputTokens ?? EXPECTED_OUTPUT_TOKENS, EXPECTED_OUTPUT_TOKENS)
  return costMicros({ input: Math.ceil(maxTokensOfRequest(request) * LIKELY_SHARE), output, cached: 0 }, price)
}

/** Estimates count four characters as a token. */
export function tokensOf(chars: number): number {
  return Math.ceil(chars / 4)
}

export function charsOfRequest(request: ModelRequest): number {
  let chars = 0
  for (const message of request.messages) chars += charsOfMessage(message)
  for (const { name, description, parameters } of request.tools) chars += name.length + description.length + charsOfArgs(parameters)
  return chars
}

function charsOfMessage(message: PromptMessage): number {
  if (message.role === 'tool') return message.output.length
  if (message.role !== 'assistant') return message.text.length
  return message.toolCalls.reduce((sum, call) => sum + call.name.length + charsOfArgs(call.args), message.text.length)
}

export function charsOfArgs(args: unknown): number {
  return JSON.stringify(args)?.length ?? 0
}

function isPlausible({ input, output, cached }: Usage): boolean {
  return [input, output, cached].every((n) => Number.isSafeInteger(n) && n >= 0) && cached <= input
}
