import type { Message } from '../../contract/messages.ts'
import type { ModelRef } from '../../contract/agents.ts'
import type { ProviderKind } from '../../contract/providers.ts'
import type { TooLong } from './prompt-too-long.ts'

/** One message of the conversation. Built from recorded steps alone. */
export type PromptMessage =
  | { role: 'system'; text: string }
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; toolCalls: PromptToolCall[]; sent?: SentReply }
  | { role: 'tool'; callId: string; name: string; output: string; ok: boolean }

export type PromptToolCall = { callId: string; name: string; args: unknown }

/** What a provider sent beside text and calls, by the name of its library. Opaque, and only for that provider. */
export type ProviderData = Record<string, Record<string, unknown>>

/** One part of a reply, in order. `chars`: its length within the reply's text or thinking. `id`: the provider's own. */
export type ReplyPart =
  | { kind: 'text' | 'thinking'; chars: number; data?: ProviderData }
  | { kind: 'call'; index: number; id?: string; data?: ProviderData }

/**
 * The order of a reply's parts, so that it can go back as it came. `data` belongs to the whole reply. `server`: the origin that sent
 * it; a provider may be given another address later.
 */
export type ReplyParts = { parts: ReplyPart[]; data?: ProviderData; server?: string }

/**
 * What goes back only to the model and the server that wrote the reply. `changed`: since then something before it was left out of the
 * prompt, or the reply itself was shortened.
 */
export type SentReply = ReplyParts & { model: ModelRef; thinking: string; changed?: 'before' | 'itself' }

/** `parameters` is the JSON schema (draft 2020-12) of an object. */
export type ToolDescription = { name: string; description: string; parameters: Record<string, unknown> }

export type ModelRequest = {
  model: string
  messages: PromptMessage[]
  tools: ToolDescription[]
  maxOutputTokens: number | null
}

/** Tokens of one call. `cached`: the part of `input` that came from the provider's cache. `cacheWrite`: the part written to it. */
export type Usage = { input: number; output: number; cached: number; cacheWrite?: number }

/** Adapters do not throw for provider trouble: the stream ends with one of these. `retryAfterMs` is what the provider asks for. */
export type ModelFailure = {
  kind:
    | 'rate_limited'
    | 'overloaded'
    | 'server'
    | 'network'
    | 'timeout'
    | 'auth'
    /** The keychain is locked or does not respond. */
    | 'key_out_of_reach'
    | 'not_found'
    | 'context_too_long'
    | 'refused'
    | 'bad_request'
    | 'bad_answer'
  retryable: boolean
  retryAfterMs: number | null
  status: number | null
  /** The provider, what happened, what to do. Contains no key and no prompt. */
  message: Message
  /** For `context_too_long`: the provider's numbers. */
  tooLong?: TooLong
  /** This machine seems to have no network. A wrong address is no such failure. */
  offline?: true
  /** The server has too little memory for this context window. */
  outOfMemory?: true
  /** What the provider requires of earlier replies: a field that they lack, no thinking, or ids of nine letters and digits. */
  requires?: 'reasoning_content' | 'thought_signature' | 'no_thinking' | 'short_ids'
}

/**
 * What a model call yields: any number of texts, reasoning, pieces of calls and tool calls, then exactly one `finish` or
 * `failed`. A tool call is yielded only when it is complete.
 */
export type ModelEvent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  /** A piece of a tool call that is not complete yet. */
  | { type: 'call_piece'; begins: boolean; chars: number }
  /** `args` is the parsed JSON, or with `argsValid: false` the text that the model wrote instead. */
  | { type: 'tool_call'; callId: string; name: string; args: unknown; argsValid: boolean }
  /** usage null: none, or not plausible. `sent`: what goes back to the model with this reply. */
  | { type: 'finish'; reason: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other'; usage: Usage | null; sent?: ReplyParts }
  | { type: 'failed'; failure: ModelFailure; usage: Usage | null }

/** After `signal` aborts, the iteration throws the signal's reason. */
export type ModelAdapter = {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /** Throws AppError('provider_refused'). */
  listModels(signal: AbortSignal): Promise<ListedModel[]>
  /** The context window, if the provider says it only about a single model. null: it does not say. */
  readWindow?(model: string, signal: AbortSignal): Promise<number | null>
}

export type ListedModel = { model: string; label: string; contextTokens: number | null }

export type ProviderAccess = {
  id: string
  kind: ProviderKind
  name: string
  baseUrl: string | null
  apiKey: string | null
}

/** Micro-dollars per million tokens. `longPrompt` replaces all of them if the input has more tokens than its limit. */
export type KnownPrice = TokenRates & { longPrompt?: TokenRates & { fromInputTokens: number } }

export type TokenRates = {
  inputMicros: number
  outputMicros: number
  cachedInputMicros: number
  cacheWriteMicros?: number
  /** For each call, whatever its length. */
  requestMicros?: number
}

export type OpenedModel = {
  adapter: ModelAdapter
  price: KnownPrice | null
  providerName: string
  /** The context window, prompt and answer together. Asks the provider only if the prompt is large. null: unknown. */
  readWindow?(promptTokens: number, signal: AbortSignal): Promise<number | null>
}

/** The message as another model may read it: text and calls alone. */
export function withoutSent(message: PromptMessage): PromptMessage {
  if (message.role !== 'assistant' || message.sent === undefined) return message
  const { sent: _sent, ...plain } = message
  return plain
}

/** Returns a failure if the provider is gone or its key cannot be read. */
export type ModelSource = {
  open(ref: ModelRef): Promise<OpenedModel | { failure: ModelFailure }>
}
