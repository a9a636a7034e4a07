import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '../../testing/cpu-time.ts'
import { failureFromStatus } from './failures.ts'
import { readTooLong } from './prompt-too-long.ts'

/** As the servers say it, word for word. */
const REFUSALS: [from: string, status: number, words: string, window: number | null, prompt: number | null][] = [
  ['Anthropic', 400, 'invalid_request_error prompt is too long: 208310 tokens > 200000 maximum', 200_000, 208_310],
  [
    'Anthropic, with the answer counted in',
    400,
    'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    200_000,
    178_959,
  ],
  ['Anthropic, by bytes', 413, 'request_too_large request exceeds the maximum size', null, null],
  [
    'OpenAI responses',
    400,
    'context_length_exceeded your input exceeds the context window of this model. please adjust your input.',
    null,
    null,
  ],
  [
    'OpenAI responses, with numbers',
    400,
    'input tokens exceed the configured limit of 272000 tokens. your messages resulted in 300123 tokens. please reduce the length.',
    272_000,
    300_123,
  ],
  [
    'OpenAI chat',
    400,
    "this model's maximum context length is 4097 tokens. however, your messages resulted in 35569 tokens. please reduce the length of the messages.",
    4097,
    35_569,
  ],
  [
    'vLLM',
    400,
    "this model's maximum context length is 16384 tokens. however, you requested 122946 tokens (112946 in the messages, 10000 in the completion).",
    16_384,
    112_946,
  ],
  [
    'Google',
    400,
    'invalid_argument the input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
    1_048_576,
    1_200_293,
  ],
  [
    'llama.cpp',
    400,
    'exceed_context_size_error request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it',
    8192,
    14_429,
  ],
  [
    'llama.cpp, older',
    400,
    'the request exceeds the available context size. try increasing the context size or enable context shift',
    null,
    null,
  ],
  [
    'LM Studio',
    400,
    'trying to keep the first 111490 tokens when context the overflows. however, the model is loaded with context length of only 32768 tokens, which is not enough.',
    32_768,
    111_490,
  ],
  ['LM Studio, newer', 400, 'cannot truncate prompt with n_keep (15028) >= n_ctx (7424)', 7424, 15_028],
  ['LM Studio with MLX', 500, 'context size has been exceeded.', null, null],
  ['Ollama', 400, 'the input length exceeds the context length', null, null],
  [
    'an account with a small allowance',
    429,
    'rate_limit_exceeded request too large for gpt-4o in organization org-1 on tokens per min (tpm): limit 30000, requested 35002. the input or output tokens must be reduced.',
    30_000,
    35_002,
  ],
]

describe('a refusal for length', () => {
  it.each(REFUSALS)('of %s is recognized, with its numbers', (_from, status, words, windowTokens, promptTokens) => {
    expect(readTooLong(status, words, '')).toEqual({ windowTokens, promptTokens })
  })

  it('is found quickly in an error that a server has made as slow to read as it can', () => {
    const message = 'request too large'.repeat(500) + 'limit: 1 '.repeat(1200)
    const at = { local: true, ownAddress: true }
    const context = { providerName: 'Any', model: 'any', ...at, getModelCommand: null, apiKey: null, messages: [], now: 0 }
    const read = () => failureFromStatus(context, 429, new Headers(), JSON.stringify({ error: { message } }))
    expect(cpuMsOf(read)).toBeLessThan(500)
  })

  it('has its numbers as fields at llama.cpp, and inside of a text at Ollama', () => {
    const error = {
      error: {
        code: 400,
        message: 'too much',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 2622,
        n_ctx: 512,
      },
    }
    const known = { windowTokens: 512, promptTokens: 2622 }
    expect(readTooLong(400, 'exceed_context_size_error too much', JSON.stringify(error))).toEqual(known)
    const handedOn = JSON.stringify({ error: JSON.stringify(error) })
    expect(readTooLong(400, JSON.stringify(error), handedOn)).toEqual(known)
  })

  it.each([
    [429, 'rate_limit_exceeded rate limit reached for gpt-4o on tokens per min (tpm): limit 30000, used 29000, requested 2000.'],
    [400, 'max_tokens is too large: 40000. this model supports at most 16384 completion tokens'],
    [400, 'messages.0.content: field required'],
    [500, 'internal server error'],
    [503, 'prompt is too long to wait for'],
  ])('is not status %i with "%s"', (status, words) => {
    expect(readTooLong(status, words, '')).toBeNull()
  })
})
