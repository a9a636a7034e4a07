import { totalmem } from 'node:os'
import type { LanguageModelV4, LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import { OutboundError, type OutboundFetch } from '../../base/net/outbound.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import { type AnswerTimeouts, type AnswerWatch, DEFAULT_ANSWER_TIMEOUTS, Stalled, watchAnswer } from './answer-watch.ts'
import {
  type FailureContext,
  failure,
  failureFromOutbound,
  failureFromStatus,
  failureFromStreamError,
  findTrouble,
  ModelTrouble,
} from './failures.ts'
import type { ListedModel, ModelAdapter, ModelEvent, ModelFailure, ModelRequest, ProviderAccess, Usage } from './model.ts'
import { normalizeBaseUrl, runsOnThisMachine } from './base-url.ts'
import type { DriverAccess, ProviderDriver } from './provider-driver.ts'
import { toProviderPrompt, toProviderTools } from './provider-prompt.ts'

export type AdapterDeps = {
  fetch: OutboundFetch
  clock: Clock
  timeouts?: AnswerTimeouts
  /** Of this machine. */
  memoryBytes?: number
}

/** An error body is read this far: enough for a sentence, no matter what a server sends. */
const MAX_ERROR_BODY_BYTES = 65_536
const MAX_LIST_BYTES = 16_777_216
/** What is only asked to know more is not waited for longer. */
const LOOK_MS = 5_000
/** No answer of a model is this long; a server that sends on and on is cut off here. */
const MAX_ANSWER_BYTES = 67_108_864
const MAX_BELIEVABLE_TOKENS = 100_000_000

/**
 * The adapter of every provider that is reached over the network. The provider's library turns our conversation into
 * its protocol and the answer into parts; what is common to all stands here: time limits, failures, and what may be
 * believed of an answer.
 */
export function createProviderAdapter(driver: ProviderDriver, access: ProviderAccess, deps: AdapterDeps): ModelAdapter {
  const { clock, timeouts = DEFAULT_ANSWER_TIMEOUTS } = deps
  const baseUrl = normalizeBaseUrl(access.baseUrl ?? driver.defaultBaseUrl ?? '', driver.apiPath)
  const local = runsOnThisMachine(baseUrl)
  /** The libraries know one `fetch` per provider; the call it works for is found by its signal. */
  const calls = new WeakMap<AbortSignal, { watch: AnswerWatch; context: FailureContext }>()
  const models = new Map<string, LanguageModelV4>()
  let makeModel: Promise<(model: string) => LanguageModelV4> | null = null

  const contextOf = (model: string, messages: ModelRequest['messages']): FailureContext => ({
    providerName: access.name,
    model,
    local,
    missingModelFix: driver.missingModelFix?.(model) ?? null,
    apiKey: access.apiKey,
    messages,
    now: clock.now(),
  })

  const fetchForCall: OutboundFetch = async (input, init) => {
    const call = init?.signal ? calls.get(init.signal) : undefined
    if (call === undefined) throw new Error('a model library made a request of its own')
    const response = await deps.fetch(input, { ...init, onBytes: observer(call.watch, call.context) })
    await refuseUnusable(response, call.context, driver.answers ?? ['text/event-stream'])
    return response
  }

  const look = async (url: string, body: unknown, signal: AbortSignal): Promise<unknown> => {
    const over = new AbortController()
    const tooLate = clock.sleep(LOOK_MS, over.signal).then(
      () => over.abort(new Error('too late')),
      () => {},
    )
    try {
      const response = await deps.fetch(url, {
        headers: { accept: 'application/json', ...(access.apiKey === null ? {} : driver.list.headers(access.apiKey)) },
        ...(body === null ? {} : { method: 'POST', body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.any([signal, over.signal]),
      })
      const text = await readText(response, MAX_LIST_BYTES)
      return response.ok ? parsed(text) : null
    } catch {
      signal.throwIfAborted()
      return undefined
    } finally {
      over.abort(new Error('done'))
      await tooLate
    }
  }

  const memoryBytes = local ? (deps.memoryBytes ?? totalmem()) : null
  const driverAccess: DriverAccess = { baseUrl, apiKey: access.apiKey, fetch: fetchForCall, look, memoryBytes }

  const modelFor = async (id: string): Promise<LanguageModelV4> => {
    let model = models.get(id)
    if (model !== undefined) return model
    makeModel ??= driver.load(driverAccess)
    model = (await makeModel)(id)
    models.set(id, model)
    return model
  }

  const missingPart = (): ModelFailure | null => {
    if (baseUrl === '') return failure('bad_request', `${access.name} has no address. Set its base URL in Models & keys.`)
    if (driver.needsKey && access.apiKey === null) return failure('auth', `${access.name} has no key yet. Add it in Models & keys.`)
    if (access.apiKey !== null && !/^[\x21-\x7e]+$/.test(access.apiKey)) {
      return failure('auth', `The key of ${access.name} holds characters that no key has. Paste it again in Models & keys.`)
    }
    return null
  }

  const failureOf = (thrown: unknown, context: FailureContext): ModelFailure => {
    if (thrown instanceof Stalled) return stalledFailure(thrown, context)
    const outbound = findCause(thrown, OutboundError)
    if (outbound !== null) return failureFromOutbound(context, outbound)
    return findTrouble(thrown) ?? failureFromStreamError(context, thrown)
  }

  return {
    async *stream(request, signal) {
      signal.throwIfAborted()
      const missing = missingPart()
      if (missing !== null) return yield { type: 'failed', failure: missing, usage: null }

      const context = contextOf(request.model, request.messages)
      const watch = watchAnswer(clock, timeouts, signal)
      calls.set(watch.signal, { watch, context })
      let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | null = null
      const reply = new Reply()
      try {
        const model = await modelFor(request.model)
        const options = {
          prompt: toProviderPrompt(request.messages),
          tools: request.tools.length > 0 ? toProviderTools(request.tools) : undefined,
          maxOutputTokens: request.maxOutputTokens ?? undefined,
          abortSignal: watch.signal,
        }
        const { stream } = await model.doStream(driver.shape?.(options, request) ?? options)
        reader = stream.getReader()
        for (;;) {
          const { done, value: part } = await reader.read()
          if (done) break
          if (part.type === 'error') {
            if (driver.isHarmless?.(part.error) === true) continue
            throw part.error
          }
          const event = reply.take(part)
          if (event !== null) yield event
        }
      } catch (thrown) {
        if (signal.aborted) throw signal.reason
        const reason: unknown = watch.signal.aborted ? watch.signal.reason : thrown
        yield { type: 'failed', failure: failureOf(reason, context), usage: reply.usage }
        return
      } finally {
        watch.end()
        // A library that gave up on the answer may have left it open; this hangs up whatever is left.
        watch.abort(new Error('the call is over'))
        reader?.cancel().catch(() => {})
      }
      signal.throwIfAborted()
      yield* reply.end(access.name)
    },

    async readWindow(model, signal) {
      if (driver.readWindow === undefined || missingPart() !== null) return null
      return driver.readWindow(await modelFor(model), signal, driverAccess)
    },

    async listModels(signal) {
      const missing = missingPart()
      if (missing !== null) throw new AppError('provider_refused', missing.message)
      const context = contextOf('', [])
      const watch = watchAnswer(clock, timeouts, signal)
      try {
        const response = await deps.fetch(driver.list.url(baseUrl), {
          headers: { accept: 'application/json', ...(access.apiKey === null ? {} : driver.list.headers(access.apiKey)) },
          signal: watch.signal,
        })
        await refuseUnusable(response, context, ['application/json'])
        return readList(driver, await readText(response, MAX_LIST_BYTES), access.name)
      } catch (thrown) {
        if (signal.aborted) throw signal.reason
        if (thrown instanceof AppError) throw thrown
        const reason: unknown = watch.signal.aborted ? watch.signal.reason : thrown
        throw new AppError('provider_refused', listFailureOf(failureOf(reason, context), access.name).message, { cause: thrown })
      } finally {
        watch.end()
      }
    },
  }
}

/** What is known of the reply while it comes in. */
class Reply {
  usage: Usage | null = null
  #finish: LanguageModelV4FinishReason | null = null
  #calls: { id: string; name: string; input: string }[] = []
  #endedInCall = false

  /** Text goes out at once; tool calls wait for the end, because only a reply that ended well has whole ones. */
  take(part: LanguageModelV4StreamPart): ModelEvent | null {
    switch (part.type) {
      case 'text-delta':
        if (part.delta === '') return null
        this.#endedInCall = false
        return { type: 'text', text: part.delta }
      case 'reasoning-delta':
        return part.delta === '' ? null : { type: 'reasoning', text: part.delta }
      case 'tool-call':
        if (part.providerExecuted === true) return null
        this.#calls.push({ id: part.toolCallId, name: part.toolName, input: part.input })
        this.#endedInCall = true
        return null
      case 'finish':
        this.#finish = part.finishReason
        this.usage = readUsage(part.usage)
        return null
      default:
        return null
    }
  }

  *end(providerName: string): Iterable<ModelEvent> {
    const finish = this.#finish
    if (finish === null || finish.unified === 'interrupted' || finish.unified === 'error') {
      yield { type: 'failed', failure: failure('network', `The answer of ${providerName} broke off before its end.`), usage: this.usage }
      return
    }
    const endedWell = finish.unified === 'stop' || finish.unified === 'tool-calls'
    // The token limit cuts wherever it falls: the call that was being written may look whole and not be.
    const calls = finish.unified === 'length' && this.#endedInCall ? this.#calls.slice(0, -1) : this.#calls
    const ids = new Set<string>()
    for (const call of calls) {
      const args = parseArgs(call.input)
      if (!args.valid && !endedWell) continue
      yield { type: 'tool_call', callId: uniqueId(call.id, ids), name: call.name, args: args.value, argsValid: args.valid }
    }
    yield { type: 'finish', reason: reasonOf(finish, ids.size > 0), usage: this.usage }
  }
}

function reasonOf(finish: LanguageModelV4FinishReason, hasCalls: boolean): Extract<ModelEvent, { type: 'finish' }>['reason'] {
  switch (finish.unified) {
    case 'length':
      return 'length'
    case 'content-filter':
      return 'content_filter'
    case 'tool-calls':
      return 'tool_calls'
    case 'stop':
      // Many local servers say "stop" after tool calls.
      return hasCalls ? 'tool_calls' : 'stop'
    default:
      return 'other'
  }
}

function uniqueId(id: string, taken: Set<string>): string {
  const base = id.trim() === '' ? 'call' : id
  let unique = base
  for (let n = 2; taken.has(unique); n++) unique = `${base}_${n}`
  taken.add(unique)
  return unique
}

/** Small models leave arguments out, or write the JSON object as a JSON string; both are meant as an object. */
function parseArgs(input: string): { value: unknown; valid: boolean } {
  if (input.trim() === '') return { value: {}, valid: true }
  try {
    const value: unknown = JSON.parse(input)
    if (typeof value !== 'string') return { value, valid: true }
    const inner: unknown = JSON.parse(value)
    return typeof inner === 'object' && inner !== null ? { value: inner, valid: true } : { value: input, valid: false }
  } catch {
    return { value: input, valid: false }
  }
}

/** null: the provider sent no numbers, or numbers that cannot be. The libraries count cached tokens into the input. */
function readUsage(usage: LanguageModelV4Usage): Usage | null {
  const input = usage.inputTokens.total
  const output = usage.outputTokens.total
  if (!isBelievable(input) || !isBelievable(output) || input === 0) return null
  const cached = usage.inputTokens.cacheRead ?? 0
  const cacheWrite = usage.inputTokens.cacheWrite ?? 0
  if (!isBelievable(cached) || !isBelievable(cacheWrite) || cached + cacheWrite > input) return null
  return cacheWrite > 0 ? { input, output, cached, cacheWrite } : { input, output, cached }
}

function isBelievable(tokens: number | undefined): tokens is number {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= MAX_BELIEVABLE_TOKENS
}

/** Throws a ModelTrouble for an answer that is an error, a redirect, or no answer of a model server at all. */
async function refuseUnusable(response: Response, context: FailureContext, expected: readonly string[]): Promise<void> {
  if (!response.ok) {
    const body = await readText(response, MAX_ERROR_BODY_BYTES)
    throw new ModelTrouble(failureFromStatus(context, response.status, response.headers, body))
  }
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  // Some servers name no type or a vague one for what is a stream all the same.
  if (expected.includes(type) || type === '' || type === 'application/octet-stream' || type === 'text/plain') return
  const body = await readText(response, MAX_ERROR_BODY_BYTES)
  const inBody = type === 'application/json' ? errorInBody(body, response, context) : null
  if (inBody !== null) throw new ModelTrouble(inBody)
  const what = type === 'text/html' ? 'a web page' : `“${type.slice(0, 80)}”`
  throw new ModelTrouble(
    failure(
      'bad_answer',
      `${context.providerName} answered with ${what} instead of a model’s answer. Check its base URL in Models & keys.`,
      {
        status: response.status,
        retryable: type !== 'text/html',
      },
    ),
  )
}

/** Some gateways report an error with status 200. */
function errorInBody(body: string, response: Response, context: FailureContext): ModelFailure | null {
  try {
    const parsed = JSON.parse(body) as { error?: unknown } | null
    if (typeof parsed !== 'object' || parsed === null || !parsed.error) return null
    return { ...failureFromStreamError(context, parsed), status: response.status }
  } catch {
    return null
  }
}

function observer(watch: AnswerWatch, context: FailureContext): (count: number) => void {
  let bytes = 0
  return (count) => {
    watch.touch()
    bytes += count
    if (bytes <= MAX_ANSWER_BYTES) return
    throw new ModelTrouble(failure('bad_answer', `${context.providerName} sent an answer without end.`, { retryable: false }))
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return ''
  const reader = response.body.getReader()
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    while (bytes < maxBytes) {
      const { done, value } = await reader.read()
      if (done) break
      pieces.push(value)
      bytes += value.byteLength
    }
  } finally {
    reader.cancel().catch(() => {})
  }
  return Buffer.concat(pieces).subarray(0, maxBytes).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function readList(driver: ProviderDriver, text: string, providerName: string): ListedModel[] {
  try {
    return driver.list.read(JSON.parse(text))
  } catch (cause) {
    throw new AppError(
      'provider_refused',
      `${providerName} sent a list of models that cannot be read. Check its base URL in Models & keys.`,
      { cause },
    )
  }
}

/** A list has no model that could be missing: 404 means a wrong address. */
function listFailureOf(found: ModelFailure, providerName: string): ModelFailure {
  if (found.kind !== 'not_found') return found
  return { ...found, message: `${providerName} has no list of models at this address. Check its base URL in Models & keys.` }
}

function stalledFailure(stalled: Stalled, context: FailureContext): ModelFailure {
  const seconds = Math.round(stalled.afterMs / 1000)
  const { providerName: name, local } = context
  if (stalled.began) return failure('timeout', `${name} fell silent in the middle of its answer (${seconds} s without a word).`)
  return failure('timeout', `${name} did not begin to answer within ${seconds} s.${local ? ' A large model may still be loading.' : ''}`)
}

function findCause<T extends Error>(thrown: unknown, type: new (...args: never[]) => T): T | null {
  const seen = new Set<unknown>()
  for (let current = thrown; current instanceof Error && !seen.has(current); current = current.cause) {
    if (current instanceof type) return current
    seen.add(current)
  }
  return null
}
