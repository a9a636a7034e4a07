import { argHalves, argsText, type Frame, named, type Protocol } from './protocol.ts'
import type { ServedReply } from './reply.ts'

/** OpenAI's Responses API. */
export const openAiResponses: Protocol = {
  frames(reply, model) {
    const frames: Frame[] = [event('start', 'response.created', { response: responseOf(model, { status: 'in_progress' }) })]
    let index = 0
    if (reply.reasoning !== undefined) {
      const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null }
      frames.push(event('content', 'response.output_item.added', { output_index: index, item }))
      frames.push(event('content', 'response.reasoning_summary_part.added', { item_id: 'rs_1', output_index: index, summary_index: 0 }))
      for (const piece of reply.reasoning) {
        frames.push(
          event('content', 'response.reasoning_summary_text.delta', {
            item_id: 'rs_1',
            output_index: index,
            summary_index: 0,
            delta: piece,
          }),
        )
      }
      frames.push(event('content', 'response.output_item.done', { output_index: index, item }))
      index++
    }
    if ((reply.text ?? []).length > 0) {
      const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
      frames.push(event('content', 'response.output_item.added', { output_index: index, item }))
      for (const piece of reply.text!) frames.push(textDelta(piece, index))
      frames.push(event('content', 'response.output_item.done', { output_index: index, item: { ...item, status: 'completed' } }))
      index++
    }
    for (const call of reply.toolCalls ?? []) {
      const [first, second] = argHalves(call)
      const item = { type: 'function_call', id: `fc_${index}`, call_id: call.id, name: call.name, arguments: '', status: 'in_progress' }
      frames.push(event('content', 'response.output_item.added', { output_index: index, item }))
      frames.push(event('tool_args', 'response.function_call_arguments.delta', { item_id: item.id, output_index: index, delta: first }))
      frames.push(event('content', 'response.function_call_arguments.delta', { item_id: item.id, output_index: index, delta: second }))
      frames.push(
        event('content', 'response.output_item.done', {
          output_index: index,
          item: { ...item, arguments: argsText(call), status: 'completed' },
        }),
      )
      index++
    }
    frames.push(lastFrame(reply, model))
    return frames
  },
  errorBody: (_status, error) => ({
    error: { message: error.message, type: error.type ?? 'invalid_request_error', param: null, code: error.code ?? null },
  }),
  errorFrames: (error) => [
    event('content', 'error', { code: error.code ?? error.type ?? 'server_error', message: error.message, param: null }),
  ],
  textFrame: (text) => textDelta(text, 0),
  // Without a number.
  tooLong: () => {
    const message = 'Your input exceeds the context window of this model. Please adjust your input and try again.'
    return { status: 400, body: { error: { message, type: 'invalid_request_error', param: 'input', code: 'context_length_exceeded' } } }
  },
}

function lastFrame(reply: ServedReply, model: string): Frame {
  const { stop, usage } = reply
  const reason = stop === 'length' ? 'max_output_tokens' : stop === 'filter' ? 'content_filter' : typeof stop === 'object' ? stop.raw : null
  const response = responseOf(model, {
    status: reason === null ? 'completed' : 'incomplete',
    incomplete_details: reason === null ? null : { reason },
    ...(usage === null || usage === undefined
      ? {}
      : {
          usage: {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: usage.cached ?? 0 },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: 0 },
          },
        }),
  })
  return event('end', reason === null ? 'response.completed' : 'response.incomplete', { response })
}

function responseOf(model: string, more: object) {
  return { id: 'resp_1', object: 'response', created_at: 1_760_000_000, model, output: [], service_tier: 'default', ...more }
}

function textDelta(delta: string, index: number): Frame {
  return event('content', 'response.output_text.delta', { item_id: 'msg_1', output_index: index, content_index: 0, delta })
}

function event(part: Frame['part'], type: string, more: object): Frame {
  return named(part, { type, sequence_number: 1, ...more })
}
