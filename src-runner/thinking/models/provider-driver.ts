import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { OutboundFetch } from '../../base/net/outbound.ts'
import type { ListedModel, ModelRequest, ProviderData, ReplyPart, SentReply } from './model.ts'

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

export type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>

/** How a provider wants to have back what it sent with earlier replies of the same model. */
export type ThinkingRules = {
  /** Whether the thinking of earlier turns of the conversation goes back too, or only that since the last question. */
  reach: 'turn' | 'conversation'
  /** A signature holds for all that stands before it: when something of that changed, thinking does not go back. */
  boundToPrompt?: true
  /** A signature belongs to the very piece of text that it came with, and not to what follows. */
  signsPieces?: true
  /** Models write thinking into their text, between tags. */
  inText?: true
  /** What is kept of the data that came with a part. Left out: all of it. */
  keep?(kind: ReplyPart['kind'], data: ProviderData): ProviderData | undefined
  /** What of the end of a stream belongs to the reply as a whole. */
  ofReply?(data: SharedV4ProviderMetadata): ProviderData | undefined
  /** Puts what belongs to the reply as a whole into its message. `misses`: a field that the provider has asked for. */
  finish?(message: AssistantMessage, sent: SentReply | null, misses: ReadonlySet<string>): AssistantMessage
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
  thinking: ThinkingRules
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
