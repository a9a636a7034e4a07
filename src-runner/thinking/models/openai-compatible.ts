import { runsOnThisMachine } from './base-url.ts'
import { readLocalWindow } from './local-window.ts'
import type { ListedModel } from './model.ts'
import { COMPATIBLE_THINKING, THINKING_FIELDS } from './thinking-fields.ts'
import type { ProviderDriver } from './provider-driver.ts'

/** Any server that speaks OpenAI's chat completions: LM Studio, llama.cpp, vLLM, OpenRouter, Groq, Mistral, ... */
export const openAiCompatible: ProviderDriver = {
  defaultBaseUrl: null,
  // Not every host has its API under /v1, so for hosts elsewhere the given address is taken as it is.
  apiPath: '',
  needsKey: false,
  async load({ baseUrl, apiKey, fetch }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const provider = createOpenAICompatible({
      name: 'provider',
      baseURL: withVersionOnThisMachine(baseUrl),
      apiKey: apiKey ?? undefined,
      includeUsage: true,
      metadataExtractor: THINKING_FIELDS,
      fetch,
    })
    return (model) => provider.chatModel(model)
  },
  thinking: COMPATIBLE_THINKING,
  isHarmless: isNoChunk,
  // What a list says is what the model was made for; how it was loaded only the servers' own interfaces say.
  readWindow: async ({ modelId }, signal, access) => (runsOnThisMachine(access.baseUrl) ? readLocalWindow(access, modelId, signal) : null),
  list: {
    url: (baseUrl) => `${withVersionOnThisMachine(baseUrl)}/models`,
    headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
    read: readOpenAiModels,
  },
}

/** Some servers send events of their own kinds between those of the answer. */
function isNoChunk(error: unknown): boolean {
  const { value } = error as { value?: unknown }
  if (typeof value !== 'object' || value === null || 'error' in value) return false
  const { choices } = value as { choices?: unknown }
  if (!Array.isArray(choices)) return choices === undefined
  // A call of a kind that is no function has nothing that could be run.
  const calls = (choices as { delta?: { tool_calls?: unknown } | null }[])[0]?.delta?.tool_calls
  return (
    Array.isArray(calls) && calls.every((call: { type?: unknown } | null) => typeof call?.type === 'string' && call.type !== 'function')
  )
}

/** All model servers that people run themselves have their API under /v1. */
function withVersionOnThisMachine(baseUrl: string): string {
  return runsOnThisMachine(baseUrl) && new URL(baseUrl).pathname === '/' ? `${baseUrl}/v1` : baseUrl
}

/** `{data: [{id, ...}]}`; the size of the context stands under a different name at every server. */
export function readOpenAiModels(body: unknown): ListedModel[] {
  const list = Array.isArray(body) ? body : (body as { data: unknown }).data
  if (!Array.isArray(list)) throw new TypeError('no list')
  const models: ListedModel[] = []
  for (const entry of list as Record<string, unknown>[]) {
    const id = entry?.['id']
    if (typeof id !== 'string' || id === '' || id.length > 200) continue
    const meta = entry['meta'] as Record<string, unknown> | null | undefined
    const context = [
      entry['context_length'],
      entry['max_model_len'],
      entry['context_window'],
      entry['max_context_length'],
      meta?.['n_ctx_train'],
    ]
    models.push({
      model: id,
      label: typeof entry['name'] === 'string' && entry['name'] !== '' ? entry['name'].slice(0, 200) : id,
      contextTokens: (context.find((tokens) => Number.isSafeInteger(tokens) && (tokens as number) > 0) as number | undefined) ?? null,
    })
  }
  return models
}
