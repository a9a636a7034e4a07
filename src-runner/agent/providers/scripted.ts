import type { Clock } from '../../lib/clock.ts'
import type { ListedModel, ModelAdapter, ModelEvent, ModelFailure, ModelRequest, PromptMessage, Usage } from './model.ts'

export type ScriptPart =
  /** Sent word by word. */
  | { type: 'text'; text: string; wordMs?: number }
  | { type: 'reasoning'; text: string }
  /** `argsText`: arguments that are not JSON. */
  | { type: 'tool_call'; name: string; args?: unknown; argsText?: string; callId?: string }
  | { type: 'pause'; ms: number }
  | { type: 'fail'; failure: ModelFailure }

/** Absent `reason` and `usage` follow from the parts. */
export type ScriptReply = {
  parts: ScriptPart[]
  reason?: Extract<ModelEvent, { type: 'finish' }>['reason']
  usage?: Usage | null
}

/** Decides the reply from the request alone, so that a job that continues after a crash gets the same replies. */
export type Script = (request: ModelRequest) => ScriptReply

export type ScriptedDeps = {
  clock: Clock
  /** Pause between words. 0: the text in one piece. */
  wordMs?: number
  models?: ListedModel[]
}

/** A model that plays a script: the built-in demo, and in tests the well-behaved and the evil model. */
export function createScriptedModel(script: Script, deps: ScriptedDeps): ModelAdapter {
  const { clock, wordMs = 0, models = [{ model: 'scripted', label: 'Scripted', contextTokens: null }] } = deps
  return {
    async *stream(request, signal) {
      signal.throwIfAborted()
      const reply = script(request)
      let calls = 0
      let written = ''
      for (const part of reply.parts) {
        switch (part.type) {
          case 'text':
            for (const piece of pieces(part.text, part.wordMs ?? wordMs)) {
              if (piece.ms > 0) await clock.sleep(piece.ms, signal)
              signal.throwIfAborted()
              written += piece.text
              yield { type: 'text', text: piece.text }
            }
            break
          case 'reasoning':
            written += part.text
            yield { type: 'reasoning', text: part.text }
            break
          case 'pause':
            await clock.sleep(part.ms, signal)
            break
          case 'tool_call':
            calls++
            written += JSON.stringify(part.args ?? part.argsText ?? {})
            yield {
              type: 'tool_call',
              callId: part.callId ?? nextCallId(request.messages, calls),
              name: part.name,
              args: part.argsText ?? part.args ?? {},
              argsValid: part.argsText === undefined,
            }
            break
          case 'fail':
            yield { type: 'failed', failure: part.failure, usage: reply.usage ?? null }
            return
        }
        signal.throwIfAborted()
      }
      yield {
        type: 'finish',
        reason: reply.reason ?? (calls > 0 ? 'tool_calls' : 'stop'),
        usage: reply.usage === undefined ? countUsage(request, written) : reply.usage,
      }
    },
    async listModels() {
      return models
    },
  }
}

/** Plays replies in order, counted from the transcript. The last one repeats. */
export function inOrder(replies: ScriptReply[]): Script {
  return (request) => {
    const answered = currentJob(request.messages).filter((message) => message.role === 'assistant').length
    return replies[Math.min(answered, replies.length - 1)] ?? { parts: [] }
  }
}

/** The messages since the person's last one. */
export function currentJob(messages: readonly PromptMessage[]): PromptMessage[] {
  return messages.slice(messages.findLastIndex((message) => message.role === 'user') + 1)
}

function pieces(text: string, wordMs: number): { text: string; ms: number }[] {
  if (wordMs === 0) return text === '' ? [] : [{ text, ms: 0 }]
  return (text.match(/\s*\S+\s*/g) ?? [text]).map((word) => ({ text: word, ms: wordMs }))
}

/** Unique in a conversation, and the same for the same transcript. */
function nextCallId(messages: readonly PromptMessage[], nth: number): string {
  const before = messages.reduce((count, message) => count + (message.role === 'assistant' ? message.toolCalls.length : 0), 0)
  return `call_${before + nth}`
}

/** About four characters a token, as with most models and English text. */
function countUsage(request: ModelRequest, written: string): Usage {
  let chars = 0
  for (const message of request.messages) chars += message.role === 'tool' ? message.output.length : message.text.length
  return { input: Math.max(1, Math.ceil(chars / 4)), output: Math.ceil(written.length / 4), cached: 0 }
}
