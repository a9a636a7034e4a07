import type { Provider, ProviderKind } from '../../contract/providers.ts'
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

/** The origin that calls go to. Without an address, a provider has the default one of its kind; the demo has none. */
export function originOfProvider({ kind, baseUrl }: Pick<Provider, 'kind' | 'baseUrl'>): string {
  const address = baseUrl ?? (kind === 'demo' ? null : PROVIDER_DRIVERS[kind].defaultBaseUrl)
  return address === null ? '' : new URL(address).origin
}
