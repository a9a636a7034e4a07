import type { ReplyStep, Step } from '../contract/jobs.ts'
import type { PromptMessage } from '../thinking/models/model.ts'

export type Transcript = {
  messages: PromptMessage[]
  /** Calls that were written down as started and have no result. */
  startedCallIds: Set<string>
}

/**
 * A job's recorded steps as the conversation that the model goes on with. A reply that was cut off is left out: the
 * model writes it anew. Results stand in the order of their calls, however the tools came to their ends.
 */
export function transcriptOf(steps: readonly Step[]): Transcript {
  const replies = steps.filter((step): step is ReplyStep => step.kind === 'reply' && !step.interrupted)
  const results = new Map<string, PromptMessage>()
  const startedCallIds = new Set<string>()
  for (const step of steps) {
    if (step.kind === 'tool_started') startedCallIds.add(step.callId)
    if (step.kind !== 'tool_result') continue
    results.set(step.callId, { role: 'tool', callId: step.callId, name: step.name, output: step.output, ok: step.ok })
  }
  for (const callId of results.keys()) startedCallIds.delete(callId)
  const messages = replies.flatMap((reply): PromptMessage[] => [
    { role: 'assistant', text: reply.text, toolCalls: reply.toolCalls },
    ...reply.toolCalls.flatMap(({ callId }) => results.get(callId) ?? []),
  ])
  return { messages, startedCallIds }
}
