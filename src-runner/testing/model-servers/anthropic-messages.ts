import { argHalves, type Frame, named, type Protocol, stopWord } from './protocol.ts'

/** Anthropic's Messages API. Its input tokens exclude cached ones. */
export const anthropicMessages: Protocol = {
  frames(reply, model) {
    const { usage } = reply
    const cached = usage?.cached ?? 0
    const written = usage?.cacheWrite ?? 0
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: (usage?.input ?? 0) - cached - written,
        output_tokens: 1,
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: written,
      },
    }
    const frames: Frame[] = [event('start', 'message_start', { message }), event('start', 'ping', {})]
    let index = 0
    const block = (first: object, inner: Frame[]) => {
      frames.push(
        event('content', 'content_block_start', { index, content_block: first }),
        ...inner,
        event('content', 'content_block_stop', { index }),
      )
      index++
    }
    if (reply.reasoning !== undefined) {
      const at = index
      block(
        { type: 'thinking', thinking: '', signature: '' },
        reply.reasoning.map((thinking) => delta('content', at, { type: 'thinking_delta', thinking })),
      )
    }
    if ((reply.text ?? []).length > 0) {
      const at = index
      block(
        { type: 'text', text: '' },
        reply.text!.map((text) => delta('content', at, { type: 'text_delta', text })),
      )
    }
    for (const call of reply.toolCalls ?? []) {
      const [first, second] = argHalves(call)
      block({ type: 'tool_use', id: call.id, name: call.name, input: {} }, [
        delta('tool_args', index, { type: 'input_json_delta', partial_json: first }),
        delta('content', index, { type: 'input_json_delta', partial_json: second }),
      ])
    }
    const reason = stopWord(reply, { stop: 'end_turn', length: 'max_tokens', tools: 'tool_use', filter: 'refusal' })
    frames.push(
      event('end', 'message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: usage?.output ?? 0 } }),
      event('end', 'message_stop', {}),
    )
    return frames
  },
  errorBody: (status, error) => ({
    type: 'error',
    error: { type: error.type ?? ERROR_TYPES[status] ?? 'api_error', message: error.message },
  }),
  errorFrames: (error) => [event('content', 'error', { error: { type: error.type ?? 'api_error', message: error.message } })],
  textFrame: (text) => delta('content', 0, { type: 'text_delta', text }),
  tooLong: (sent, window) => {
    const message = `prompt is too long: ${sent} tokens > ${window} maximum`
    return { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' } }
  },
}

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function event(part: Frame['part'], type: string, more: object): Frame {
  return named(part, { type, ...more })
}

function delta(part: Frame['part'], index: number, inner: object): Frame {
  return event(part, 'content_block_delta', { index, delta: inner })
}
