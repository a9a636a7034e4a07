import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { OutboundFetch } from '../../base/net/outbound.ts'
import type { ListedModel, ModelRequest } from './model.ts'

/** What a provider's library is made from: the address is always given, so that no environment variable decides it. */
export type DriverAccess = {
  baseUrl: string
  apiKey: string | null
  fetch: OutboundFetch
  /**
   * Asks the provider about something beside a model's answer, with a POST where there is a body. null: it answered something
   * else; undefined: it did not answer.
   */
  look(url: string, body: unknown, signal: AbortSignal): Promise<unknown>
  /** The memory of this machine, where the provider runs on it. */
  memoryBytes: number | null
}

/** All that differs between providers. The rest (streaming, failures, limits) is `provider-adapter.ts`. */
export type ProviderDriver = {
  /** null: the person gives it. */
  defaultBaseUrl: string | null
  /** The path of the API when somebody gives only the host: `https://api.anthropic.com` means `.../v1`. */
  apiPath: string
  needsKey: boolean
  /** The type of the body of an answer, where it is no event stream. The first is the usual one. */
  answers?: readonly string[]
  /** Loads the provider's library, which is heavy, and answers a maker of models. Called once, at the first use. */
  load(access: DriverAccess): Promise<(model: string) => LanguageModelV4>
  /** Adds what only this provider knows: cache marks, storage, reasoning. */
  shape?(options: LanguageModelV4CallOptions, request: ModelRequest): LanguageModelV4CallOptions
  /** Whether a part of a stream that the library could not read may be passed over. */
  isHarmless?(error: unknown): boolean
  missingModelFix?(model: string): string
  /** How many tokens a model holds, for providers of which one model has to be asked by itself. */
  readWindow?(model: LanguageModelV4, signal: AbortSignal, access: DriverAccess): Promise<number | null>
  list: {
    url(baseUrl: string): string
    headers(apiKey: string): Record<string, string>
    /** Takes the parsed body; throws when it is not such a list. */
    read(body: unknown): ListedModel[]
  }
}
