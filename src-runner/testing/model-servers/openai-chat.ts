import { argHalves, data, type Frame, type Protocol, stopWord } from './protocol.ts'

/** OpenAI's chat completions, which most other servers also speak. */
export const openAiChat: Protocol = {
  frames(reply, model) {
    const frames: Frame[] = [chunk('start', model, { role: 'assistant', content: '' })]
    for (const piece of reply.reasoning ?? []) frames.push(chunk('content', model, { reasoning_content: piece }))
    for (const piece of reply.text ?? []) frames.push(chunk('content', model, { content: piece }))
    for (const [index, call] of (reply.toolCalls ?? []).entries()) {
      const [first, second] = argHalves(call)
      const head = { index, id: call.id, type: 'function', function: { name: call.name, arguments: first } }
      frames.push(chunk('tool_args', model, { tool_calls: [head] }))
      frames.push(chunk('content', model, { tool_calls: [{ index, function: { arguments: second } }] }))
    }
    const reason = stopWord(reply, { stop: 'stop', length: 'length', tools: 'tool_calls', filter: 'content_filter' })
    frames.push(chunk('end', model, {}, reason))
    const { usage } = reply
    if (usage !== null && usage !== undefined) {
      frames.push(
        data('end', {
          ...head(model),
          choices: [],
          usage: {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.input + usage.output,
            prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
          },
        }),
      )
    }
    frames.push(data('done', '[DONE]'))
    return frames
  },
  errorBody: (_status, error) => ({
    error: { message: error.message, type: error.type ?? 'invalid_request_error', param: null, code: error.code ?? null },
  }),
  errorFrames: (error) => [
    data('content', { error: { message: error.message, type: error.type ?? 'server_error', code: error.code ?? null } }),
  ],
  textFrame: (text) => chunk('content', 'model', { content: text }),
  tooLong: (sent, window) => TOO_LONG.openai(sent, window),
}

/** Each server of this protocol has its own error for a prompt that is too long. */
export const TOO_LONG: Record<'openai' | 'vllm' | 'llama.cpp' | 'lm-studio', Protocol['tooLong']> = {
  openai: (sent, window) => {
    const message = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${sent} tokens. Please reduce the length of the messages.`
    return { status: 400, body: { error: { message, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' } } }
  },
  vllm: (sent, window) => {
    const message = `This model's maximum context length is ${window} tokens. However, your request has ${sent} input tokens. Please reduce the length of the input messages.`
    return { status: 400, body: { object: 'error', message, type: 'BadRequestError', param: null, code: 400 } }
  },
  'llama.cpp': (sent, window) => {
    const message = `request (${sent} tokens) exceeds the available context size (${window} tokens), try increasing it`
    return { status: 400, body: { error: { code: 400, message, type: 'exceed_context_size_error', n_prompt_tokens: sent, n_ctx: window } } }
  },
  'lm-studio': (sent, window) => {
    const error = `Trying to keep the first ${sent} tokens when context the overflows. However, the model is loaded with context length of only ${window} tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input.`
    return { status: 400, body: { error } }
  },
}

function head(model: string) {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model }
}

function chunk(part: Frame['part'], model: string, delta: unknown, finishReason: string | null = null): Frame {
  return data(part, { ...head(model), choices: [{ index: 0, delta, finish_reason: finishReason }] })
}
