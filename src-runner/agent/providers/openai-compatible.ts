import { runsOnThisMachine } from './base-url.ts'
import { positiveInteger } from '../../lib/json-values.ts'
import type { ListedModel } from './model.ts'
import type { DriverAccess, ProviderDriver } from './provider-driver.ts'
import { COMPATIBLE_THINKING, THINKING_FIELDS } from './thinking-fields.ts'

/** Any server that speaks OpenAI's chat completions: LM Studio, llama.cpp, vLLM, OpenRouter, Groq, Mistral, ... */
export const openAiCompatible: ProviderDriver = {
  defaultBaseUrl: null,
  // Not every host has its API under /v1, so the address of a host elsewhere is used as it is.
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
  readWindow: async ({ modelId }, signal, access) => (runsOnThisMachine(access.baseUrl) ? readLocalWindow(access, modelId, signal) : null),
  list: {
    url: (baseUrl) => `${withVersionOnThisMachine(baseUrl)}/models`,
    headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
    read: readOpenAiModels,
  },
}

/** Some servers send their own kinds of events between those of the reply. */
function isNoChunk(error: unknown): boolean {
  const { value } = error as { value?: unknown }
  if (typeof value !== 'object' || value === null || 'error' in value) return false
  const { choices } = value as { choices?: unknown }
  if (!Array.isArray(choices)) return choices === undefined
  // A call that is not a function cannot run.
  const calls = (choices as { delta?: { tool_calls?: unknown } | null }[])[0]?.delta?.tool_calls
  return (
    Array.isArray(calls) && calls.every((call: { type?: unknown } | null) => typeof call?.type === 'string' && call.type !== 'function')
  )
}

/** Every model server that people run themselves has its API under /v1. */
function withVersionOnThisMachine(baseUrl: string): string {
  return runsOnThisMachine(baseUrl) && new URL(baseUrl).pathname === '/' ? `${baseUrl}/v1` : baseUrl
}

/** Reads `{data: [{id, ...}]}`. Each server has its own field for the context size. */
export function readOpenAiModels(body: unknown): ListedModel[] {
  const list = Array.isArray(body) ? body : (body as { data: unknown }).data
  if (!Array.isArray(list)) throw new TypeError('no list')
  return (list as Record<string, unknown>[]).flatMap((entry) => {
    const model = entry?.['id']
    if (typeof model !== 'string' || model === '' || model.length > 200) return []
    const { name, meta } = entry as { name?: unknown; meta?: Record<string, unknown> | null }
    const sizes = ['context_length', 'max_model_len', 'context_window', 'max_context_length'].map((field) => positiveInteger(entry[field]))
    const label = typeof name === 'string' && name !== '' ? name.slice(0, 200) : model
    return [{ model, label, contextTokens: sizes.find((size) => size !== null) ?? positiveInteger(meta?.['n_ctx_train']) }]
  })
}

/** null: not this kind of server. undefined: no response. */
type Window = { tokens: number | null } | null | undefined
type AskWindow = (access: DriverAccess, root: string, model: string, signal: AbortSignal) => Promise<Window>

const askLmStudio: AskWindow = async (access, root, model, signal) => {
  const response = (await access.getJson(`${root}/api/v0/models`, signal)) as { data?: unknown } | null | undefined
  if (response === undefined) return undefined
  if (!Array.isArray(response?.data)) return null
  const entry = (response.data as ({ id?: unknown; loaded_context_length?: unknown } | null)[]).find((one) => one?.id === model)
  return { tokens: positiveInteger(entry?.loaded_context_length) }
}

const askLlamaCpp: AskWindow = async (access, root, _model, signal) => {
  type Props = { default_generation_settings?: { n_ctx?: unknown } | null }
  const props = (await access.getJson(`${root}/props`, signal)) as Props | null | undefined
  if (props === undefined) return undefined
  const tokens = positiveInteger(props?.default_generation_settings?.n_ctx)
  return tokens === null ? null : { tokens }
}

/** The APIs that an address has turned out to have. */
const windowApis = new WeakMap<DriverAccess, readonly AskWindow[]>()

/**
 * The window with which a server on this machine has loaded a model, mostly less than the list says. null: the server
 * does not say, or has not loaded the model.
 */
async function readLocalWindow(access: DriverAccess, model: string, signal: AbortSignal): Promise<number | null> {
  const root = access.baseUrl.replace(/\/v1$/, '')
  for (const ask of windowApis.get(access) ?? [askLmStudio, askLlamaCpp]) {
    const window = await ask(access, root, model, signal)
    if (window === undefined) return null
    if (window === null) continue
    windowApis.set(access, [ask])
    return window.tokens
  }
  if (!windowApis.has(access)) windowApis.set(access, [])
  return null
}
