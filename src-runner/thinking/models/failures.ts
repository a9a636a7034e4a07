import { OutboundError } from '../../base/net/outbound.ts'
import type { ModelFailure, PromptMessage } from './model.ts'
import { readTooLong } from './too-long.ts'

/** Who a failure is about, and what must not appear in its message. */
export type FailureContext = {
  providerName: string
  model: string
  /** Runs on this machine: the fix is to start it, not to check the internet. */
  local: boolean
  /** A sentence for a missing model, where the provider has its own way to get one. */
  missingModelFix: string | null
  apiKey: string | null
  messages: readonly PromptMessage[]
  now: number
}

type Kind = ModelFailure['kind']

/** Thrown inside the adapter where the provider's library stands between the trouble and us. */
export class ModelTrouble extends Error {
  override readonly name = 'ModelTrouble'
  readonly failure: ModelFailure
  constructor(failure: ModelFailure) {
    super(failure.message)
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

export function failure(kind: Kind, message: string, more: Partial<ModelFailure> = {}): ModelFailure {
  return { kind, retryable: RETRYABLE[kind], retryAfterMs: null, status: null, message, ...more }
}

const CHECK_KEY = 'Check the key in Models & keys.'

/**
 * What an HTTP answer that is not a success means. Status alone is not enough: providers report a wrong key as 400,
 * an empty account as 429, and a conversation that is too long as 400 or 413.
 */
export function failureFromStatus(context: FailureContext, status: number, headers: Headers, body: string): ModelFailure {
  const { providerName: name, model } = context
  const said = readErrorBody(body)
  const words = wordsOf(said)
  const detail = describeDetail(said.message, context)
  const of = (kind: Kind, message: string, more: Partial<ModelFailure> = {}) =>
    failure(kind, message, { status, retryAfterMs: RETRYABLE[kind] ? readRetryAfterMs(headers, context.now) : null, ...more })

  if (
    status === 402 ||
    /insufficient_quota|credit balance|insufficient (credit|balance|funds)|billing_(hard_limit|not_active)/.test(words)
  ) {
    return of('auth', `${name} says that the account has no credit left. Add credit there, or choose another model.`)
  }
  if (status === 401 || /invalid.api.key|api.key.not.valid|incorrect api key|api_key_invalid/.test(words)) {
    return context.apiKey === null
      ? of('auth', `${name} asks for a key. Add it in Models & keys.`)
      : of('auth', `${name} does not accept the key. ${CHECK_KEY}`)
  }
  if (status === 403) return of('auth', `${name} refused access${detail}. ${CHECK_KEY}`)
  const tooLong = readTooLong(status, words, body)
  if (tooLong !== null) {
    const message = `The conversation is too long for ${model} at ${name}. Start a new one, or choose a model with a larger context.`
    return of('context_too_long', message, { tooLong })
  }
  if (status === 404 || /model_not_found|model .{0,200}(not found|does not exist)/.test(words)) {
    return of('not_found', `${name} has no model “${model}”. ${context.missingModelFix ?? 'Choose another model in the agent’s settings.'}`)
  }
  if (status === 429) return of('rate_limited', `${name} asks us to slow down (too many requests)${detail}.`)
  if (status === 529 || status === 503) return of('overloaded', `${name} is overloaded right now (${status})${detail}.`)
  if (status === 408 || status === 504) return of('timeout', `${name} did not answer in time (${status})${detail}.`)
  if (status >= 500 && /more (system )?memory|not enough memory|out of memory|insufficient memory|failed to allocate/.test(words)) {
    const message = `${name} has not enough memory for ${model}. Close other programs, or choose a smaller model.`
    return of('server', message, { outOfMemory: true })
  }
  // What a server cannot do it says with 500 as well, and cannot do it the next time either.
  if (status === 501 || (status >= 500 && CANNOT.test(words))) {
    return of('bad_request', `${name} cannot do what was asked (${status})${detail}.`)
  }
  if (status >= 500) return of('server', `${name} has a problem on its side (${status})${detail}.`)
  if (/content_policy|content_filter|responsibleai|safety system|invalid_prompt/.test(words)) {
    return of('refused', `${name} refused this request because of its content rules${detail}.`)
  }
  if (status === 409 || status === 425) return of('server', `${name} could not take the request at this moment (${status}).`)
  if (status >= 300 && status < 400) return of('bad_request', `${name} sent us on to another address. Check its base URL in Models & keys.`)
  return of('bad_request', `${name} did not accept the request (${status})${detail}.`, wantsOf(words))
}

const CANNOT = /cannot use tools|(tools?|stream(ing)?|tool_choice) (is|are) not supported|does not support (tools|stream)|not implemented/

/** What a refusal says of the thinking in earlier replies. */
function wantsOf(words: string): Pick<ModelFailure, 'wants'> {
  const isMissing = /missing|must be (passed|provided|included|present|sent)|is required/.test(words)
  if (isMissing && words.includes('reasoning_content')) return { wants: 'reasoning_content' }
  if (isMissing && words.includes('thought_signature')) return { wants: 'thought_signature' }
  return /thinking|thought|reasoning|signature|encrypted.content|block_binding/.test(words) ? { wants: 'no_thinking' } : {}
}

/** What an error event inside a stream means; providers put there what would have been a status before the first byte. */
export function failureFromStreamError(context: FailureContext, error: unknown): ModelFailure {
  const trouble = findTrouble(error)
  if (trouble !== null) return trouble
  const said = readErrorObject(error)
  // Some servers begin an answer and then say that the question was too long, without a status or a type.
  const isTooLong = readTooLong(400, wordsOf(said), '') !== null
  const status = said.status ?? (isTooLong ? 400 : statusOfErrorType(`${said.type} ${said.code}`.toLowerCase()))
  if (status !== null && status >= 400) return failureFromStatus(context, status, new Headers(), JSON.stringify({ error: said }))
  if (said.structured) {
    return failure('server', `${context.providerName} stopped with an error${describeDetail(said.message, context)}.`)
  }
  return failure('bad_answer', `${context.providerName} sent an answer that cannot be read.`)
}

/** What an exception on the way to the provider means, or null when it is no trouble of the network: a bug. */
export function failureFromOutbound(context: FailureContext, error: OutboundError): ModelFailure {
  const { providerName: name, local } = context
  const key = 'Check its base URL in Models & keys.'
  switch (error.kind) {
    case 'bad_url':
      return failure('bad_request', `The address of ${name} cannot be used: ${error.message}. ${key}`)
    case 'refused':
      return failure('network', `Nothing answers at the address of ${name}. Is the server running?`)
    case 'dns':
      return failure('network', `The host name of ${name} was not found. Check the internet connection and the base URL in Models & keys.`)
    case 'unreachable':
      return failure('network', `${name} cannot be reached. ${local ? 'Is the server running?' : 'Check the internet connection.'}`)
    case 'tls':
      return failure('network', `The secure connection to ${name} could not be made (${error.systemCode ?? 'TLS'}). ${key}`, {
        // A certificate does not become right by asking again; a handshake that was cut may.
        retryable: !/CERT|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|ALTNAME|WRONG_VERSION|EPROTO/.test(error.systemCode ?? ''),
      })
    case 'reset':
      return failure('network', `The connection to ${name} was lost.`)
    case 'protocol':
      return failure('bad_answer', `${name} did not answer as a model server does: ${error.message}. ${key}`)
    case 'redirect':
      return failure('bad_request', `${name} cannot be used at this address: ${error.message}. ${key}`)
  }
}

/** The trouble inside whatever a library wrapped it into. */
export function findTrouble(error: unknown): ModelFailure | null {
  const seen = new Set<unknown>()
  for (let current = error; current instanceof Error && !seen.has(current); current = current.cause) {
    if (current instanceof ModelTrouble) return current.failure
    seen.add(current)
  }
  return null
}

/**
 * The provider's own wish, in milliseconds and uncapped: `retry-after-ms`, or `retry-after` in seconds or as a date.
 * null when there is none or it makes no sense.
 */
export function readRetryAfterMs(headers: Headers, now: number): number | null {
  const precise = headers.get('retry-after-ms')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(precise)) return Math.ceil(Number(precise))
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  // Date.parse reads almost anything ("-5" is a year): a date of HTTP begins with the day's name.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(value)) return null
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/** Error names of Anthropic, OpenAI and Google that stand inside streams without a status. */
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

/** Of a body that is no JSON. */
const MAX_PLAIN_CHARS = 2_000

type Said = { message: string; type: string; code: string; status: number | null; structured: boolean }

function wordsOf({ code, type, message }: Said): string {
  return `${code} ${type} ${message}`.toLowerCase()
}

function readErrorBody(body: string): Said {
  try {
    const parsed: unknown = JSON.parse(body)
    return readErrorObject(Array.isArray(parsed) ? parsed[0] : parsed)
  } catch {
    // A page of a proxy is not meant for people; a sentence is.
    const message = /^\s*</.test(body) ? '' : body.slice(0, MAX_PLAIN_CHARS)
    return { message, type: '', code: '', status: null, structured: false }
  }
}

/** The shapes of errors: `{error: {...}}`, `{error: "text"}`, `{message}`, and what the libraries make of them. */
function readErrorObject(value: unknown): Said {
  const none: Said = { message: '', type: '', code: '', status: null, structured: false }
  if (typeof value === 'string') return { ...none, message: value, structured: true }
  if (!isRecord(value)) return none
  const inner = value['error'] ?? (isRecord(value['response']) ? value['response']['error'] : undefined)
  if (inner !== undefined && inner !== null) return readErrorObject(inner)
  // A library's own complaint about what it read (bad JSON, a wrong shape) repeats what it read.
  if (value instanceof Error && !isRecord((value as { data?: unknown }).data) && !('statusCode' in value)) return none
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

/** The provider's own words in brackets, without key, prompt or markup; empty when there is nothing to show. */
function describeDetail(message: string, context: FailureContext): string {
  const text = scrub(message.slice(0, 2000), context).replace(/\s+/g, ' ').trim()
  if (text === '' || /<\/?(html|head|body|!doctype)/i.test(text)) return ''
  const cut = text.length > MAX_DETAIL_CHARS ? `${text.slice(0, MAX_DETAIL_CHARS)}…` : text
  // What is quoted must not end its quotation: behind that only our own words may stand.
  return `: “${cut.replace(/[.\s]+$/, '').replace(/[“”]/g, '"')}”`
}

/** Long enough that ordinary words of an error message are not taken for the person's. */
const ECHO_CHARS = 16

/** Takes out keys, whatever looks like one, and whatever repeats the conversation. */
export function scrub(text: string, context: Pick<FailureContext, 'apiKey' | 'messages'>): string {
  let clean = text
  if (context.apiKey !== null && context.apiKey !== '') clean = clean.split(context.apiKey).join('[key]')
  clean = clean
    .replace(/\b(sk|pk|rk|gsk|xai|key)[-_][A-Za-z0-9_*.-]{8,}/g, '[key]')
    .replace(/\bAIza[A-Za-z0-9_*-]{10,}/g, '[key]')
    .replace(/\bBearer\s+\S+/gi, 'Bearer [key]')
  const prompt = context.messages.map((message) => (message.role === 'tool' ? message.output : message.text)).join('\n')
  let kept = ''
  for (let at = 0; at < clean.length;) {
    let length = 0
    if (at + ECHO_CHARS <= clean.length && prompt.includes(clean.slice(at, at + ECHO_CHARS))) {
      length = ECHO_CHARS
      while (at + length < clean.length && prompt.includes(clean.slice(at, at + length + 1))) length++
    }
    if (length === 0) kept += clean[at++]
    else {
      kept += '[…]'
      at += length
    }
  }
  return kept
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
