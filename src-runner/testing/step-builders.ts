import type { ReplyStep, ToolCall, ToolResultStep, ToolStartedStep } from '../contract/jobs.ts'

const head = { seq: 1, attempt: 1, createdAt: 0, durationMs: 0 }

export function replyStep(text: string, toolCalls: ToolCall[] = [], more: Partial<ReplyStep> = {}): ReplyStep {
  return {
    ...head,
    kind: 'reply',
    text,
    toolCalls,
    model: { providerId: 'demo', model: 'demo' },
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    costUsd: 0,
    priced: true,
    estimated: false,
    interrupted: false,
    ...more,
  }
}

export function startedStep(callId: string, name: string): ToolStartedStep {
  return { ...head, kind: 'tool_started', callId, name }
}

/** The tool is named like its call. */
export function resultStep(callId: string, output: string, ok = true): ToolResultStep {
  return { ...head, kind: 'tool_result', callId, name: callId, ok, output }
}
