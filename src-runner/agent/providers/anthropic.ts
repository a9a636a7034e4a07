import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { ListedModel } from './model.ts'
import type { ProviderDriver } from './provider-driver.ts'

/** The API requires a limit. For models newer than itself the library assumes 4096, too little for a file. */
const OUTPUT_TOKENS = 32_000

const CACHE: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }

export const anthropic: ProviderDriver = {
  defaultBaseUrl: 'https://api.anthropic.com/v1',
  apiPath: '/v1',
  needsKey: true,
  async load({ baseUrl, apiKey, fetch }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    const provider = createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch })
    return (model) => provider.languageModel(model)
  },
  shape: (options, request) => markForCache(withoutChangedThinking(withRoomToReply(options, request.model), request.model)),
  isHarmless: isUnknown,
  thinking: { reach: 'turn', boundToPrompt: true },
  list: {
    url: (baseUrl) => `${baseUrl}/models?limit=1000`,
    headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
    read: readModels,
  },
}

function withRoomToReply(options: LanguageModelV4CallOptions, model: string): LanguageModelV4CallOptions {
  // The oldest models have lower limits, which the library knows.
  return options.maxOutputTokens !== undefined || /claude-(2|3|instant)/.test(model)
    ? options
    : { ...options, maxOutputTokens: OUTPUT_TOKENS }
}

/**
 * From 5.1 on, models refuse thinking if anything before it has changed, unless told to drop it. We do not notice every
 * change: the date in the system text changes overnight. Older models and Mythos 5.1 do not know the field.
 * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
 */
function withoutChangedThinking(options: LanguageModelV4CallOptions, model: string): LanguageModelV4CallOptions {
  const isGivenBack = options.prompt.some(({ role, content }) => role === 'assistant' && content.some(({ type }) => type === 'reasoning'))
  if (!isGivenBack || !bindsThinking(model)) return options
  return { ...options, providerOptions: { anthropic: { thinking: { blockBinding: { prefixMismatchBehavior: 'drop_block' } } } } }
}

export function bindsThinking(model: string): boolean {
  const version = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model)
  if (version === null) return false
  const [family, major, minor] = [version[1], Number(version[2]), Number(version[3] ?? 0)]
  if (family === 'mythos' && major === 5 && minor === 1) return false
  return major > 5 || (major === 5 && minor >= 1)
}

/** Anthropic adds kinds of events, blocks and pieces, and asks clients to skip unknown ones. These must be readable. */
const READ = {
  events: /^(message_(start|delta|stop)|content_block_(start|delta|stop)|error)$/,
  blocks: /^(text|thinking|redacted_thinking|tool_use)$/,
  pieces: /^(text_delta|thinking_delta|signature_delta|input_json_delta)$/,
}

function isUnknown(error: unknown): boolean {
  type Sent = { type?: unknown; content_block?: { type?: unknown } | null; delta?: { type?: unknown } | null }
  const sent = ((error as { value?: unknown }).value ?? {}) as Sent
  const isOther = (type: unknown, known: RegExp) => typeof type === 'string' && !known.test(type)
  if (sent.type === 'content_block_start') return isOther(sent.content_block?.type, READ.blocks)
  if (sent.type === 'content_block_delta') return isOther(sent.delta?.type, READ.pieces)
  return isOther(sent.type, READ.events)
}

/**
 * What stands before a cache mark costs a tenth on the next turn; four marks are allowed. Tools and system text never
 * change within a job. The last message makes this turn the prefix of the next one. The mark before the last reply keeps
 * the previous prefix within the 20 blocks that Anthropic looks back, even if a reply called many tools.
 */
function markForCache(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const { prompt, tools } = options
  const marked = new Set<number>()
  const lastSystem = prompt.findLastIndex((message) => message.role === 'system')
  if (lastSystem !== -1) marked.add(lastSystem)
  marked.add(prompt.length - 1)
  const lastReply = prompt.findLastIndex((message) => message.role === 'assistant')
  if (lastReply > 0) marked.add(lastReply - 1)
  return {
    ...options,
    prompt: prompt.map((message, at) => (marked.has(at) ? { ...message, providerOptions: CACHE } : message)),
    tools: tools?.map((tool, at) => (at === tools.length - 1 && tool.type === 'function' ? { ...tool, providerOptions: CACHE } : tool)),
  }
}

function readModels(body: unknown): ListedModel[] {
  const { data } = body as { data: { id: string; display_name?: string; max_input_tokens?: number | null }[] }
  return data.map(({ id, display_name: name, max_input_tokens: tokens }) => ({
    model: String(id),
    label: name ?? id,
    contextTokens: tokens ?? null,
  }))
}
