import type { ModelRef } from '../../contract/agents.ts'
import type { ProviderKind } from '../../contract/providers.ts'
import type { TooLong } from './too-long.ts'

/** Part of the conversation as a model reads it. Built from recorded steps only, never from memory. */
export type PromptMessage =
  | { role: 'system'; text: string }
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; toolCalls: PromptToolCall[] }
  | { role: 'tool'; callId: string; name: string; output: string; ok: boolean }

export type PromptToolCall = { callId: string; name: string; args: unknown }

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
}

/**
 * What a model call yields, in order: any number of text, reasoning and tool calls, then exactly one `finish` or
 * `failed`. A tool call is yielded only when it is complete: a call that was cut in half never leaves the adapter.
 */
export type ModelEvent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  /** `args` is the parsed JSON, or the raw text with `argsValid: false` when the model wrote something else. */
  | { type: 'tool_call'; callId: string; name: string; args: unknown; argsValid: boolean }
  /** usage null: the provider sent none that can be believed. */
  | { type: 'finish'; reason: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other'; usage: Usage | null }
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

/** Finds the adapter of a model. Answers a failure instead when the provider is gone or its key cannot be read. */
export type ModelSource = {
  open(ref: ModelRef): Promise<OpenedModel | { failure: ModelFailure }>
}
