import { readOpenAiModels } from './openai-compatible.ts'
import type { ProviderData } from './model.ts'
import type { ProviderDriver } from './provider-driver.ts'

/** Models that do not reply in text. */
const NOT_FOR_TEXT =
  /embedding|whisper|tts|dall-e|image|audio|realtime|transcribe|moderation|sora|davinci|babbage|computer-use|search-api|deep-research|instruct/

/**
 * Uses the Responses API: the newest models exist, or accept tools, only there, and its stream has an end event, so half a
 * reply never looks complete. `store: false` keeps the conversation off OpenAI's servers.
 */
export const openAi: ProviderDriver = {
  defaultBaseUrl: 'https://api.openai.com/v1',
  apiPath: '/v1',
  needsKey: true,
  async load({ baseUrl, apiKey, fetch }) {
    const { createOpenAI } = await import('@ai-sdk/openai')
    const provider = createOpenAI({ baseURL: baseUrl, apiKey: apiKey ?? '', fetch })
    return (model) => provider.responses(model)
  },
  // OpenAI stores nothing, so ids mean nothing, except those of thinking.
  thinking: { reach: 'turn', keep: (kind, data) => (kind === 'thinking' ? data : phaseOf(data)) },
  shape: (options) => ({ ...options, providerOptions: { openai: { store: false } } }),
  list: {
    url: (baseUrl) => `${baseUrl}/models`,
    headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
    read: (body) => readOpenAiModels(body).filter((listed) => !NOT_FOR_TEXT.test(listed.model)),
  },
}

/** Whether a text is commentary or the final answer. */
function phaseOf({ openai }: ProviderData): ProviderData | undefined {
  return openai?.['phase'] === undefined ? undefined : { openai: { phase: openai['phase'] } }
}
