import type { ProviderKind } from '../../contract/providers.ts'

/**
 * Replies that call a tool after some thinking, event by event as each provider sends them, with the
 * fields that only it has, and what its documentation requires in the next request. Written by hand from public recordings.
 */
export type RecordedStream = {
  name: string
  kind: Exclude<ProviderKind, 'demo'>
  model: string
  events: readonly string[]
  thinking: string
  text: string
  calls: readonly { name: string; args: unknown }[]
  /** The messages, items or contents that the next request must contain for this reply, unchanged. */
  givenBack: readonly unknown[]
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string } & Record<string, unknown>): string => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
const line = (value: unknown): string => `${JSON.stringify(value)}\n`

const chunk = (delta: unknown, finish: string | null = null, more: object = {}): string =>
  event({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1_786_782_779,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })
const usage = { prompt_tokens: 374, completion_tokens: 61, total_tokens: 435 }
const done = 'data: [DONE]\n\n'

const block = (index: number, first: object, ...deltas: object[]): string[] => [
  named({ type: 'content_block_start', index, content_block: first }),
  ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta })),
  named({ type: 'content_block_stop', index }),
]
const anthropic = (model: string, ...blocks: string[][]): string[] => [
  named({
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      usage: { input_tokens: 30, output_tokens: 1 },
    },
  }),
  named({ type: 'ping' }),
  ...blocks.flat(),
  named({ type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 80 } }),
  named({ type: 'message_stop' }),
]
const toolUse = (index: number, id: string, word: string): string[] =>
  block(
    index,
    { type: 'tool_use', id, name: 'lookup', input: {} },
    { type: 'input_json_delta', partial_json: '{"word":' },
    { type: 'input_json_delta', partial_json: ` "${word}"}` },
  )

const contents = (parts: object[], finish?: string): string =>
  event({
    candidates: [{ content: { role: 'model', parts }, ...(finish === undefined ? {} : { finishReason: finish }), index: 0 }],
    usageMetadata: { promptTokenCount: 40, candidatesTokenCount: 9, totalTokenCount: 90, thoughtsTokenCount: 41 },
    modelVersion: 'gemini-3-pro',
    responseId: 'r1',
  })

const response = (status: string) => ({ id: 'resp_1', object: 'response', created_at: 1_765_552_659, status, model: 'gpt-5.1', output: [] })

const SEA = { name: 'lookup', args: { word: 'sea' } }
const SKY = { name: 'lookup', args: { word: 'sky' } }
const call = (id: string, word: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'lookup', arguments: `{"word":"${word}"}` },
  ...more,
})

export const RECORDED_STREAMS: readonly RecordedStream[] = [
  {
    name: 'DeepSeek',
    kind: 'openai-compatible',
    model: 'deepseek-v4-flash',
    events: [
      chunk({ role: 'assistant', content: null, reasoning_content: '' }),
      chunk({ content: null, reasoning_content: 'The user' }),
      chunk({ content: null, reasoning_content: ' asks about the sea.' }),
      chunk({ tool_calls: [{ index: 0, id: 'call_00_Ih', type: 'function', function: { name: 'lookup', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"word":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ' "sea"}' } }] }),
      chunk({ content: '', reasoning_content: null }, 'tool_calls', { usage }),
      done,
    ],
    thinking: 'The user asks about the sea.',
    text: '',
    calls: [SEA],
    givenBack: [
      { role: 'assistant', content: null, reasoning_content: 'The user asks about the sea.', tool_calls: [call('call_00_Ih', 'sea')] },
    ],
  },
  {
    name: 'Kimi, with ids of its own form',
    kind: 'openai-compatible',
    model: 'kimi-k2-thinking',
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'Two words' }),
      chunk({ reasoning_content: ' to look up.' }),
      chunk({ content: 'I look.' }),
      chunk({
        tool_calls: [{ index: 0, id: 'functions.lookup:0', type: 'function', function: { name: 'lookup', arguments: '{"word":"sea"}' } }],
      }),
      chunk({
        tool_calls: [{ index: 1, id: 'functions.lookup:1', type: 'function', function: { name: 'lookup', arguments: '{"word":"sky"}' } }],
      }),
      chunk({}, 'tool_calls', { usage }),
      done,
    ],
    thinking: 'Two words to look up.',
    text: 'I look.',
    calls: [SEA, SKY],
    givenBack: [
      {
        role: 'assistant',
        content: 'I look.',
        reasoning_content: 'Two words to look up.',
        tool_calls: [call('functions.lookup:0', 'sea'), call('functions.lookup:1', 'sky')],
      },
    ],
  },
  {
    name: 'Gemini through its compatible address, two calls with one signature',
    kind: 'openai-compatible',
    model: 'gemini-3-pro-preview',
    events: [
      chunk({
        role: 'assistant',
        tool_calls: [
          {
            index: 0,
            id: 'function-call-1',
            type: 'function',
            function: { name: 'lookup', arguments: '{"word":"sea"}' },
            extra_content: { google: { thought_signature: 'CiQBcsjafKey==' } },
          },
        ],
      }),
      chunk({
        role: 'assistant',
        tool_calls: [{ index: 1, id: 'function-call-2', type: 'function', function: { name: 'lookup', arguments: '{"word":"sky"}' } }],
      }),
      chunk({ role: 'assistant' }, 'stop', { usage }),
      done,
    ],
    thinking: '',
    text: '',
    calls: [SEA, SKY],
    givenBack: [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          call('function-call-1', 'sea', { extra_content: { google: { thought_signature: 'CiQBcsjafKey==' } } }),
          call('function-call-2', 'sky'),
        ],
      },
    ],
  },
  {
    name: 'OpenRouter, with signed details',
    kind: 'openai-compatible',
    model: 'anthropic/claude-opus-4.5',
    events: [
      ': OPENROUTER PROCESSING\n\n',
      chunk({
        role: 'assistant',
        content: '',
        reasoning: 'Look ',
        reasoning_details: [{ type: 'reasoning.text', text: 'Look ', format: 'anthropic-claude-v1', index: 0 }],
      }),
      chunk({
        content: '',
        reasoning: 'it up.',
        reasoning_details: [{ type: 'reasoning.text', text: 'it up.', format: 'anthropic-claude-v1', index: 0 }],
      }),
      chunk({
        content: '',
        reasoning_details: [{ type: 'reasoning.text', signature: 'EqQBCk==', format: 'anthropic-claude-v1', index: 0 }],
      }),
      chunk({ content: '', reasoning_details: [{ type: 'reasoning.encrypted', data: 'gAAA', format: 'anthropic-claude-v1', index: 1 }] }),
      chunk({ tool_calls: [{ index: 0, id: 'toolu_1', type: 'function', function: { name: 'lookup', arguments: '{"word":"sea"}' } }] }),
      chunk({ content: '' }, 'tool_calls', { usage }),
      done,
    ],
    thinking: 'Look it up.',
    text: '',
    calls: [SEA],
    givenBack: [
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('toolu_1', 'sea')],
        reasoning_details: [
          { type: 'reasoning.text', text: 'Look it up.', signature: 'EqQBCk==', format: 'anthropic-claude-v1', index: 0 },
          { type: 'reasoning.encrypted', data: 'gAAA', format: 'anthropic-claude-v1', index: 1 },
        ],
      },
    ],
  },
  {
    name: 'Groq and vLLM, under the other name',
    kind: 'openai-compatible',
    model: 'openai/gpt-oss-120b',
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning: 'Need the sea.', channel: 'analysis' }),
      chunk({ tool_calls: [{ index: 0, id: 'fc_1', type: 'function', function: { name: 'lookup', arguments: '{"word":"sea"}' } }] }),
      chunk({}, 'tool_calls', { usage }),
      done,
    ],
    thinking: 'Need the sea.',
    text: '',
    calls: [SEA],
    givenBack: [{ role: 'assistant', content: null, reasoning: 'Need the sea.', tool_calls: [call('fc_1', 'sea')] }],
  },
  {
    name: 'Mistral, which takes no field for it',
    kind: 'openai-compatible',
    model: 'magistral-medium-2509',
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'The sea, then.' }] }] }),
      chunk({ content: [{ type: 'reference', reference_ids: [1] }] }),
      chunk({ content: 'Looking.' }),
      chunk({ tool_calls: [{ index: 0, id: 'D681PevKs', function: { name: 'lookup', arguments: '{"word":"sea"}' } }] }, 'tool_calls', {
        usage,
      }),
      done,
    ],
    thinking: 'The sea, then.',
    text: 'Looking.',
    calls: [SEA],
    givenBack: [{ role: 'assistant', content: 'Looking.', tool_calls: [call('D681PevKs', 'sea')] }],
  },
  {
    name: 'MiniMax and others whose server leaves thinking in the text',
    kind: 'openai-compatible',
    model: 'MiniMax-M2',
    events: [
      chunk({ role: 'assistant', content: '<th' }),
      chunk({ content: 'ink>\nThe sea.' }),
      chunk({ content: '\n</thi' }),
      chunk({ content: 'nk>\n\nI look.' }),
      chunk({
        tool_calls: [{ index: 0, id: 'call_function_1', type: 'function', function: { name: 'lookup', arguments: '{"word":"sea"}' } }],
      }),
      chunk({}, 'tool_calls', { usage }),
      done,
    ],
    thinking: '\nThe sea.\n',
    text: 'I look.',
    calls: [SEA],
    givenBack: [{ role: 'assistant', content: '<think>\nThe sea.\n</think>\n\nI look.', tool_calls: [call('call_function_1', 'sea')] }],
  },
  {
    name: 'Ollama',
    kind: 'ollama',
    model: 'qwen3:4b',
    events: [
      line({ model: 'qwen3:4b', message: { role: 'assistant', content: '', thinking: 'The ' }, done: false }),
      line({ model: 'qwen3:4b', message: { role: 'assistant', content: '', thinking: 'sea.' }, done: false }),
      line({
        model: 'qwen3:4b',
        message: {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'call_x', function: { index: 0, name: 'lookup', arguments: { word: 'sea' } } }],
        },
        done: false,
      }),
      line({
        model: 'qwen3:4b',
        message: { role: 'assistant', content: '' },
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 170,
        eval_count: 96,
      }),
    ],
    thinking: 'The sea.',
    text: '',
    calls: [SEA],
    givenBack: [
      {
        role: 'assistant',
        content: '',
        thinking: 'The sea.',
        tool_calls: [{ id: 'call_x', function: { name: 'lookup', arguments: { word: 'sea' } } }],
      },
    ],
  },
  {
    name: 'Anthropic, signed and redacted thinking between texts and calls',
    kind: 'anthropic',
    model: 'claude-opus-4-6',
    events: anthropic(
      'claude-opus-4-6',
      block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'First the ' },
        { type: 'thinking_delta', thinking: 'sea.' },
        { type: 'signature_delta', signature: 'EsMDCkYICxgCKkC8==' },
      ),
      block(1, { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix==' }),
      block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'I look.' }),
      block(
        3,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'Then the sky.' },
        { type: 'signature_delta', signature: 'Second==' },
      ),
      block(4, { type: 'text', text: '' }, { type: 'text_delta', text: 'Twice.' }),
      toolUse(5, 'toolu_01', 'sea'),
      toolUse(6, 'toolu_02', 'sky'),
    ),
    thinking: 'First the sea.Then the sky.',
    text: 'I look.Twice.',
    calls: [SEA, SKY],
    givenBack: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'First the sea.', signature: 'EsMDCkYICxgCKkC8==' },
          { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix==' },
          { type: 'text', text: 'I look.' },
          { type: 'thinking', thinking: 'Then the sky.', signature: 'Second==' },
          { type: 'text', text: 'Twice.' },
          { type: 'tool_use', id: 'toolu_01', name: 'lookup', input: { word: 'sea' } },
          { type: 'tool_use', id: 'toolu_02', name: 'lookup', input: { word: 'sky' } },
        ],
      },
    ],
  },
  {
    name: 'Anthropic, thinking that is kept to itself, and blocks of a later day',
    kind: 'anthropic',
    model: 'claude-opus-5-5',
    events: anthropic(
      'claude-opus-5-5',
      block(0, { type: 'thinking', thinking: '', signature: '' }, { type: 'signature_delta', signature: 'Silent==' }),
      block(1, { type: 'hologram', scene: { light: 1 } }, { type: 'hologram_delta', light: 2 }),
      block(2, { type: 'text', text: '' }, { type: 'mood_delta', mood: 'calm' }, { type: 'text_delta', text: 'I look.' }),
      toolUse(3, 'toolu_03', 'sea'),
    ),
    thinking: '',
    text: 'I look.',
    calls: [SEA],
    givenBack: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '', signature: 'Silent==' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_03', name: 'lookup', input: { word: 'sea' } },
        ],
      },
    ],
  },
  {
    name: 'Gemini, signatures at their parts',
    kind: 'google',
    model: 'gemini-3-pro',
    events: [
      contents([{ text: 'Think of', thought: true }]),
      contents([{ text: ' the sea.', thought: true }]),
      contents([{ text: 'I look' }]),
      contents([{ text: ' twice.', thoughtSignature: 'TextSig==' }]),
      contents([
        { functionCall: { id: 'f1', name: 'lookup', args: { word: 'sea' } }, thoughtSignature: 'CallSig==' },
        { functionCall: { id: 'f2', name: 'lookup', args: { word: 'sky' } } },
      ]),
      contents([{ text: '', thoughtSignature: 'LastSig==' }], 'STOP'),
    ],
    thinking: 'Think of the sea.',
    text: 'I look twice.',
    calls: [SEA, SKY],
    givenBack: [
      {
        role: 'model',
        parts: [
          { text: 'Think of the sea.', thought: true },
          { text: 'I look' },
          { text: ' twice.', thoughtSignature: 'TextSig==' },
          { functionCall: { id: 'f1', name: 'lookup', args: { word: 'sea' } }, thoughtSignature: 'CallSig==' },
          { functionCall: { id: 'f2', name: 'lookup', args: { word: 'sky' } } },
          { text: '', thoughtSignature: 'LastSig==' },
        ],
      },
    ],
  },
  {
    name: 'OpenAI, encrypted thinking with two summaries',
    kind: 'openai',
    model: 'gpt-5.1',
    events: [
      named({ type: 'response.created', sequence_number: 0, response: response('in_progress') }),
      named({
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'rs_1', type: 'reasoning', encrypted_content: 'gAAAearly', summary: [] },
      }),
      named({
        type: 'response.reasoning_summary_part.added',
        item_id: 'rs_1',
        output_index: 0,
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      }),
      named({
        type: 'response.reasoning_summary_text.delta',
        item_id: 'rs_1',
        output_index: 0,
        summary_index: 0,
        delta: '**Sea** first.',
        obfuscation: 'x',
      }),
      named({
        type: 'response.reasoning_summary_part.done',
        item_id: 'rs_1',
        output_index: 0,
        summary_index: 0,
        part: { type: 'summary_text', text: '**Sea** first.' },
      }),
      named({
        type: 'response.reasoning_summary_part.added',
        item_id: 'rs_1',
        output_index: 0,
        summary_index: 1,
        part: { type: 'summary_text', text: '' },
      }),
      named({ type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', output_index: 0, summary_index: 1, delta: 'Then call.' }),
      named({
        type: 'response.output_item.done',
        output_index: 0,
        item: { id: 'rs_1', type: 'reasoning', encrypted_content: 'gAAAwhole', summary: [] },
      }),
      named({ type: 'response.aurora.delta', output_index: 1, colours: [1, 2] }),
      named({
        type: 'response.output_item.added',
        output_index: 1,
        item: { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [], phase: 'commentary' },
      }),
      named({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, content_index: 0, delta: 'I look.' }),
      named({
        type: 'response.output_item.done',
        output_index: 1,
        item: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
          phase: 'commentary',
        },
      }),
      named({
        type: 'response.output_item.added',
        output_index: 2,
        item: { id: 'fc_1', type: 'function_call', call_id: 'call_AB', name: 'lookup', arguments: '', status: 'in_progress' },
      }),
      named({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 2, delta: '{"word":"sea"}' }),
      named({
        type: 'response.output_item.done',
        output_index: 2,
        item: { id: 'fc_1', type: 'function_call', call_id: 'call_AB', name: 'lookup', arguments: '{"word":"sea"}', status: 'completed' },
      }),
      named({
        type: 'response.completed',
        response: {
          ...response('completed'),
          usage: {
            input_tokens: 20,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: 60,
            output_tokens_details: { reasoning_tokens: 40 },
          },
        },
      }),
    ],
    thinking: '**Sea** first.Then call.',
    text: 'I look.',
    calls: [SEA],
    givenBack: [
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'gAAAwhole',
        summary: [
          { type: 'summary_text', text: '**Sea** first.' },
          { type: 'summary_text', text: 'Then call.' },
        ],
      },
      { role: 'assistant', content: 'I look.', phase: 'commentary' },
      { type: 'function_call', call_id: 'call_AB', name: 'lookup', arguments: '{"word":"sea"}' },
    ],
  },
]
