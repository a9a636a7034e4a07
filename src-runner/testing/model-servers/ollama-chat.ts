import type { Frame, Protocol } from './protocol.ts'
import { stopWord } from './protocol.ts'
import type { ServedReply } from './reply.ts'

/** Ollama's chat: one JSON object on each line. Tool calls come in one piece, and the last line has the counts. */
export const ollamaChat: Protocol = {
  contentType: 'application/x-ndjson',
  frames(reply, model) {
    const frames: Frame[] = []
    for (const thinking of reply.reasoning ?? []) frames.push(line('content', model, { content: '', thinking }))
    for (const content of reply.text ?? []) frames.push(line('content', model, { content }))
    for (const call of reply.toolCalls ?? []) {
      const named = { name: call.name, arguments: call.rawArgs === '' ? {} : (call.args ?? {}) }
      frames.push(line('tool_args', model, { content: '', tool_calls: [{ id: call.id, function: named }] }))
    }
    const reason = stopWord(reply, { stop: 'stop', length: 'length', tools: 'stop', filter: 'stop' })
    frames.push(line('end', model, { content: '' }, { done: true, done_reason: reason, ...usageOf(reply) }))
    return frames
  },
  errorBody: (_status, error) => ({ error: error.message }),
  errorFrames: (error) => [{ part: 'content', lines: [JSON.stringify({ error: error.message })] }],
  textFrame: (text) => line('content', 'model', { content: text }),
  // The error of its engine, as text.
  tooLong: (sent, window) => ({
    status: 400,
    body: {
      error: JSON.stringify({
        error: {
          code: 400,
          message: `request (${sent} tokens) exceeds the available context size (${window} tokens), try increasing it`,
          type: 'exceed_context_size_error',
          n_prompt_tokens: sent,
          n_ctx: window,
        },
      }),
    },
  }),
}

function usageOf({ usage }: ServedReply) {
  return usage === null || usage === undefined ? {} : { prompt_eval_count: usage.input, eval_count: usage.output }
}

function line(part: Frame['part'], model: string, message: object, more: object = { done: false }): Frame {
  return {
    part,
    lines: [JSON.stringify({ model, created_at: '2026-11-20T09:30:00Z', message: { role: 'assistant', ...message }, ...more })],
  }
}

type Asked = {
  model?: string
  messages?: { role: string }[]
  truncate?: boolean
  options?: { num_ctx?: number }
}

/** Ollama's default window on a machine without a large graphics card. */
const DEFAULT_WINDOW = 4_096

export type OllamaOptions = {
  /** The window that the model was trained for. */
  trainedTokens: number
  /** A version before 0.12.6, which cannot refuse a prompt. */
  alwaysCuts?: boolean
  /** The window in the model's Modelfile. */
  parameters?: string
  /** The largest window for which there is memory. */
  affordableTokens?: number
  /** More fields of `/api/show`. */
  modelInfo?: Record<string, unknown>
}

/** The part of Ollama that loads models and fits prompts into their windows. */
export function createOllamaEngine(
  { trainedTokens, alwaysCuts = false, parameters, affordableTokens = Infinity, modelInfo = {} }: OllamaOptions,
  tokensOf: (value: unknown) => number,
) {
  /** The window of each load of a model, in order. */
  const loads: number[] = []
  let cuts = 0
  return {
    loads,
    cuts: () => cuts,
    show: () => ({
      details: { family: 'llama' },
      parameters: parameters ?? 'temperature 0.7',
      model_info: { 'general.architecture': 'llama', 'llama.context_length': trainedTokens, ...modelInfo },
    }),
    running: (model: string) => ({ models: loads.length === 0 ? [] : [{ name: model, model, context_length: loads.at(-1) }] }),
    /** The request as the model reads it, or the refusal. */
    take(asked: Asked): { request: Asked } | { sent: number; window: number } | { noMemory: string } {
      const window = Math.min(trainedTokens, asked.options?.num_ctx ?? DEFAULT_WINDOW)
      if (window > affordableTokens) return { noMemory: 'model requires more system memory (9.1 GiB) than is available (5.2 GiB)' }
      if (loads.at(-1) !== window) loads.push(window)
      const sent = tokensOf(asked)
      if (sent <= window) return { request: asked }
      if (asked.truncate === false && !alwaysCuts) return { sent, window }
      cuts++
      // From the front, except the system message and the last message.
      let messages = asked.messages ?? []
      while (messages.length > 1 && tokensOf({ ...asked, messages }) > window) {
        const first = messages.findIndex(({ role }, at) => role !== 'system' && at < messages.length - 1)
        if (first === -1) break
        messages = messages.toSpliced(first, 1)
      }
      return { request: { ...asked, messages } }
    },
  }
}
