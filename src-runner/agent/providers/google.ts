import type { ListedModel } from './model.ts'
import type { ProviderDriver } from './provider-driver.ts'

/** The key goes into a header, not into the address, which logs would keep. */
export const google: ProviderDriver = {
  defaultBaseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  apiPath: '/v1beta',
  needsKey: true,
  async load({ baseUrl, apiKey, fetch }) {
    const { createGoogle } = await import('@ai-sdk/google')
    const provider = createGoogle({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch })
    return (model) => provider.languageModel(model)
  },
  thinking: { reach: 'turn', signsPieces: true },
  list: {
    url: (baseUrl) => `${baseUrl}/models?pageSize=1000`,
    headers: (apiKey) => ({ 'x-goog-api-key': apiKey }),
    read: readModels,
  },
}

type GoogleModel = { name: string; displayName?: string; inputTokenLimit?: number; supportedGenerationMethods?: string[] }

function readModels(body: unknown): ListedModel[] {
  const { models } = body as { models: GoogleModel[] }
  return models
    .filter((entry) => entry.supportedGenerationMethods?.includes('generateContent') ?? true)
    .map((entry) => {
      const model = entry.name.replace(/^models\//, '')
      return { model, label: entry.displayName ?? model, contextTokens: entry.inputTokenLimit ?? null }
    })
    .filter((listed) => !/embedding|image|tts|audio|veo|imagen/.test(listed.model))
}
