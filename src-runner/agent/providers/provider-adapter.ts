import { totalmem } from 'node:os'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { OutboundError, type OutboundFetch } from '../../platform/net/outbound.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { type AnswerTimeouts, type AnswerWatch, DEFAULT_ANSWER_TIMEOUTS, Stalled, watchAnswer } from './response-timeouts.ts'
import {
  type FailureContext,
  failure,
  failureFromOutbound,
  failureFromStatus,
  failureFromStreamError,
  findCause,
  ModelTrouble,
} from './failures.ts'
import type { ListedModel, ModelAdapter, ModelFailure, ModelRequest, ProviderAccess, SentReply } from './model.ts'
import { normalizeBaseUrl, runsOnThisMachine } from './base-url.ts'
import { boundEvents } from './event-limits.ts'
import { getJson, readText } from './get-json.ts'
import type { DriverAccess, ProviderDriver } from './provider-driver.ts'
import { toProviderPrompt, toProviderTools } from './provider-prompt.ts'
import { IncomingReply } from './incoming-reply.ts'

export type AdapterDeps = {
  fetch: OutboundFetch
  clock: Clock
  timeouts?: AnswerTimeouts
  memoryBytes?: number
}

const MAX_ERROR_BODY_BYTES = 65_536
const MAX_LIST_BYTES = 16_777_216
const FACTS_TIMEOUT_MS = 5_000
/** No model answers this much: a longer stream is cut off. */
const MAX_ANSWER_BYTES = 67_108_864

/**
 * The adapter of every provider on the network. The provider's library speaks its protocol. What is common to all is here:
 * time limits, failures, and what can be trusted in an answer.
 */
export function createProviderAdapter(driver: ProviderDriver, access: ProviderAccess, deps: AdapterDeps): ModelAdapter {
  const { clock, timeouts = DEFAULT_ANSWER_TIMEOUTS } = deps
  const baseUrl = normalizeBaseUrl(access.baseUrl ?? driver.defaultBaseUrl ?? '', driver.apiPath)
  const local = runsOnThisMachine(baseUrl)
  /** A library has one `fetch` per provider, so the call is found by its signal. */
  const calls = new WeakMap<AbortSignal, { watch: AnswerWatch; context: FailureContext }>()
  const models = new Map<string, LanguageModelV4>()
  let makeModel: Promise<(model: string) => LanguageModelV4> | null = null

  const contextOf = (model: string, messages: ModelRequest['messages']): FailureContext => ({
    providerName: access.name,
    model,
    local,
    getModelCommand: driver.getModelCommand?.(model) ?? null,
    apiKey: access.apiKey,
    messages,
    now: clock.now(),
  })

  const fetchForCall: OutboundFetch = async (input, init) => {
    const call = init?.signal ? calls.get(init.signal) : undefined
    if (call === undefined) throw new Error('a model library made a request of its own')
    const response = await deps.fetch(input, { ...init, onBytes: observer(call.watch, call.context) })
    await refuseUnusable(response, call.context, driver.answers ?? ['text/event-stream'])
    return boundEvents(response, driver.answers === undefined ? 'events' : 'lines', () => endless(call.context))
  }

  const authHeaders = access.apiKey === null ? {} : driver.list.headers(access.apiKey)
  const memoryBytes = local ? (deps.memoryBytes ?? totalmem()) : null
  const driverAccess: DriverAccess = {
    ...{ baseUrl, apiKey: access.apiKey, fetch: fetchForCall, memoryBytes },
    getJson: (url, signal, body) => getJson(deps, url, { headers: authHeaders, body, timeoutMs: FACTS_TIMEOUT_MS, signal }),
  }

  const modelFor = async (id: string): Promise<LanguageModelV4> => {
    let model = models.get(id)
    if (model !== undefined) return model
    makeModel ??= driver.load(driverAccess)
    model = (await makeModel)(id)
    models.set(id, model)
    return model
  }

  /** Thinking that the provider refused: it is from another account, or of a conversation that has changed. */
  const unwanted = new WeakSet<SentReply>()
  /** Fields that a model requires in every reply with tool calls, even by another model. */
  const missed = new Map<string, Set<string>>()

  /** If the provider refuses what went back with earlier replies, it is asked once more with less, or with what it misses. */
  const begin = async (request: ModelRequest, signal: AbortSignal): Promise<ReadableStream<LanguageModelV4StreamPart>> => {
    const model = await modelFor(request.model)
    const ask = async () => {
      const misses = missed.get(request.model) ?? new Set<string>()
      const options = {
        prompt: toProviderPrompt(request.messages, { rules: driver.thinking, unwanted, misses }),
        tools: request.tools.length > 0 ? toProviderTools(request.tools) : undefined,
        maxOutputTokens: request.maxOutputTokens ?? undefined,
        abortSignal: signal,
      }
      return (await model.doStream(driver.shape?.(options, request) ?? options)).stream
    }
    try {
      return await ask()
    } catch (thrown) {
      const wants = findCause(thrown, ModelTrouble)?.failure.wants
      const sent = request.messages.flatMap((message) => (message.role === 'assistant' && message.sent !== undefined ? [message.sent] : []))
      if (wants === undefined || (wants === 'no_thinking' ? !sent.some((one) => !unwanted.has(one)) : driver.thinking.finish === undefined))
        throw thrown
      if (wants === 'no_thinking') for (const one of sent) unwanted.add(one)
      else missed.set(request.model, new Set([...(missed.get(request.model) ?? []), wants]))
      return ask()
    }
  }

  const missingPart = (): ModelFailure | null => {
    if (baseUrl === '') return failure('bad_request', createMessage('model_no_address', { provider: access.name }))
    if (driver.needsKey && access.apiKey === null) return failure('auth', createMessage('model_no_key', { provider: access.name }))
    if (access.apiKey !== null && !/^[\x21-\x7e]+$/.test(access.apiKey)) {
      return failure('auth', createMessage('model_odd_key', { provider: access.name }))
    }
    return null
  }

  const failureOf = (thrown: unknown, context: FailureContext): ModelFailure => {
    if (thrown instanceof Stalled) return stalledFailure(thrown, context)
    const outbound = findCause(thrown, OutboundError)
    if (outbound !== null) return failureFromOutbound(context, outbound)
    return findCause(thrown, ModelTrouble)?.failure ?? failureFromStreamError(context, thrown)
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
      const reply = new IncomingReply(driver.thinking)
      try {
        const stream = await begin(request, watch.signal)
        reader = stream.getReader()
        for (;;) {
          const { done, value: part } = await reader.read()
          if (done) break
          if (part.type === 'error') {
            if (driver.isHarmless?.(part.error) === true) continue
            throw part.error
          }
          yield* reply.take(part)
        }
      } catch (thrown) {
        if (signal.aborted) throw signal.reason
        const reason: unknown = watch.signal.aborted ? watch.signal.reason : thrown
        yield { type: 'failed', failure: failureOf(reason, context), usage: reply.usage }
        return
      } finally {
        watch.end()
        // A library that gave up on the answer may have left the connection open.
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
          headers: { accept: 'application/json', ...authHeaders },
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

/** Throws ModelTrouble if the response is an error, a redirect, or not from a model server. */
async function refuseUnusable(response: Response, context: FailureContext, expected: readonly string[]): Promise<void> {
  if (!response.ok) {
    const body = await readText(response, MAX_ERROR_BODY_BYTES)
    throw new ModelTrouble(failureFromStatus(context, response.status, response.headers, body))
  }
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  // Some servers send a stream with no type or a vague one.
  if (expected.includes(type) || type === '' || type === 'application/octet-stream' || type === 'text/plain') return
  const body = await readText(response, MAX_ERROR_BODY_BYTES)
  const inBody = type === 'application/json' ? errorInBody(body, response, context) : null
  if (inBody !== null) throw new ModelTrouble(inBody)
  const provider = context.providerName
  const isPage = type === 'text/html'
  const problem = isPage
    ? createMessage('model_no_model_server', { provider })
    : createMessage('model_wrong_answer', { provider, type: type.slice(0, 80) })
  throw new ModelTrouble(failure('bad_answer', problem, { status: response.status, retryable: !isPage }))
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
    throw endless(context)
  }
}

function endless({ providerName }: FailureContext): ModelTrouble {
  return new ModelTrouble(failure('bad_answer', createMessage('model_endless', { provider: providerName }), { retryable: false }))
}

function readList(driver: ProviderDriver, text: string, providerName: string): ListedModel[] {
  try {
    return driver.list.read(JSON.parse(text))
  } catch (cause) {
    throw new AppError('provider_refused', createMessage('model_list_unreadable', { provider: providerName }), { cause })
  }
}

/** For a list, 404 means a wrong address. */
function listFailureOf(found: ModelFailure, providerName: string): ModelFailure {
  if (found.kind !== 'not_found') return found
  return { ...found, message: createMessage('model_no_list', { provider: providerName }) }
}

function stalledFailure(stalled: Stalled, context: FailureContext): ModelFailure {
  const seconds = Math.round(stalled.afterMs / 1000)
  const code = stalled.began ? 'model_silent' : context.local ? 'model_still_loading' : 'model_no_beginning'
  return failure('timeout', createMessage(code, { provider: context.providerName, seconds }))
}
