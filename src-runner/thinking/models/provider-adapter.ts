import { totalmem } from 'node:os'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { OutboundError, type OutboundFetch } from '../../base/net/outbound.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import { say } from '../../kit/said.ts'
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
import type { ListedModel, ModelAdapter, ModelFailure, ModelRequest, ProviderAccess, SentReply } from './model.ts'
import { normalizeBaseUrl, runsOnThisMachine } from './base-url.ts'
import { boundEvents } from './event-bounds.ts'
import type { DriverAccess, ProviderDriver } from './provider-driver.ts'
import { toProviderPrompt, toProviderTools } from './provider-prompt.ts'
import { IncomingReply } from './incoming-reply.ts'

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
    return boundEvents(response, driver.answers === undefined ? 'events' : 'lines', () => endless(call.context))
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

  /** Thinking that its provider did not want back: of another account by now, or of a conversation that changed. */
  const unwanted = new WeakSet<SentReply>()
  /** Fields that a model wants to see in every reply that called tools, whoever wrote it. */
  const missed = new Map<string, Set<string>>()

  /** Asks the model. A refusal for what went back with earlier replies is followed once: with less of it, or with more. */
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
      const wants = findTrouble(thrown)?.wants
      const sent = request.messages.flatMap((message) => (message.role === 'assistant' && message.sent !== undefined ? [message.sent] : []))
      if (wants === undefined || (wants === 'no_thinking' ? !sent.some((one) => !unwanted.has(one)) : driver.thinking.finish === undefined))
        throw thrown
      if (wants === 'no_thinking') for (const one of sent) unwanted.add(one)
      else missed.set(request.model, new Set([...(missed.get(request.model) ?? []), wants]))
      return ask()
    }
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
    throw endless(context)
  }
}

function endless({ providerName }: FailureContext): ModelTrouble {
  return new ModelTrouble(failure('bad_answer', say('model_endless', { provider: providerName }), { retryable: false }))
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
