import type { ProviderKind } from '../../contract/providers.ts'
import { anthropic } from './anthropic.ts'
import { google } from './google.ts'
import { ollama } from './ollama.ts'
import { openAiCompatible } from './openai-compatible.ts'
import { openAi } from './openai.ts'
import type { ProviderDriver } from './provider-driver.ts'

/** A new provider is one file and one line here. */
export const PROVIDER_DRIVERS: Record<Exclude<ProviderKind, 'demo'>, ProviderDriver> = {
  anthropic,
  openai: openAi,
  google,
  'openai-compatible': openAiCompatible,
  ollama,
}
