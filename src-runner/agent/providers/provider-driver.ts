import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { OutboundFetch } from '../../platform/net/outbound.ts'
import type { ListedModel, ModelRequest, ProviderData, ReplyPart, SentReply } from './model.ts'

/** The address is always given, so that no environment variable decides it. */
export type DriverAccess = {
  baseUrl: string
  apiKey: string | null
  fetch: OutboundFetch
  /** A POST if there is a body. null: an answer that is not JSON. undefined: no answer. */
  getJson(url: string, signal: AbortSignal, body?: unknown): Promise<unknown>
  /** The memory of this machine, if the provider runs on it. */
  memoryBytes: number | null
}

export type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>

/** How earlier replies go back to the model that wrote them. */
export type ThinkingRules = {
  /** `turn`: only thinking since the last question goes back. */
  reach: 'turn' | 'conversation'
  /** Signatures cover everything before them: if that has changed, thinking does not go back. */
  boundToPrompt?: true
  /** A signature belongs to the piece of text that it came with, not to later pieces. */
  signsPieces?: true
  /** Models write thinking into their text, between tags. */
  inText?: true
  /** What to keep of a part's data. Absent: all. */
  keep?(kind: ReplyPart['kind'], data: ProviderData): ProviderData | undefined
  /** What to keep from the end of the stream, for the whole reply. */
  ofReply?(data: SharedV4ProviderMetadata): ProviderData | undefined
  /** Adds the data of the whole reply, and fields that the provider requires, to its message. */
  finish?(message: AssistantMessage, sent: SentReply | null, requiredFields: ReadonlySet<string>): AssistantMessage
}

/** Everything that differs between providers. Streaming, failures and limits are in `provider-adapter.ts`. */
export type ProviderDriver = {
  /** null: the person enters it. */
  defaultBaseUrl: string | null
  /** Added if the person enters only a host: `https://api.anthropic.com` means `.../v1`. */
  apiPath: string
  needsKey: boolean
  /** The content types of a reply that is one JSON text a line. Absent: an event stream. */
  contentTypes?: readonly string[]
  /** Loads the provider's library, which is large, on first use. */
  load(access: DriverAccess): Promise<(model: string) => LanguageModelV4>
  /** Adds what only this provider knows: cache marks, storage, thinking. */
  shape?(options: LanguageModelV4CallOptions, request: ModelRequest): LanguageModelV4CallOptions
  /** Whether a part of the stream that the library could not read may be skipped. */
  isHarmless?(error: unknown): boolean
  thinking: ThinkingRules
  getModelCommand?(model: string): string
  /** The context window, if the provider says it only about a single model. */
  readWindow?(model: LanguageModelV4, signal: AbortSignal, access: DriverAccess): Promise<number | null>
  list: {
    url(baseUrl: string): string
    headers(apiKey: string): Record<string, string>
    /** Throws if the body is not a list of models. */
    read(body: unknown): ListedModel[]
  }
}
