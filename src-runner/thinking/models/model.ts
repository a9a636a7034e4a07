import type { ModelRef } from '../../contract/agents.ts'
import type { ProviderKind } from '../../contract/providers.ts'
import type { TooLong } from './too-long.ts'

/** Part of the conversation as a model reads it. Built from recorded steps only, never from memory. */
export type PromptMessage =
  | { role: 'system'; text: string }
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; toolCalls: PromptToolCall[]; sent?: SentReply }
  | { role: 'tool'; callId: string; name: string; output: string; ok: boolean }

export type PromptToolCall = { callId: string; name: string; args: unknown }

/** What a provider sent beside text and calls, under the name of its library: opaque, and meant for that provider alone. */
export type ProviderData = Record<string, Record<string, unknown>>

/** A part of a reply in its place. `chars`: how much of the reply's text or thinking it is. `id`: as the provider wrote it. */
export type ReplyPart =
  | { kind: 'text' | 'thinking'; chars: number; data?: ProviderData }
  | { kind: 'call'; index: number; id?: string; data?: ProviderData }

/** How a reply was put together, so that it can go back as it came. `data` belongs to the reply as a whole. */
export type ReplyParts = { parts: ReplyPart[]; data?: ProviderData }

/**
 * What only the model that wrote a reply is sent back: its thinking, signatures and the order of it all. `changed`: since
 * then something before it was left out of the prompt, or the reply itself was shortened.
 */
export type SentReply = ReplyParts & { model: ModelRef; thinking: string; changed?: 'before' | 'itself' }

/** A tool as a model is told of it. `parameters` is a JSON schema (draft 2020-12) of an object. */
export type ToolDescription = { name: string; description: string; parameters: Record<string, unknown> }

export type ModelRequest = {
  model: string
  messages: PromptMessage[]
  tools: ToolDescription[]
  maxOutputTokens: number | null
}

/**
 * Tokens of one call. `cached` is the part of `input` that the provider served from its cache; `cacheWrite` the part
 * that it wrote into its cache, where it charges for that (Anthropic).
 */
export type Usage = { input: number; output: number; cached: number; cacheWrite?: number }

/**
 * Why a call failed. Adapters do not throw for provider trouble; they end the stream with one of these.
 * `retryable` says whether the same call may succeed later; `retryAfterMs` is the provider's own wish.
 */
export type ModelFailure = {
  kind:
    | 'rate_limited'
    | 'overloaded'
    | 'server'
    | 'network'
    | 'timeout'
    | 'auth'
    /** The key is kept where nobody can get at it now: the keychain is locked or silent. */
    | 'key_out_of_reach'
    | 'not_found'
    | 'context_too_long'
    | 'refused'
    | 'bad_request'
    | 'bad_answer'
  retryable: boolean
  retryAfterMs: number | null
  status: number | null
  /** For people: names the provider, says what happened and what to do. Holds no key and no prompt. */
  message: string
  /** Of `context_too_long`: what the provider counted. */
  tooLong?: TooLong
  /** The server has no memory left for the model with the window that was asked for. */
  outOfMemory?: true
  /** What the provider wants of earlier replies: a field that it misses in them, or none of their thinking. */
  wants?: 'reasoning_content' | 'thought_signature' | 'no_thinking'
}

/**
 * What a model call yields, in order: any number of text, reasoning, pieces of calls and tool calls, then exactly one
 * `finish` or `failed`. A tool call is yielded only when it is complete: a call that was cut in half never leaves the adapter.
 */
export type ModelEvent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  /** A piece of a tool call came in, and this much of it. Nothing of it may be used before the call is complete. */
  | { type: 'call_piece'; begins: boolean; chars: number }
  /** `args` is the parsed JSON, or the raw text with `argsValid: false` when the model wrote something else. */
  | { type: 'tool_call'; callId: string; name: string; args: unknown; argsValid: boolean }
  /** usage null: the provider sent none that can be believed. `sent`: what is to go back to the model with this reply. */
  | { type: 'finish'; reason: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other'; usage: Usage | null; sent?: ReplyParts }
  | { type: 'failed'; failure: ModelFailure; usage: Usage | null }

/** One provider's way to answer. After `signal` aborts, the iteration ends by throwing the signal's reason. */
export type ModelAdapter = {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /** The models the provider offers now. Throws AppError('provider_refused') with a sentence for people. */
  listModels(signal: AbortSignal): Promise<ListedModel[]>
  /** How many tokens the model holds here, where the provider says so of one model. null: it does not say. */
  readWindow?(model: string, signal: AbortSignal): Promise<number | null>
}

export type ListedModel = { model: string; label: string; contextTokens: number | null }

/** What an adapter is made from. The key comes from the vault at the moment of the call. */
export type ProviderAccess = {
  id: string
  kind: ProviderKind
  name: string
  baseUrl: string | null
  apiKey: string | null
}

/**
 * Micro-dollars per million tokens; all zero for models that run on this machine and for the demo. `longPrompt` stands
 * in for all of them when the input has more tokens than its mark.
 */
export type KnownPrice = TokenRates & { longPrompt?: TokenRates & { fromInputTokens: number } }

export type TokenRates = { inputMicros: number; outputMicros: number; cachedInputMicros: number; cacheWriteMicros?: number }

export type OpenedModel = {
  adapter: ModelAdapter
  price: KnownPrice | null
  providerName: string
  /**
   * How many tokens the model holds, prompt and answer together. May ask the provider, if a prompt of this size is worth the
   * question; null: nobody knows.
   */
  readWindow?(promptTokens: number, signal: AbortSignal): Promise<number | null>
}

/** What goes on to another model than the one that wrote it: words and calls, and nothing that only their writer can read. */
export function withoutSent(message: PromptMessage): PromptMessage {
  if (message.role !== 'assistant' || message.sent === undefined) return message
  let plain = plainForms.get(message)
  if (plain === undefined) {
    const { sent: _sent, ...rest } = message
    plainForms.set(message, (plain = rest))
  }
  return plain
}

/** One for each message, because sizes are remembered by it. */
const plainForms = new WeakMap<PromptMessage, PromptMessage>()

/** Finds the adapter of a model. Answers a failure instead when the provider is gone or its key cannot be read. */
export type ModelSource = {
  open(ref: ModelRef): Promise<OpenedModel | { failure: ModelFailure }>
}
