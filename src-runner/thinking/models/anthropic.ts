import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { ListedModel } from './model.ts'
import type { ProviderDriver } from './provider-driver.ts'

/** The API wants a limit. The library assumes 4096 for models that are newer than itself: too little for a file. */
const OUTPUT_TOKENS = 32_000

const CACHE: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }

/** Anthropic's messages API. */
export const anthropic: ProviderDriver = {
  defaultBaseUrl: 'https://api.anthropic.com/v1',
  apiPath: '/v1',
  needsKey: true,
  async load({ baseUrl, apiKey, fetch }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    const provider = createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch })
    return (model) => provider.languageModel(model)
  },
  shape: (options, request) => markForCache(withRoomToAnswer(options, request.model)),
  isHarmless: isUnknownEvent,
  list: {
    url: (baseUrl) => `${baseUrl}/models?limit=1000`,
    headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
    read: readModels,
  },
}

function withRoomToAnswer(options: LanguageModelV4CallOptions, model: string): LanguageModelV4CallOptions {
  // The oldest models write less, and the library knows them.
  return options.maxOutputTokens !== undefined || /claude-(2|3|instant)/.test(model)
    ? options
    : { ...options, maxOutputTokens: OUTPUT_TOKENS }
}

/** Anthropic adds kinds of events over time and asks clients to pass over those they do not know. */
const KNOWN_EVENTS = /^(message_(start|delta|stop)|content_block_(start|delta|stop)|error)$/

function isUnknownEvent(error: unknown): boolean {
  const { type } = ((error as { value?: unknown }).value ?? {}) as { type?: unknown }
  return typeof type === 'string' && !KNOWN_EVENTS.test(type)
}

/**
 * Four marks are allowed, and what stands before a mark is read from the cache on the next turn at a tenth of the
 * price. Tools and system text never change within a job. The last message makes this turn the prefix of the next; the
 * one before the last reply keeps the previous prefix within the 20 blocks that Anthropic looks back, when a reply
 * called many tools.
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
