import { readOpenAiModels } from './openai-compatible.ts'
import type { ProviderData } from './model.ts'
import type { ProviderDriver } from './provider-driver.ts'

/** What the list of models holds besides models that answer in text. */
const NOT_FOR_TEXT =
  /embedding|whisper|tts|dall-e|image|audio|realtime|transcribe|moderation|sora|davinci|babbage|computer-use|search-api|deep-research|instruct/

/**
 * OpenAI through the Responses API, not chat completions: its newest models are offered there only or take tools there
 * only, and its stream ends with an event of its own, so a half answer is never taken for a whole one. `store: false`
 * keeps the conversation off OpenAI's servers; the transcript is ours and is sent whole each time. Servers that only
 * speak chat completions are `openai-compatible`.
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
  // Ids are of what OpenAI keeps, which is nothing here; only thinking is named by its own.
  thinking: { reach: 'turn', keep: (kind, data) => (kind === 'thinking' ? data : phaseOf(data)) },
  shape: (options) => ({ ...options, providerOptions: { openai: { store: false } } }),
  list: {
    url: (baseUrl) => `${baseUrl}/models`,
    headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
    read: (body) => readOpenAiModels(body).filter((listed) => !NOT_FOR_TEXT.test(listed.model)),
  },
}

/** Whether a text was said on the way or as the answer. */
function phaseOf({ openai }: ProviderData): ProviderData | undefined {
  return openai?.['phase'] === undefined ? undefined : { openai: { phase: openai['phase'] } }
}
