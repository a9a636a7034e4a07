import { totalmem } from 'node:os'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { OutboundError, type OutboundFetch } from '../../platform/net/outbound.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { normalizeBaseUrl, runsOnThisMachine } from './base-url.ts'
import { boundEvents } from './event-limits.ts'
import { type FailureContext, failure, failureFromOutbound, failureFromStreamError, findCause, ModelCallError } from './failures.ts'
import { getJson, readText } from './get-json.ts'
import { IncomingReply } from './incoming-reply.ts'
import { choosableModels } from './listed-models.ts'
import {
  withoutSent,
  type ListedModel,
  type ModelAdapter,
  type ModelEvent,
  type ModelFailure,
  type ModelRequest,
  type PromptMessage,
  type ProviderAccess,
  type SentReply,
} from './model.ts'
import type { DriverAccess, ProviderDriver } from './provider-driver.ts'
import { type ReturnRules, toProviderPrompt, toProviderTools } from './provider-prompt.ts'
import { countBytes, endlessReply, refuseUnusable } from './response-checks.ts'
import { type ResponseWatch, Stalled, watchResponse } from './response-timeouts.ts'

export type AdapterDeps = { fetch: OutboundFetch; clock: Clock; memoryBytes?: number }

const MAX_LIST_BYTES = 16_777_216
const FACTS_TIMEOUT_MS = 5_000

/** A provider with its key and address, and its library. */
type Connection = ReturnType<typeof connect>

/**
 * The adapter of every provider on the network. The provider's library speaks its protocol. What is common to all is here:
 * time limits, failures, and what can be trusted in a response.
 */
export function createProviderAdapter(driver: ProviderDriver, access: ProviderAccess, deps: AdapterDeps): ModelAdapter {
  const connection = connect(driver, access, deps)
  const startReply = createReplyStarter(connection)
  return {
    stream: (request, signal) => streamReply(connection, startReply, request, signal),
    async readWindow(model, signal) {
      if (driver.readWindow === undefined || findMissing(connection) !== null) return null
      return driver.readWindow(await connection.modelFor(model), signal, connection.driverAccess)
    },
    listModels: (signal) => listModels(connection, signal),
  }
}

function connect(driver: ProviderDriver, access: ProviderAccess, deps: AdapterDeps) {
  const baseUrl = normalizeBaseUrl(access.baseUrl ?? driver.defaultBaseUrl ?? '', driver.apiPath)
  const local = runsOnThisMachine(baseUrl)
  const authHeaders = access.apiKey === null ? {} : driver.list.headers(access.apiKey)
  /** The library has one `fetch` per provider, so it finds the call by its signal. */
  const calls = new WeakMap<AbortSignal, { watch: ResponseWatch; context: FailureContext }>()
  const models = new Map<string, LanguageModelV4>()
  let makeModel: Promise<(model: string) => LanguageModelV4> | null = null

  const fetchForCall: OutboundFetch = async (input, init) => {
    const call = init?.signal ? calls.get(init.signal) : undefined
    if (call === undefined) throw new Error('a model library made a request of its own')
    const { watch, context } = call
    const response = await deps.fetch(input, { ...init, onBytes: countBytes(watch, context) })
    await refuseUnusable(response, context, driver.contentTypes ?? ['text/event-stream'])
    return boundEvents(response, driver.contentTypes === undefined ? 'events' : 'lines', () => endlessReply(context))
  }
  const driverAccess: DriverAccess = {
    baseUrl,
    apiKey: access.apiKey,
    fetch: fetchForCall,
    memoryBytes: local ? (deps.memoryBytes ?? totalmem()) : null,
    getJson: (url, signal, body) => getJson(deps, url, { headers: authHeaders, body, timeoutMs: FACTS_TIMEOUT_MS, signal }),
  }
  return {
    driver,
    access,
    driverAccess,
    authHeaders,
    deps,
    calls,
    server: URL.canParse(baseUrl) ? new URL(baseUrl).origin : '',
    contextOf: (model: string, messages: ModelRequest['messages']): FailureContext => ({
      providerName: access.name,
      model,
      local,
      ownAddress: access.baseUrl === null,
      apiKey: access.apiKey,
      messages,
      getModelCommand: driver.getModelCommand?.(model) ?? null,
      now: deps.clock.now(),
    }),
    async modelFor(id: string): Promise<LanguageModelV4> {
      let model = models.get(id)
      if (model === undefined) models.set(id, (model = (await (makeModel ??= driver.load(driverAccess)))(id)))
      return model
    },
  }
}

/** The setting that a person still has to enter or correct. null: none. */
function findMissing({ driver, access, driverAccess }: Connection): ModelFailure | null {
  const provider = access.name
  if (driverAccess.baseUrl === '') return failure('bad_request', createMessage('model_no_address', { provider }))
  if (driver.needsKey && access.apiKey === null) return failure('auth', createMessage('model_no_key', { provider }))
  if (access.apiKey !== null && !/^[\x21-\x7e]+$/.test(access.apiKey)) return failure('auth', createMessage('model_odd_key', { provider }))
  return null
}

type StartReply = (request: ModelRequest, signal: AbortSignal) => Promise<ReadableStream<LanguageModelV4StreamPart>>

/** If the provider refuses what went back with earlier replies, the call is repeated once without it, or with what it requires. */
function createReplyStarter({ driver, modelFor }: Connection): StartReply {
  /** Replies whose thinking the provider refused: it is from another account, or of a conversation that has changed. */
  const refusedThinking = new WeakSet<SentReply>()
  /** By model: fields that it requires in every reply with tool calls, even by another model. */
  const requiredFields = new Map<string, Set<string>>()
  /** Models that require short ids, even of the calls of another model. */
  const modelsWithShortIds = new Set<string>()

  return async (request, signal) => {
    const model = await modelFor(request.model)
    const ask = async () => {
      const returns: ReturnRules = {
        rules: driver.thinking,
        refusedThinking,
        requiredFields: requiredFields.get(request.model) ?? new Set(),
        shortIds: modelsWithShortIds.has(request.model),
      }
      const options = {
        prompt: toProviderPrompt(request.messages, returns),
        tools: request.tools.length > 0 ? toProviderTools(request.tools) : undefined,
        maxOutputTokens: request.maxOutputTokens ?? undefined,
        abortSignal: signal,
      }
      return (await model.doStream(driver.shape?.(options, request) ?? options)).stream
    }
    try {
      return await ask()
    } catch (thrown) {
      const requires = findCause(thrown, ModelCallError)?.failure.requires
      if (requires === undefined) throw thrown
      if (requires === 'no_thinking') {
        const sent = request.messages.flatMap((message) => (message.role === 'assistant' && message.sent ? [message.sent] : []))
        if (sent.every((reply) => refusedThinking.has(reply))) throw thrown
        for (const reply of sent) refusedThinking.add(reply)
      } else if (requires === 'short_ids') {
        modelsWithShortIds.add(request.model)
      } else {
        if (driver.thinking.finish === undefined) throw thrown
        requiredFields.set(request.model, new Set([...(requiredFields.get(request.model) ?? []), requires]))
      }
      return ask()
    }
  }
}

async function* streamReply(
  connection: Connection,
  startReply: StartReply,
  fullRequest: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { driver, access, calls, deps, server } = connection
  const request = { ...fullRequest, messages: fullRequest.messages.map((message) => forServer(message, server)) }
  signal.throwIfAborted()
  const missing = findMissing(connection)
  if (missing !== null) return yield { type: 'failed', failure: missing, usage: null }

  const context = connection.contextOf(request.model, request.messages)
  const watch = watchResponse(deps.clock, signal)
  calls.set(watch.signal, { watch, context })
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | null = null
  const reply = new IncomingReply(driver.thinking)
  try {
    reader = (await startReply(request, watch.signal)).getReader()
    for (;;) {
      const { done, value: part } = await reader.read()
      if (done) break
      if (part.type === 'error') {
        if (driver.isHarmless?.(part.error) === true) continue
        throw part.error
      }
      for (const event of reply.take(part)) {
        watch.touchContent()
        yield event
      }
    }
  } catch (thrown) {
    if (signal.aborted) throw signal.reason
    yield { type: 'failed', failure: failureOf(thrown, watch, context), usage: reply.usage }
    return
  } finally {
    // A library that gave up on the response may have left the connection open.
    watch.end()
    reader?.cancel().catch(() => {})
  }
  signal.throwIfAborted()
  for (const event of reply.end(access.name))
    yield event.type === 'finish' && event.sent !== undefined ? { ...event, sent: { ...event.sent, server } } : event
}

/** Another server gets no more than another model would. */
function forServer(message: PromptMessage, server: string): PromptMessage {
  return message.role === 'assistant' && message.sent?.server === server ? message : withoutSent(message)
}

/** Throws AppError('provider_refused'). */
async function listModels(connection: Connection, signal: AbortSignal): Promise<ListedModel[]> {
  const { driver, access, driverAccess, authHeaders, deps } = connection
  const missing = findMissing(connection)
  if (missing !== null) throw new AppError('provider_refused', missing.message)
  const context = connection.contextOf('', [])
  const watch = watchResponse(deps.clock, signal)
  try {
    const headers = { accept: 'application/json', ...authHeaders }
    const response = await deps.fetch(driver.list.url(driverAccess.baseUrl), { headers, signal: watch.signal })
    await refuseUnusable(response, context, ['application/json'])
    return readList(driver, await readText(response, MAX_LIST_BYTES), access.name)
  } catch (thrown) {
    if (signal.aborted) throw signal.reason
    if (thrown instanceof AppError) throw thrown
    const { kind, message } = failureOf(thrown, watch, context)
    // For a list, 404 means a wrong address.
    const problem = kind === 'not_found' ? createMessage('model_no_list', { provider: access.name }) : message
    throw new AppError('provider_refused', problem, { cause: thrown })
  } finally {
    watch.end()
  }
}

function readList(driver: ProviderDriver, text: string, provider: string): ListedModel[] {
  try {
    return choosableModels(driver.list.read(JSON.parse(text)))
  } catch (cause) {
    throw new AppError('provider_refused', createMessage('model_list_unreadable', { provider }), { cause })
  }
}

function failureOf(thrown: unknown, { signal }: ResponseWatch, context: FailureContext): ModelFailure {
  const reason: unknown = signal.aborted ? signal.reason : thrown
  if (reason instanceof Stalled) {
    const seconds = Math.round(reason.afterMs / 1000)
    const code = reason.began ? 'model_silent' : context.local ? 'model_still_loading' : 'model_no_beginning'
    return failure('timeout', createMessage(code, { provider: context.providerName, seconds }))
  }
  const outbound = findCause(reason, OutboundError)
  return outbound === null ? failureFromStreamError(context, reason) : failureFromOutbound(context, outbound)
}
