import { data, type Frame, type Protocol, stopWord } from './protocol.ts'
import type { ServedReply } from './reply.ts'

/** Google's generateContent as a stream. Tool calls come in one piece, and the last content has the finish reason. */
export const googleGenerate: Protocol = {
  frames(reply, model) {
    const frames: Frame[] = []
    for (const text of reply.reasoning ?? []) frames.push(parts('content', model, [{ text, thought: true }]))
    for (const text of reply.text ?? []) frames.push(parts('content', model, [{ text }]))
    for (const call of reply.toolCalls ?? []) {
      frames.push(parts('tool_args', model, [{ functionCall: { id: call.id, name: call.name, args: call.rawArgs ?? call.args ?? {} } }]))
    }
    // Google says STOP after tool calls as well.
    const reason = stopWord(reply, { stop: 'STOP', length: 'MAX_TOKENS', tools: 'STOP', filter: 'SAFETY' })
    frames.push(
      data('end', {
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: reason, index: 0 }],
        ...usageOf(reply),
        modelVersion: model,
        responseId: 'r1',
      }),
    )
    return frames
  },
  errorBody: (status, error) => ({
    error: { code: status, message: error.message, status: error.type ?? STATUS_WORDS[status] ?? 'INTERNAL' },
  }),
  errorFrames: (error) => [data('content', { error: { code: 500, message: error.message, status: error.type ?? 'INTERNAL' } })],
  textFrame: (text) => parts('content', 'model', [{ text }]),
  tooLong: (sent, window) => {
    const message = `The input token count (${sent}) exceeds the maximum number of tokens allowed (${window}).`
    return { status: 400, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } }
  },
}

const STATUS_WORDS: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

function usageOf({ usage }: ServedReply) {
  if (usage === null || usage === undefined) return {}
  return {
    usageMetadata: {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
      ...(usage.cached === undefined ? {} : { cachedContentTokenCount: usage.cached }),
    },
  }
}

function parts(part: Frame['part'], model: string, inner: object[]): Frame {
  return data(part, { candidates: [{ content: { role: 'model', parts: inner }, index: 0 }], modelVersion: model, responseId: 'r1' })
}
