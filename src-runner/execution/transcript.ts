import type { ReplyStep, Step } from '../contract/jobs.ts'
import { readReplyParts } from '../agent/providers/incoming-reply.ts'
import type { PromptMessage } from '../agent/providers/model.ts'

/**
 * A job's recorded steps as messages, without interrupted replies. Results are in the order of their calls. `parts`: recorded
 * reply parts, by the number of the step.
 */
export function transcriptOf(steps: readonly Step[], parts: ReadonlyMap<number, unknown> = new Map()) {
  const replies = steps.filter((step): step is ReplyStep => step.kind === 'reply' && !step.interrupted)
  const results = new Map<string, PromptMessage>()
  /** Calls that were recorded as started and have no result. */
  const startedCallIds = new Set<string>()
  for (const step of steps) {
    if (step.kind === 'tool_started') startedCallIds.add(step.callId)
    if (step.kind !== 'tool_result') continue
    results.set(step.callId, { role: 'tool', callId: step.callId, name: step.name, output: step.output, ok: step.ok })
  }
  for (const callId of results.keys()) startedCallIds.delete(callId)
  const messages = replies.flatMap((reply): PromptMessage[] => [
    { role: 'assistant', text: reply.text, toolCalls: reply.toolCalls, ...sentWith(reply, parts.get(reply.seq)) },
    ...reply.toolCalls.flatMap(({ callId }) => results.get(callId) ?? []),
  ])
  return { messages, startedCallIds }
}

function sentWith({ model, reasoning = '' }: ReplyStep, recorded: unknown): Pick<Extract<PromptMessage, { role: 'assistant' }>, 'sent'> {
  const parts = readReplyParts(recorded)
  return parts === null ? {} : { sent: { ...parts, model, thinking: reasoning } }
}
