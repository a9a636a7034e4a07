import type { ListedModel } from './model.ts'
import { openAiCompatible } from './openai-compatible.ts'
import type { ProviderDriver } from './provider-driver.ts'

/**
 * Ollama: it answers through its OpenAI-compatible /v1, whose streaming of text and tool calls is the same code path
 * as every other local server's, and lists what is installed by its own /api/tags.
 */
export const ollama: ProviderDriver = {
  defaultBaseUrl: 'http://127.0.0.1:11434',
  apiPath: '',
  needsKey: false,
  load: (access) => openAiCompatible.load({ ...access, baseUrl: `${rootOf(access.baseUrl)}/v1` }),
  missingModelFix: (model) => `Get it with “ollama pull ${model}”, or choose an installed one.`,
  list: {
    url: (baseUrl) => `${rootOf(baseUrl)}/api/tags`,
    headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
    read: readOllamaTags,
  },
}

/** People paste the address with or without /v1 or /api. */
function rootOf(baseUrl: string): string {
  return baseUrl.replace(/\/(v1|api)$/, '')
}

export function readOllamaTags(body: unknown): ListedModel[] {
  const { models } = body as { models: { name?: string; model?: string; details?: { family?: string } | null }[] }
  return models
    .filter((entry) => !/bert/i.test(entry.details?.family ?? ''))
    .map((entry) => entry.name ?? entry.model)
    .filter((name) => typeof name === 'string' && name !== '')
    .map((name) => ({ model: name!, label: name!, contextTokens: null }))
}
