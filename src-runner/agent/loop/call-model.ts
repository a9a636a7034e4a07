import type { Message } from '../../contract/messages.ts'
import type { ModelRef } from '../../contract/agents.ts'
import { messageOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import {
  withoutSent,
  type KnownPrice,
  type ModelAdapter,
  type ModelEvent,
  type ModelFailure,
  type ModelRequest,
  type OpenedModel,
  type PromptMessage,
  type PromptToolCall,
  type Usage,
} from '../providers/model.ts'
import { orAbort } from './abortable.ts'
import { failedWith, textSoFar, type Attempt } from './attempt.ts'
import { charsOfArgs, charsOfRequest, costOfCall, estimateOfCall, NO_COST, tokensOf, type CallCost } from './cost-of-call.ts'
import { fitRequest, learnFromRefusal, learnFromUsage, tooLongMessage, type FittedRequest } from './fit-prompt.ts'
import type { LoopOutcome } from './loop-types.ts'
import { takeCall } from './normalize-call.ts'
import { giveSignsOfLife } from './signs-of-life.ts'

/** No model writes more in one reply: a longer stream is cut off. */
const MAX_REPLY_CHARS = 2_000_000
/** Calls of one reply that are kept. Those over `MAX_CALLS_PER_REPLY` are answered without running. */
const MAX_CALLS_KEPT = 64
/** With more calls than this the connection is closed. */
const MAX_CALLS_IN_STREAM = 256

/** What a model has written. `callChars` counts the calls as they come in: calls of a reply that breaks off are never complete. */
export type ReplyContent = { text: string; reasoning: string; calls: PromptToolCall[]; droppedCalls: number; callChars: number }
export const EMPTY_REPLY: ReplyContent = { text: '', reasoning: '', calls: [], droppedCalls: 0, callChars: 0 }

type StreamEnd = Extract<ModelEvent, { type: 'finish' | 'failed' }> | 'stopped'

export type CallResult = {
  content: ReplyContent
  /** `limit`: the call was not made, because the budget does not allow it. */
  end: StreamEnd | { type: 'limit'; outcome: LoopOutcome }
  cost: CallCost
  /** The model refused the prompt for its length. */
  refused?: TooLongRefusal
}

export type TooLongRefusal = { tokens: number; failure: ModelFailure }

/**
 * One call to one model. Any trouble with the provider is a `failed` end; only bugs are thrown. Sends nothing unless it
 * is shorter than the prompt that the model refused before.
 */
export async function callModel(
  attempt: Attempt,
  fullRequest: ModelRequest,
  ref: ModelRef,
  unrecordedMicros: number,
  refused: TooLongRefusal | null,
): Promise<CallResult> {
  const { signal, deps } = attempt
  const notCalled = (end: CallResult['end']): CallResult => ({ content: EMPTY_REPLY, end, cost: NO_COST })
  deps.progress.activity('model', null, null)
  const opened = await orAbort(openFitted(attempt, fullRequest, ref), signal).catch((thrown: unknown) => {
    if (signal.aborted) return 'stopped' as const
    throw thrown
  })
  if (opened === 'stopped') return notCalled('stopped')
  if ('failure' in opened) return notCalled({ type: 'failed', failure: opened.failure, usage: null })
  const { fitted, price, providerName } = opened
  const { request } = fitted
  if (refused !== null && fitted.tokens >= refused.tokens) return notCalled({ type: 'failed', failure: refused.failure, usage: null })
  if (fitted.leftOut > 0) deps.progress.activity('model', createMessage('job_shortened', { messages: fitted.leftOut }), null)
  const overBudget = await reserve(attempt, request, price, unrecordedMicros)
  if (overBudget !== null) return notCalled(overBudget)

  const { content, end } = await readReply(attempt, opened.adapter, request, providerName)
  if (end === 'stopped')
    return { content, end, cost: isEmpty(content) ? NO_COST : costOfCall(null, () => estimateFor(request, content), price) }
  const { usage } = end
  if (end.type === 'failed' && end.failure.kind === 'context_too_long' && isEmpty(content)) {
    learnFromRefusal(attempt, ref, fitted, end.failure.tooLong)
    const failure = { ...end.failure, message: tooLongMessage(fitted, ref, providerName) }
    return { content, end: { ...end, failure }, cost: NO_COST, refused: { tokens: fitted.tokens, failure } }
  }
  if (end.type === 'finish' && usage !== null) learnFromUsage(attempt, ref, fitted, usage)
  // Providers do not bill a call that failed before its first word, but they bill one that broke off later.
  if (usage === null && isEmpty(content) && end.type === 'failed') return { content, end, cost: NO_COST }
  return { content, end, cost: costOfCall(usage, () => estimateFor(request, content), price) }
}

function isEmpty({ text, reasoning, calls, callChars }: ReplyContent): boolean {
  return text === '' && reasoning === '' && calls.length === 0 && callChars === 0
}

async function openFitted(
  attempt: Attempt,
  fullRequest: ModelRequest,
  ref: ModelRef,
): Promise<(OpenedModel & { fitted: FittedRequest }) | { failure: ModelFailure }> {
  const opened = await attempt.deps.models.open(ref)
  if ('failure' in opened) return opened
  const messages = fullRequest.messages.map((message) => (isWrittenBy(message, ref) ? message : withoutSent(message)))
  return { ...opened, fitted: await fitRequest(attempt, { ...fullRequest, messages }, ref, opened) }
}

function isWrittenBy(message: PromptMessage, { providerId, model }: ModelRef): boolean {
  return message.role === 'assistant' && message.sent?.model.providerId === providerId && message.sent.model.model === model
}

/** Reserves the money for one call. null: it is reserved, or there is no budget. */
async function reserve(
  attempt: Attempt,
  request: ModelRequest,
  price: KnownPrice | null,
  unrecordedMicros: number,
): Promise<'stopped' | { type: 'limit'; outcome: LoopOutcome } | null> {
  const { budget, clock, progress } = attempt.deps
  if (budget === undefined) return null
  try {
    // It may wait for the calls of other jobs.
    const reserving = () => budget.reserve(estimateOfCall(request, price), unrecordedMicros, attempt.signal)
    const reservation = await giveSignsOfLife({ clock, alive: progress.alive }, reserving)
    if (reservation.reserved) return null
    if ('refused' in reservation) return { type: 'limit', outcome: failedWith(attempt, 'cost_limit', reservation.refused) }
    return { type: 'limit', outcome: { kind: 'waiting', status: reservation.wait, text: textSoFar(attempt) } }
  } catch (thrown) {
    if (attempt.signal.aborted) return 'stopped'
    throw thrown
  }
}

/** Reads the stream to its end, or until the signal aborts, even if the adapter ignores the signal. */
async function readReply(
  attempt: Attempt,
  adapter: ModelAdapter,
  request: ModelRequest,
  providerName: string,
): Promise<{ content: ReplyContent; end: StreamEnd }> {
  const content: ReplyContent = { ...EMPTY_REPLY, calls: [] }
  const readEvent = createEventReader(attempt, content)
  const done = new AbortController()
  const signal = AbortSignal.any([attempt.signal, done.signal])
  const brokenOff = (kind: ModelFailure['kind'], retryable: boolean, message: Message): { content: ReplyContent; end: StreamEnd } => {
    const failure: ModelFailure = { kind, retryable, retryAfterMs: null, status: null, message }
    return { content, end: { type: 'failed', failure, usage: null } }
  }
  let events: AsyncIterator<ModelEvent> | null = null
  try {
    events = adapter.stream(request, signal)[Symbol.asyncIterator]()
    for (;;) {
      const { done: isOver, value: event } = await orAbort(events.next(), attempt.signal)
      if (isOver) return brokenOff('network', true, createMessage('model_broke_off', { provider: providerName }))
      if (event.type === 'finish' || event.type === 'failed') return { content: wellFormed(content), end: event }
      const size = readEvent(event)
      if (size.calls > MAX_CALLS_IN_STREAM) {
        return brokenOff('bad_answer', false, createMessage('model_too_many_calls', { provider: providerName, calls: MAX_CALLS_IN_STREAM }))
      }
      if (size.chars > MAX_REPLY_CHARS) {
        return brokenOff('bad_answer', false, createMessage('model_endless', { provider: providerName }))
      }
    }
  } catch (thrown) {
    if (attempt.signal.aborted) return { content: wellFormed(content), end: 'stopped' }
    return brokenOff('bad_answer', false, createMessage('model_answer_broken', { provider: providerName, words: messageOf(thrown) }))
  } finally {
    done.abort(new Error('the stream is no longer read'))
    events?.return?.()?.catch(() => {})
  }
}

/** Adds events to `content` and returns how much has come in, shown or not. */
function createEventReader({ deps: { progress }, takenIds }: Attempt, content: ReplyContent) {
  const ids = new Set(takenIds)
  const size = { chars: 0, calls: 0 }
  return (event: Exclude<ModelEvent, { type: 'finish' | 'failed' }>): { chars: number; calls: number } => {
    switch (event.type) {
      case 'text':
        content.text += event.text
        size.chars += event.text.length
        if (event.text !== '') progress.delta(event.text)
        break
      case 'reasoning':
        content.reasoning += event.text
        size.chars += event.text.length
        progress.alive()
        break
      case 'call_piece':
        content.callChars += event.chars
        size.chars += event.chars
        if (event.begins) size.calls++
        progress.alive()
        break
      case 'tool_call':
        if (content.calls.length < MAX_CALLS_KEPT) {
          const call = takeCall(event, ids)
          ids.add(call.callId)
          content.calls.push(call)
        } else content.droppedCalls++
    }
    return size
  }
}

/** Half a surrogate pair, from a stream that was cut between two chunks, cannot be stored as UTF-8. */
function wellFormed(content: ReplyContent): ReplyContent {
  return { ...content, text: content.text.toWellFormed(), reasoning: content.reasoning.toWellFormed() }
}

function estimateFor(request: ModelRequest, { text, reasoning, calls, callChars }: ReplyContent): Usage {
  const complete = calls.reduce((sum, call) => sum + call.name.length + charsOfArgs(call.args), 0)
  const written = text.length + reasoning.length + Math.max(callChars, complete)
  return { input: tokensOf(charsOfRequest(request)), output: tokensOf(written), cached: 0 }
}
