import type { Model, ProviderKind } from '../../../src-runner/contract/providers.ts'

/** Models that do not answer with text, or need other input. */
const NOT_FOR_WORK =
  /embed|rerank|moderation|whisper|tts|audio|realtime|transcri|speech|image|vision-preview|dall-?e|sora|veo|imagen|lyria|aqa|guard|ocr|instruct\b.*base/i

/** The families to prefer: good with tools, and not the most expensive. */
const USUAL: Partial<Record<ProviderKind, RegExp[]>> = {
  anthropic: [/sonnet/i, /opus/i, /haiku/i],
  openai: [/^gpt-\d+(\.\d+)?$/, /^gpt-\d+(\.\d+)?-mini$/, /^gpt-\d/, /^o\d/],
  google: [/gemini-[\d.]+-pro$/i, /gemini-[\d.]+-flash$/i, /gemini.*flash/i, /gemini/i],
}

const collator = new Intl.Collator('en', { numeric: true })

/** Compares by version, then by the date at the end: `sonnet-4-5-20250929` is newer than `sonnet-4-20250514`. */
function byNewest(a: Model, b: Model): number {
  const version = (model: Model) => model.model.replace(/-\d{8}$/, '')
  return collator.compare(version(b), version(a)) || collator.compare(b.model, a.model)
}

/** The model to suggest, or null when none is suitable. */
export function preferredModel(models: readonly Model[]): Model | null {
  const able = models.filter((model) => !NOT_FOR_WORK.test(model.model))
  for (const pattern of USUAL[models[0]?.providerKind ?? 'demo'] ?? []) {
    const newest = able.filter((model) => pattern.test(model.model)).toSorted(byNewest)[0]
    if (newest !== undefined) return newest
  }
  return able[0] ?? models[0] ?? null
}
