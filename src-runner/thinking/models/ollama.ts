import type { ListedModel } from './model.ts'
import { createOllamaModel, type OllamaModel } from './ollama-model.ts'
import type { ProviderDriver } from './provider-driver.ts'

/** Ollama through its own API, since only that takes the size of the window that a prompt needs. */
export const ollama: ProviderDriver = {
  defaultBaseUrl: 'http://127.0.0.1:11434',
  apiPath: '',
  needsKey: false,
  answers: ['application/x-ndjson', 'application/json'],
  load: async (access) => (model) => createOllamaModel(access, rootOf(access.baseUrl), model),
  thinking: { reach: 'turn', inText: true },
  readWindow: (model, signal) => (model as OllamaModel).readWindow(signal),
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
