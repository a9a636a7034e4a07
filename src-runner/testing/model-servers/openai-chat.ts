import { argHalves, data, type Frame, type Protocol, stopWord } from './protocol.ts'

/** OpenAI's chat completions, as most other servers speak them too. */
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
}

function head(model: string) {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model }
}

function chunk(part: Frame['part'], model: string, delta: unknown, finishReason: string | null = null): Frame {
  return data(part, { ...head(model), choices: [{ index: 0, delta, finish_reason: finishReason }] })
}
