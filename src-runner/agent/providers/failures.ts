import type { Message } from '../../contract/messages.ts'
import { cutText } from '../../lib/text.ts'
import { isRecord, parseJson } from '../../lib/json-values.ts'
import { createMessage, englishText } from '../../lib/messages.ts'
import { OutboundError } from '../../platform/net/outbound.ts'
import type { ModelFailure, PromptMessage } from './model.ts'
import { readTooLong } from './prompt-too-long.ts'

export type FailureContext = {
  providerName: string
  model: string
  /** On this machine the fix is to start the server, not to check the internet. */
  local: boolean
  /** It is at the address of its service, which nobody typed. */
  ownAddress: boolean
  /** How to get a missing model, if this provider has its own way. */
  getModelCommand: string | null
  apiKey: string | null
  messages: readonly PromptMessage[]
  now: number
}

type Kind = ModelFailure['kind']

/** Carries a failure through the provider's library. */
export class ModelCallError extends Error {
  override readonly name = 'ModelCallError'
  readonly failure: ModelFailure
  constructor(failure: ModelFailure) {
    super(englishText(failure.message))
    this.failure = failure
  }
}

const RETRYABLE: Record<Kind, boolean> = {
  rate_limited: true,
  overloaded: true,
  server: true,
  network: true,
  timeout: true,
  bad_answer: true,
  auth: false,
  key_out_of_reach: false,
  not_found: false,
  context_too_long: false,
  refused: false,
  bad_request: false,
}

export function failure(kind: Kind, message: Message, more: Partial<ModelFailure> = {}): ModelFailure {
  return { kind, retryable: RETRYABLE[kind], retryAfterMs: null, status: null, message, ...more }
}

/** The status alone is not enough: providers report a wrong key as 400, an empty account as 429, a long prompt as 400 or 413. */
export function failureFromStatus(context: FailureContext, status: number, headers: Headers, body: string): ModelFailure {
  const { providerName: provider, model } = context
  const code = String(status)
  const reported = readErrorBody(body)
  const words = wordsOf(reported)
  const detail = describeDetail(reported.message, context)
  const retryAfterMs = readRetryAfterMs(headers, context.now) ?? readRetryDelayMs(body)
  const of = (kind: Kind, problem: Message, more: Partial<ModelFailure> = {}) =>
    failure(kind, problem, { status, retryAfterMs: RETRYABLE[kind] ? retryAfterMs : null, ...more })

  if (
    status === 402 ||
    /insufficient_quota|credit balance|insufficient (credit|balance|funds)|billing_(hard_limit|not_active)/.test(words)
  ) {
    return of('auth', createMessage('model_no_credit', { provider }))
  }
  if (status === 401 || /invalid.api.key|api.key.not.valid|incorrect api key|api_key_invalid/.test(words)) {
    return context.apiKey === null
      ? of('auth', createMessage('model_asks_for_key', { provider }))
      : of('auth', createMessage('model_key_refused', { provider }))
  }
  if (status === 403) return of('auth', withWords(createMessage('model_refused_access', { provider }), detail))
  const tooLong = readTooLong(status, words, body)
  if (tooLong !== null) {
    return of('context_too_long', createMessage('model_too_long', { model, provider }), { tooLong })
  }
  if (status === 404 || /model_not_found|model .{0,200}(not found|does not exist)/.test(words)) {
    const command = context.getModelCommand
    return of(
      'not_found',
      command === null
        ? createMessage('model_unknown', { provider, model })
        : createMessage('model_not_pulled', { provider, model, command }),
    )
  }
  if (status === 429) return of('rate_limited', withWords(createMessage('model_slow_down', { provider }), detail))
  if (status === 529 || status === 503)
    return of('overloaded', withWords(createMessage('model_overloaded', { provider, status: code }), detail))
  if (status === 408 || status === 504) return of('timeout', withWords(createMessage('model_late', { provider, status: code }), detail))
  if (status >= 500 && /more (system )?memory|not enough memory|out of memory|insufficient memory|failed to allocate/.test(words)) {
    return of('server', createMessage('model_no_memory', { provider, model }), { outOfMemory: true })
  }
  // Some servers use 500 for what they do not support. Retrying does not help.
  if (status === 501 || (status >= 500 && CANNOT.test(words))) {
    return of('bad_request', withWords(createMessage('model_cannot', { provider, status: code }), detail))
  }
  if (status >= 500) return of('server', withWords(createMessage('model_ill', { provider, status: code }), detail))
  if (/content_policy|content_filter|responsibleai|safety system|invalid_prompt/.test(words)) {
    return of('refused', withWords(createMessage('model_against_rules', { provider }), detail))
  }
  if (status === 409 || status === 425) return of('server', createMessage('model_not_now', { provider, status: code }))
  if (status >= 300 && status < 400) return of('bad_request', createMessage('model_moved', { provider }))
  return of('bad_request', withWords(createMessage('model_not_accepted', { provider, status: code }), detail), requirementOf(words))
}

/** Quotes the provider behind our own message, so that its words are not mistaken for ours. */
function withWords(problem: Message, words: string): Message {
  return words === '' ? problem : createMessage('model_says', { problem, words })
}

const CANNOT = /cannot use tools|(tools?|stream(ing)?|tool_choice) (is|are) not supported|does not support (tools|stream)|not implemented/

/** What a refusal requires of earlier replies. */
function requirementOf(words: string): Pick<ModelFailure, 'requires'> {
  // Mistral (https://github.com/langchain-ai/langchain/pull/24668).
  if (/tool call id was .{0,300} must be .{0,50}length of 9/.test(words)) return { requires: 'short_ids' }
  const isMissing = /missing|must be (passed|provided|included|present|sent)|is required/.test(words)
  if (isMissing && words.includes('reasoning_content')) return { requires: 'reasoning_content' }
  if (isMissing && words.includes('thought_signature')) return { requires: 'thought_signature' }
  return /thinking|thought|reasoning|signature|encrypted.content|block_binding/.test(words) ? { requires: 'no_thinking' } : {}
}

/** After the first byte, providers send errors as events. */
export function failureFromStreamError(context: FailureContext, error: unknown): ModelFailure {
  const known = findCause(error, ModelCallError)
  if (known !== null) return known.failure
  const reported = readErrorObject(error)
  // Some servers start an answer and then say that the prompt was too long, without a status or a type.
  const isTooLong = readTooLong(400, wordsOf(reported), '') !== null
  const status = reported.status ?? (isTooLong ? 400 : statusOfErrorType(`${reported.type} ${reported.code}`.toLowerCase()))
  if (status !== null && status >= 400) return failureFromStatus(context, status, new Headers(), JSON.stringify({ error: reported }))
  if (reported.structured) {
    const problem = createMessage('model_stopped', { provider: context.providerName })
    return failure('server', withWords(problem, describeDetail(reported.message, context)))
  }
  return failure('bad_answer', createMessage('model_unreadable', { provider: context.providerName }))
}

export function failureFromOutbound(context: FailureContext, error: OutboundError): ModelFailure {
  const { providerName: provider, local } = context
  switch (error.kind) {
    case 'bad_url':
      return failure('bad_request', createMessage('model_bad_address', { provider, words: error.message }))
    case 'refused':
      return failure('network', createMessage('model_no_server', { provider }))
    case 'dns':
      return failure('network', createMessage('model_name_unknown', { provider }), offlineOf(context, error))
    case 'unreachable':
      return failure('network', createMessage(local ? 'model_server_away' : 'model_offline', { provider }), offlineOf(context, error))
    case 'tls':
      return failure('network', createMessage('model_not_secure', { provider, reason: error.systemCode ?? 'TLS' }), {
        // A retry helps a broken handshake, but not a wrong certificate.
        retryable: !/CERT|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|ALTNAME|WRONG_VERSION|EPROTO/.test(error.systemCode ?? ''),
      })
    case 'reset':
      return failure('network', createMessage('model_lost', { provider }))
    case 'protocol':
      return failure('bad_answer', createMessage('model_odd_server', { provider, words: error.message }))
    case 'redirect':
      return failure('bad_request', createMessage('model_wrong_place', { provider, words: error.message }))
  }
}

/** Where a person typed the address, an unknown name or an unreachable host may be their mistake. */
function offlineOf({ local, ownAddress }: FailureContext, { systemCode }: OutboundError): Pick<ModelFailure, 'offline'> {
  const codes = ownAddress ? /^(EAI_AGAIN|ENETUNREACH|ENETDOWN|ENOTFOUND|EHOSTUNREACH)$/ : /^(EAI_AGAIN|ENETUNREACH|ENETDOWN)$/
  return !local && codes.test(systemCode ?? '') ? { offline: true } : {}
}

/** Finds an error of this type in the chain of causes: libraries wrap what they catch. */
export function findCause<T extends Error>(thrown: unknown, type: new (...args: never[]) => T): T | null {
  const seen = new Set<unknown>()
  for (let current = thrown; current instanceof Error && !seen.has(current); current = current.cause) {
    if (current instanceof type) return current
    seen.add(current)
  }
  return null
}

/** From `retry-after-ms`, or `retry-after` in seconds or as a date; not capped. null: none, or invalid. */
export function readRetryAfterMs(headers: Headers, now: number): number | null {
  const precise = headers.get('retry-after-ms')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(precise)) return Math.ceil(Number(precise))
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  // Date.parse reads almost anything ("-5" is a year), but an HTTP date begins with the name of the day.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(value)) return null
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/**
 * Gemini sends no `retry-after`, but a `google.rpc.RetryInfo` in the body: `"retryDelay": "45.837906927s"`. Text that quotes
 * one has its quotation marks escaped, so it does not match. null: none.
 */
function readRetryDelayMs(body: string): number | null {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1]
  return seconds === undefined ? null : Math.ceil(Number(seconds) * 1000)
}

/** Error types that Anthropic, OpenAI and Google send in streams without a status. */
function statusOfErrorType(type: string): number | null {
  if (/overloaded|unavailable/.test(type)) return 529
  if (/rate_limit|resource_exhausted|too_many/.test(type)) return 429
  if (/authentication|unauthenticated/.test(type)) return 401
  if (/permission/.test(type)) return 403
  if (/not_found/.test(type)) return 404
  if (/insufficient_quota/.test(type)) return 402
  if (/invalid_request|invalid_argument|context_length/.test(type)) return 400
  if (/timeout|deadline/.test(type)) return 504
  if (/server_error|api_error|internal/.test(type)) return 500
  return null
}

/** The text is cut before it is compared with patterns, some of which take cubic time. */
const MAX_WORDS_CHARS = 2_000

type ProviderError = { message: string; type: string; code: string; status: number | null; structured: boolean }

const NO_ERROR: ProviderError = { message: '', type: '', code: '', status: null, structured: false }

function wordsOf({ code, type, message }: ProviderError): string {
  return `${code} ${type} ${message}`.slice(0, MAX_WORDS_CHARS).toLowerCase()
}

function readErrorBody(body: string): ProviderError {
  const parsed = parseJson(body)
  if (parsed !== null) return readErrorObject(Array.isArray(parsed) ? parsed[0] : parsed)
  // A proxy's HTML page is not shown to people.
  return { ...NO_ERROR, message: /^\s*</.test(body) ? '' : body.slice(0, MAX_WORDS_CHARS) }
}

/** Reads `{error: {...}}`, `{error: "text"}`, `{message}`, and what the libraries make of them. */
function readErrorObject(value: unknown): ProviderError {
  if (typeof value === 'string') return { ...NO_ERROR, message: value, structured: true }
  if (!isRecord(value)) return NO_ERROR
  const inner = value['error'] ?? (isRecord(value['response']) ? value['response']['error'] : undefined)
  if (inner !== undefined && inner !== null) return readErrorObject(inner)
  // A library's own parse error repeats the text that it read.
  if (value instanceof Error && !isRecord((value as { data?: unknown }).data) && !('statusCode' in value)) return NO_ERROR
  const text = (field: unknown) => (typeof field === 'string' || typeof field === 'number' ? String(field) : '')
  const statusOf = (field: unknown) => (typeof field === 'number' && field >= 400 && field <= 599 ? field : null)
  return {
    message: text(value['message']) || text(value['detail']),
    type: text(value['type']) || text(value['status']),
    code: text(value['code']),
    status: statusOf(value['statusCode']) ?? statusOf(value['code']) ?? statusOf(value['status']),
    structured: true,
  }
}

const MAX_DETAIL_CHARS = 300

/** Returns the provider's error text to quote, without key, prompt or markup. */
function describeDetail(message: string, context: FailureContext): string {
  const text = scrub(message.slice(0, MAX_WORDS_CHARS), context).replace(/\s+/g, ' ').trim()
  if (text === '' || /<\/?(html|head|body|!doctype)/i.test(text)) return ''
  // Quoted text must not be able to end the quotation.
  return cutText(text, MAX_DETAIL_CHARS)
    .replace(/[.\s]+$/, '')
    .replace(/[“”]/g, '"')
}

/** Shorter repetitions are ordinary words. */
const ECHO_CHARS = 16

/** Removes keys, anything that looks like one, and anything that repeats the conversation. */
export function scrub(text: string, context: Pick<FailureContext, 'apiKey' | 'messages'>): string {
  let clean = text
  if (context.apiKey !== null && context.apiKey !== '') clean = clean.split(context.apiKey).join('[key]')
  clean = clean
    .replace(/\b(sk|pk|rk|gsk|xai|key)[-_][A-Za-z0-9_*.-]{8,}/g, '[key]')
    .replace(/\bAIza[A-Za-z0-9_*-]{10,}/g, '[key]')
    .replace(/\bBearer\s+\S+/gi, 'Bearer [key]')
  const prompt = context.messages.map((message) => (message.role === 'tool' ? message.output : message.text)).join('\n')
  const echoed = findEchoes(clean, prompt)
  let kept = ''
  let echoEnd = 0
  for (let at = 0; at < clean.length; at++) {
    if (echoed.has(clean.slice(at, at + ECHO_CHARS))) {
      if (at >= echoEnd) kept += '[…]'
      echoEnd = at + ECHO_CHARS
    } else if (at >= echoEnd) kept += clean[at]
  }
  return kept
}

/** The pieces of `ECHO_CHARS` that both have. Goes through the prompt once, since it may have millions of characters. */
function findEchoes(text: string, prompt: string): Set<string> {
  const missing = new Set<string>()
  for (let at = 0; at + ECHO_CHARS <= text.length; at++) missing.add(text.slice(at, at + ECHO_CHARS))
  const found = new Set<string>()
  for (let at = 0; at + ECHO_CHARS <= prompt.length && missing.size > 0; at++) {
    const piece = prompt.slice(at, at + ECHO_CHARS)
    if (missing.delete(piece)) found.add(piece)
  }
  return found
}
