import type { Clock } from '../../kit/clock.ts'
import type { ListedModel, ModelAdapter, ModelEvent, ModelFailure, ModelRequest, PromptMessage, Usage } from './model.ts'

/** One thing that a scripted model does. */
export type ScriptPart =
  /** Said word by word, at the pace of the player, or at `wordMs` where it is given. */
  | { type: 'text'; text: string; wordMs?: number }
  | { type: 'reasoning'; text: string }
  /** `argsText` stands for arguments that are no JSON. `callId`: one of its own, where a test needs it. */
  | { type: 'tool_call'; name: string; args?: unknown; argsText?: string; callId?: string }
  | { type: 'pause'; ms: number }
  | { type: 'fail'; failure: ModelFailure }

/** One reply. `reason` follows from the parts where it is not given; `usage` is counted from the text. */
export type ScriptReply = {
  parts: ScriptPart[]
  reason?: Extract<ModelEvent, { type: 'finish' }>['reason']
  usage?: Usage | null
}

/**
 * Decides the next reply from the request alone, so that a job that died and came back goes on where it was: whoever
 * rebuilds the transcript gets the same reply again.
 */
export type Script = (request: ModelRequest) => ScriptReply

export type ScriptedDeps = {
  clock: Clock
  /** Pause between two words; 0 says a text in one piece. */
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
      let said = ''
      for (const part of reply.parts) {
        switch (part.type) {
          case 'text':
            for (const piece of pieces(part.text, part.wordMs ?? wordMs)) {
              if (piece.ms > 0) await clock.sleep(piece.ms, signal)
              signal.throwIfAborted()
              said += piece.text
              yield { type: 'text', text: piece.text }
            }
            break
          case 'reasoning':
            said += part.text
            yield { type: 'reasoning', text: part.text }
            break
          case 'pause':
            await clock.sleep(part.ms, signal)
            break
          case 'tool_call':
            calls++
            said += JSON.stringify(part.args ?? part.argsText ?? {})
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
        usage: reply.usage === undefined ? countUsage(request, said) : reply.usage,
      }
    },
    async listModels() {
      return models
    },
  }
}

/** Plays replies one after another, by how many replies the transcript holds already; the last one repeats. */
export function inOrder(replies: ScriptReply[]): Script {
  return (request) => {
    const answered = currentJob(request.messages).filter((message) => message.role === 'assistant').length
    return replies[Math.min(answered, replies.length - 1)] ?? { parts: [] }
  }
}

/** What happened since the person's last message: the replies and results of the job that is running. */
export function currentJob(messages: readonly PromptMessage[]): PromptMessage[] {
  return messages.slice(messages.findLastIndex((message) => message.role === 'user') + 1)
}

function pieces(text: string, wordMs: number): { text: string; ms: number }[] {
  if (wordMs === 0) return text === '' ? [] : [{ text, ms: 0 }]
  return (text.match(/\s*\S+\s*/g) ?? [text]).map((word) => ({ text: word, ms: wordMs }))
}

/** Unique within a conversation, and the same whenever the same transcript is asked again. */
function nextCallId(messages: readonly PromptMessage[], nth: number): string {
  const before = messages.reduce((count, message) => count + (message.role === 'assistant' ? message.toolCalls.length : 0), 0)
  return `call_${before + nth}`
}

/** About four characters a token, as with most models and English text. */
function countUsage(request: ModelRequest, said: string): Usage {
  let chars = 0
  for (const message of request.messages) chars += message.role === 'tool' ? message.output.length : message.text.length
  return { input: Math.max(1, Math.ceil(chars / 4)), output: Math.ceil(said.length / 4), cached: 0 }
}
