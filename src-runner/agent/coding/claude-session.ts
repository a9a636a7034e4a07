import { isRecord } from '../../lib/json-values.ts'
import type { CodingSession, CodingStopReason, CodingUsage } from './coding-session.ts'
import { MAX_MODEL_CHARS } from './acp-updates.ts'
import { claudeCall, claudeResult } from './claude-calls.ts'
import type { CodingProcess } from './coding-process.ts'
import type { CodingTurns } from './coding-turns.ts'
import { answerInTime, createTurnSession, type OpenWith } from './turn-session.ts'

/** Why it ended without an error of its service. */
const STOPS = new Map<unknown, CodingStopReason>([
  ['error_max_turns', 'max_turns'],
  ['refusal', 'refusal'],
  ['max_tokens', 'max_tokens'],
])
const MAX_PARTS = 1_000

/**
 * A session with Claude Code itself, over the JSON stream that its SDK speaks: `SDKMessage` and `SDKControlRequest` in the types of
 * `@anthropic-ai/claude-agent-sdk`. `sessionId` was given to it when it started.
 */
export async function openClaudeSession(options: OpenWith, sessionId: string): Promise<CodingSession> {
  const { program, turns } = options
  const stream = speak(program, turns)
  await answerInTime(options, stream.control({ subtype: 'initialize' }))
  return createTurnSession(options, {
    session: { id: sessionId, canLoad: true },
    ask: stream.ask,
    interrupt: () => void stream.control({ subtype: 'interrupt' }).catch(() => {}),
  })
}

function speak(program: CodingProcess, turns: CodingTurns) {
  let requests = 0
  const waiting = new Map<string, PromiseWithResolvers<void>>()
  let result: PromiseWithResolvers<CodingStopReason> | null = null
  /** It tells usage by turn, and the cost of the whole process. */
  const used = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }

  program.listen((message) => {
    switch (message['type']) {
      case 'assistant':
        return readParts(message, (part) => takePart(part, message['parent_tool_use_id'] == null))
      case 'user':
        return readParts(message, (part) => {
          const update = claudeResult(part)
          if (update !== null) turns.call(update)
        })
      case 'result':
        return takeResult(message)
      case 'control_request':
        return void answerRequest(message)
      case 'control_response':
        return takeResponse(message['response'])
    }
  })
  void program.ended.then(() => {
    const over = new Error('The program has ended.')
    for (const { reject } of waiting.values()) reject(over)
    result?.reject(over)
  })

  let hasText = false
  function takePart(part: Record<string, unknown>, isMain: boolean): void {
    const { type, text, thinking } = part
    if (type === 'text' && typeof text === 'string' && isMain) {
      turns.text(hasText ? `\n\n${text}` : text)
      hasText = true
    } else if (type === 'thinking' && typeof thinking === 'string' && isMain) turns.thinking(thinking)
    else if (type === 'tool_use') {
      const update = claudeCall(part['id'], part['name'], part['input'])
      if (update !== null) turns.call(update)
    }
  }

  function takeResult(message: Record<string, unknown>): void {
    turns.usage(usageIn(message, used))
    const { is_error: isError, result: text, subtype, stop_reason: stopReason } = message
    const stop = STOPS.get(subtype) ?? STOPS.get(stopReason)
    if (isError === true && stop === undefined) {
      const errors = Array.isArray(message['errors']) ? message['errors'].join(' ') : ''
      result?.reject(new Error(typeof text === 'string' && text !== '' ? text : errors || String(subtype)))
    } else result?.resolve(stop ?? 'end_turn')
    result = null
  }

  async function answerRequest(message: Record<string, unknown>): Promise<void> {
    const { request_id: id, request } = message
    const { subtype, tool_name: name, input, tool_use_id: callId } = isRecord(request) ? request : {}
    const update = subtype === 'can_use_tool' ? claudeCall(callId, name, input) : null
    const respond = (response: Record<string, unknown>) =>
      program.send({ type: 'control_response', response: { request_id: id, ...response } }).catch(() => {})
    // Hooks, MCP servers and dialogs of ours: there are none.
    if (update === null) return respond({ subtype: 'error', error: 'not supported' })
    const answer = await turns.permission(update)
    const response =
      answer === 'allow'
        ? { behavior: 'allow', updatedInput: input }
        : { behavior: 'deny', message: answer === 'deny' ? 'This was not allowed.' : 'The turn was stopped.', interrupt: answer !== 'deny' }
    await respond({ subtype: 'success', response })
  }

  function takeResponse(response: unknown): void {
    if (!isRecord(response)) return
    const { request_id: id, subtype, error } = response
    const request = waiting.get(String(id))
    waiting.delete(String(id))
    if (subtype === 'success') request?.resolve()
    else request?.reject(new Error(typeof error === 'string' ? error : 'It refused.'))
  }

  return {
    async control(request: Record<string, unknown>): Promise<void> {
      const id = `deckhand-${++requests}`
      const answer = Promise.withResolvers<void>()
      waiting.set(id, answer)
      answer.promise.catch(() => {})
      await program.send({ type: 'control_request', request_id: id, request })
      return answer.promise
    },
    async ask(text: string): Promise<CodingStopReason> {
      hasText = false
      const turn = Promise.withResolvers<CodingStopReason>()
      result = turn
      turn.promise.catch(() => {})
      await program.send({ type: 'user', message: { role: 'user', content: [{ type: 'text', text }] } })
      return turn.promise
    },
  }
}

function readParts({ message }: Record<string, unknown>, take: (part: Record<string, unknown>) => void): void {
  const content = isRecord(message) ? message['content'] : null
  if (Array.isArray(content)) for (const part of content.slice(0, MAX_PARTS)) if (isRecord(part)) take(part)
}

function usageIn(
  { usage, total_cost_usd: cost, modelUsage }: Record<string, unknown>,
  used: Required<Pick<CodingUsage, 'inputTokens' | 'outputTokens' | 'cachedTokens'>>,
): CodingUsage {
  const of = (name: string) => {
    const value = isRecord(usage) ? usage[name] : 0
    return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 1e12 ? (value as number) : 0
  }
  used.cachedTokens += of('cache_read_input_tokens')
  used.inputTokens += of('input_tokens') + of('cache_read_input_tokens') + of('cache_creation_input_tokens')
  used.outputTokens += of('output_tokens')
  const model = isRecord(modelUsage) ? Object.keys(modelUsage)[0] : undefined
  return {
    ...used,
    ...(typeof cost === 'number' && cost >= 0 && cost < 1e6 ? { costUsd: cost } : {}),
    ...(model === undefined ? {} : { model: model.slice(0, MAX_MODEL_CHARS) }),
  }
}
