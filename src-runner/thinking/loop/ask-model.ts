import type { ModelRef } from '../../contract/agents.ts'
import type { JobErrorCode } from '../../contract/errors.ts'
import { messageOf } from '../../kit/errors.ts'
import { say } from '../../kit/said.ts'
import {
  type KnownPrice,
  type ModelAdapter,
  type ModelEvent,
  type ModelFailure,
  type ModelRequest,
  type OpenedModel,
  type PromptMessage,
  type PromptToolCall,
  type ReplyParts,
  type Usage,
  withoutSent,
} from '../models/model.ts'
import { orAbort } from './abortable.ts'
import { failedWith, limitReached, saidSoFar, type Attempt } from './attempt.ts'
import { addCosts, charsOfArgs, charsOfRequest, costOfCall, estimateOfCall, NO_COST, tokensOf, type CallCost } from './cost-of-call.ts'
import { fitRequest, learnFromRefusal, learnFromUsage, tooLongSentence, type FittedRequest } from './fit-prompt.ts'
import type { LoopEnding } from './loop-types.ts'
import { takeCall } from './take-call.ts'

export const TRIES_PER_MODEL = 5
/** A model that says nothing is not waited for a third time while the job holds a slot. */
export const SILENT_TRIES = 2
/** What a job waits for that no model answered, in turn: then it fails. */
const SILENCE_WAITS_MS = [30_000, 60_000, 120_000]
/** A keychain is unlocked by a person, who may be away for a day. */
const KEYCHAIN_WAIT_MS = 60_000
const KEYCHAIN_WAITS = 1_440
export const MAX_RETRY_AFTER_MS = 10 * 60_000
/** A wait longer than this is not waited for while another model of the list is still untried. */
const LONG_WAIT_MS = 60_000
/** How often a model that refused a prompt for its length is asked once more, each time with much less of it. */
export const SHORTER_TRIES = 2
const FIRST_WAIT_MS = 2_000
const LONGEST_WAIT_MS = 60_000
/** More than any model writes in one reply; a stream that goes on regardless is cut off. */
const MAX_REPLY_CHARS = 2_000_000
/** Calls of one reply that are kept at all. Those over `MAX_CALLS_PER_REPLY` are answered without being run. */
const MAX_CALLS_KEPT = 64
/** More than any model means to make at once: here the connection is closed. */
export const MAX_CALLS_IN_ANSWER = 256

export type Said = { text: string; reasoning: string; calls: PromptToolCall[]; droppedCalls: number }

export type Answer =
  | {
      outcome: 'reply'
      said: Said
      reason: Extract<ModelEvent, { type: 'finish' }>['reason']
      model: ModelRef
      cost: CallCost
      sent?: ReplyParts | undefined
    }
  /** `said` is what was shown of the call that broke off; its calls are not to be run. */
  | { outcome: 'failed'; said: Said; model: ModelRef; cost: CallCost; error: JobErrorCode; message: string }
  | { outcome: 'stopped'; said: Said; model: ModelRef; cost: CallCost }
  | { outcome: 'limit'; ending: LoopEnding; model: ModelRef; cost: CallCost }

const NOTHING_SAID: Said = { text: '', reasoning: '', calls: [], droppedCalls: 0 }

/**
 * One reply, whatever it takes: tries a model again while its failure may pass, then goes on to the next of the list.
 * `spent` is what calls for this same reply had cost before; the answer's cost includes it.
 */
export async function askModel(attempt: Attempt, request: Omit<ModelRequest, 'model'>, spent: CallCost): Promise<Answer> {
  const { models } = attempt.input
  const failures: { failure: ModelFailure; tries: number }[] = []
  let cost = spent
  let last: { said: Said; model: ModelRef } = { said: NOTHING_SAID, model: models[attempt.modelIndex]! }
  for (let turn = 0; turn < models.length; turn++) {
    const index = (attempt.modelIndex + turn) % models.length
    const model = models[index]!
    const isLastModel = turn === models.length - 1
    let shorterTries = 0
    let refused: Refused | null = null
    for (let tries = 1; ; tries++) {
      const ending = limitReached(attempt)
      if (ending !== null && !attempt.signal.aborted) return { outcome: 'limit', ending, model, cost }
      if (last.said.text !== '') attempt.deps.progress.reset()
      const heard: Heard = await callOnce(attempt, { ...request, model: model.model }, model, cost.costMicros, refused)
      cost = addCosts(cost, heard.cost)
      attempt.used.costMicros += heard.cost.costMicros
      last = { said: heard.said, model }
      if (heard.end === 'stopped') return { outcome: 'stopped', said: heard.said, model, cost }
      if (heard.end.type === 'limit') return { outcome: 'limit', ending: heard.end.ending, model, cost }
      if (heard.end.type === 'finish') {
        attempt.modelIndex = index
        return { outcome: 'reply', said: heard.said, reason: heard.end.reason, model, cost, sent: heard.end.sent }
      }
      const { failure } = heard.end
      if (heard.refused !== undefined && shorterTries < SHORTER_TRIES) {
        refused = heard.refused
        shorterTries++
        tries--
        continue
      }
      const waitMs = waitBeforeRetry(failure, tries, isLastModel, attempt)
      if (waitMs === null) {
        failures.push({ failure, tries })
        break
      }
      if (!(await waitedOut(attempt, waitMs, failure))) return { outcome: 'stopped', said: heard.said, model, cost }
    }
    // A refusal is the provider's decision about what was asked, not trouble: asking elsewhere would go around it.
    if (failures.at(-1)!.failure.kind === 'refused') break
  }
  const later = postponed(attempt, failures)
  if (later !== null) return { outcome: 'limit', ending: later, model: last.model, cost }
  return { outcome: 'failed', ...last, cost, error: errorCodeFor(failures[0]!.failure.kind), message: messageFor(failures) }
}

type Ended = Extract<ModelEvent, { type: 'finish' | 'failed' }> | 'stopped'

type Heard = {
  said: Said
  /** `limit`: the call was not made, for want of money. */
  end: Ended | { type: 'limit'; ending: LoopEnding }
  cost: CallCost
  /** The prompt was sent and is too long for this model. */
  refused?: Refused
}

/** A prompt that was refused for its length, and why. */
type Refused = { tokens: number; failure: ModelFailure }

/**
 * One call to one model. Trouble of any kind is a `failed` end; only bugs of our own are thrown. Nothing is sent that is not
 * shorter than what the model refused before.
 */
async function callOnce(
  attempt: Attempt,
  whole: ModelRequest,
  ref: ModelRef,
  unrecordedMicros: number,
  refused: Refused | null,
): Promise<Heard> {
  const { signal, deps } = attempt
  deps.progress.activity('model', null, null)
  const opened = await orAbort(openFitted(attempt, whole, ref), signal).catch((thrown: unknown) => {
    if (signal.aborted) return 'stopped' as const
    throw thrown
  })
  if (opened === 'stopped') return { said: NOTHING_SAID, end: 'stopped', cost: NO_COST }
  if ('failure' in opened) return { said: NOTHING_SAID, end: { type: 'failed', failure: opened.failure, usage: null }, cost: NO_COST }
  const { fitted } = opened
  const { request } = fitted
  if (refused !== null && fitted.tokens >= refused.tokens)
    return { said: NOTHING_SAID, end: { type: 'failed', failure: refused.failure, usage: null }, cost: NO_COST }
  if (fitted.leftOut > 0) deps.progress.activity('model', say('job_shortened', { messages: fitted.leftOut }), null)
  const poor = await reserve(attempt, request, opened.price, unrecordedMicros)
  if (poor !== null) return { said: NOTHING_SAID, end: poor, cost: NO_COST }
  const { said, end } = await listen(attempt, opened.adapter, request, opened.providerName)
  const usage = end === 'stopped' ? null : end.usage
  const answered = said.text !== '' || said.reasoning !== '' || said.calls.length > 0
  if (end !== 'stopped' && end.type === 'failed' && end.failure.kind === 'context_too_long' && !answered) {
    learnFromRefusal(attempt, ref, fitted, end.failure.tooLong)
    const failure = { ...end.failure, message: tooLongSentence(fitted, ref, opened.providerName) }
    return { said, end: { ...end, failure }, cost: NO_COST, refused: { tokens: fitted.tokens, failure } }
  }
  if (end !== 'stopped' && end.type === 'finish' && usage !== null) learnFromUsage(attempt, ref, fitted, usage)
  // A call that failed before its first word is not billed; one that broke off later is.
  if (usage === null && !answered && (end === 'stopped' || end.type === 'failed')) return { said, end, cost: NO_COST }
  return { said, end, cost: costOfCall(usage, () => estimateFor(request, said), opened.price) }
}

async function openFitted(
  attempt: Attempt,
  whole: ModelRequest,
  ref: ModelRef,
): Promise<(OpenedModel & { fitted: FittedRequest }) | { failure: ModelFailure }> {
  const opened = await attempt.deps.models.open(ref)
  if ('failure' in opened) return opened
  const messages = whole.messages.map((message) => (isOf(message, ref) ? message : withoutSent(message)))
  return { ...opened, fitted: await fitRequest(attempt, { ...whole, messages }, ref, opened) }
}

function isOf(message: PromptMessage, { providerId, model }: ModelRef): boolean {
  return message.role === 'assistant' && message.sent?.model.providerId === providerId && message.sent.model.model === model
}

/** Sets the money for one call aside. null: it is there, or there is no purse. */
async function reserve(
  attempt: Attempt,
  request: ModelRequest,
  price: KnownPrice | null,
  unrecordedMicros: number,
): Promise<Exclude<Heard['end'], Extract<ModelEvent, { type: 'finish' | 'failed' }>> | null> {
  const { money } = attempt.deps
  if (money === undefined) return null
  try {
    const answer = await money.reserve(estimateOfCall(request, price), unrecordedMicros, attempt.signal)
    if (answer.reserved) return null
    if ('refused' in answer) return { type: 'limit', ending: failedWith(attempt, 'cost_limit', answer.refused) }
    return { type: 'limit', ending: { ending: 'waiting', status: answer.wait, text: saidSoFar(attempt) } }
  } catch (thrown) {
    if (attempt.signal.aborted) return 'stopped'
    throw thrown
  }
}

/** Reads the stream to its end, or to the moment the signal aborts, whether or not the adapter notices. */
async function listen(
  attempt: Attempt,
  adapter: ModelAdapter,
  request: ModelRequest,
  providerName: string,
): Promise<{ said: Said; end: Ended }> {
  const said: Said = { text: '', reasoning: '', calls: [], droppedCalls: 0 }
  const ids = new Set(attempt.takenIds)
  const written: Written = { chars: 0, calls: 0 }
  const own = new AbortController()
  const signal = AbortSignal.any([attempt.signal, own.signal])
  let events: AsyncIterator<ModelEvent> | null = null
  try {
    events = adapter.stream(request, signal)[Symbol.asyncIterator]()
    for (;;) {
      const { done, value: event } = await orAbort(events.next(), attempt.signal)
      if (done) return { said, end: brokenOff('network', true, `${providerName} ended its answer in the middle.`) }
      if (event.type === 'finish' || event.type === 'failed') return { said: wellFormed(said), end: event }
      hear(attempt, said, ids, written, event)
      if (written.calls > MAX_CALLS_IN_ANSWER) {
        return {
          said,
          end: brokenOff('bad_answer', false, say('model_too_many_calls', { provider: providerName, calls: MAX_CALLS_IN_ANSWER })),
        }
      }
      if (written.chars > MAX_REPLY_CHARS) {
        return { said, end: brokenOff('bad_answer', false, `${providerName} sent more than ${MAX_REPLY_CHARS} characters in one answer.`) }
      }
    }
  } catch (thrown) {
    if (attempt.signal.aborted) return { said: wellFormed(said), end: 'stopped' }
    return { said, end: brokenOff('bad_answer', false, `The answer of ${providerName} could not be read: ${messageOf(thrown)}`) }
  } finally {
    own.abort(new Error('the stream is no longer read'))
    events?.return?.()?.catch(() => {})
  }
}

/** All that came in of an answer so far, shown or not. */
type Written = { chars: number; calls: number }

function hear(
  attempt: Attempt,
  said: Said,
  ids: Set<string>,
  written: Written,
  event: Exclude<ModelEvent, { type: 'finish' | 'failed' }>,
): void {
  switch (event.type) {
    case 'text':
      said.text += event.text
      written.chars += event.text.length
      if (event.text !== '') attempt.deps.progress.delta(event.text)
      break
    case 'reasoning':
      said.reasoning += event.text
      written.chars += event.text.length
      attempt.deps.progress.moved()
      break
    case 'call_piece':
      written.chars += event.chars
      if (event.begins) written.calls++
      attempt.deps.progress.moved()
      break
    case 'tool_call':
      if (said.calls.length < MAX_CALLS_KEPT) {
        const call = takeCall(event, ids)
        ids.add(call.callId)
        said.calls.push(call)
      } else said.droppedCalls++
  }
}

/** Half a surrogate pair, from a stream that was cut between two chunks, cannot be stored as UTF-8. */
function wellFormed(said: Said): Said {
  return { ...said, text: said.text.toWellFormed(), reasoning: said.reasoning.toWellFormed() }
}

/** Milliseconds to wait before the same model is asked again, or null: this model has had its chance. */
function waitBeforeRetry(failure: ModelFailure, tries: number, isLastModel: boolean, { input, deps }: Attempt): number | null {
  if (!failure.retryable || tries >= TRIES_PER_MODEL) return null
  // After a pause, one try tells whether the model is back.
  if (failure.kind === 'timeout' && tries >= (input.postponed > 0 ? 1 : SILENT_TRIES)) return null
  const random = deps.random()
  const backoffMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)) * (0.5 + random / 2)
  if (failure.retryAfterMs === null) return Math.round(backoffMs)
  if (failure.retryAfterMs > MAX_RETRY_AFTER_MS) return null
  if (failure.retryAfterMs > LONG_WAIT_MS && !isLastModel) return null
  return Math.max(failure.retryAfterMs, 0)
}

/**
 * What nobody answered now may be answered later. The job waits as a row and its slot is free. null: it was waited for long
 * enough, or what is wrong is not a matter of time.
 */
function postponed({ input, said }: Attempt, failures: { failure: ModelFailure; tries: number }[]): LoopEnding | null {
  const kinds = failures.map(({ failure }) => failure.kind)
  const isKeyOnly = kinds.includes('key_out_of_reach') && !kinds.includes('timeout')
  const waitMs = isKeyOnly
    ? input.postponed < KEYCHAIN_WAITS
      ? KEYCHAIN_WAIT_MS
      : undefined
    : kinds.includes('timeout')
      ? SILENCE_WAITS_MS[input.postponed]
      : undefined
  if (waitMs === undefined || kinds.includes('refused')) return null
  return { ending: 'postponed', waitMs, message: messageFor(failures), tell: input.postponed === 0, text: said.join('\n\n') }
}

async function waitedOut(attempt: Attempt, waitMs: number, failure: ModelFailure): Promise<boolean> {
  const { clock, progress } = attempt.deps
  progress.activity('retry_wait', failure.message, clock.now() + waitMs)
  return clock.sleep(waitMs, attempt.signal).then(
    () => true,
    () => false,
  )
}

function messageFor(failures: { failure: ModelFailure; tries: number }[]): string {
  const sentences = failures.map(({ failure, tries }) => (tries > 1 ? `${failure.message} (${tries} tries)` : failure.message))
  return [...new Set(sentences)].join(' ')
}

function errorCodeFor(kind: ModelFailure['kind']): JobErrorCode {
  switch (kind) {
    case 'auth':
    case 'key_out_of_reach':
      return 'model_auth'
    case 'not_found':
      return 'model_not_found'
    case 'context_too_long':
      return 'model_context_too_long'
    case 'refused':
      return 'model_refused'
    case 'bad_answer':
      return 'model_bad_answer'
    default:
      return 'model_unavailable'
  }
}

function brokenOff(kind: ModelFailure['kind'], retryable: boolean, message: string): Extract<ModelEvent, { type: 'failed' }> {
  return { type: 'failed', failure: { kind, retryable, retryAfterMs: null, status: null, message }, usage: null }
}

function estimateFor(request: ModelRequest, said: Said): Usage {
  const written = said.calls.reduce(
    (sum, call) => sum + call.name.length + charsOfArgs(call.args),
    said.text.length + said.reasoning.length,
  )
  return { input: tokensOf(charsOfRequest(request)), output: tokensOf(written), cached: 0 }
}
