import { createMessage, joinSentences } from '../../lib/messages.ts'
import type { Message } from '../../contract/messages.ts'
import type { ModelRef } from '../../contract/agents.ts'
import type { JobErrorCode } from '../../contract/errors.ts'
import type { ModelEvent, ModelFailure, ModelRequest, ReplyParts } from '../providers/model.ts'
import { limitReached, textSoFar, type Attempt } from './attempt.ts'
import { callModel, EMPTY_REPLY, type CallResult, type ReplyContent, type TooLongRefusal } from './call-model.ts'
import { addCosts, NO_COST, type CallCost } from './cost-of-call.ts'
import type { LoopInput, LoopOutcome, PostponeCause } from './loop-types.ts'

const TRIES_PER_MODEL = 5
/** A silent model is not tried a third time while the job holds a slot. */
const SILENT_TRIES = 2
/** How long the job is postponed each time that no model responds. After the last one it fails. */
const SILENCE_WAITS_MS = [30_000, 60_000, 120_000]
/** A person unlocks the keychain, and may be away for a day. */
const KEYCHAIN_WAIT_MS = 60_000
const KEYCHAIN_WAITS = 1_440
/** The job goes on within half a minute once the network is back, which may take a day. */
const OFFLINE_WAIT_MS = 30_000
const OFFLINE_WAITS = 2_880
const MAX_RETRY_AFTER_MS = 10 * 60_000
/** While another model is untried, the loop does not wait longer than this. */
const LONG_WAIT_MS = 60_000
/** How often a model that refused a prompt for its length gets a shorter one. */
const SHORTER_TRIES = 2
const FIRST_WAIT_MS = 2_000
const LONGEST_WAIT_MS = 60_000

type Called = { model: ModelRef; cost: CallCost }

export type AskOutcome =
  | (Called & {
      end: 'reply'
      content: ReplyContent
      reason: Extract<ModelEvent, { type: 'finish' }>['reason']
      sent?: ReplyParts | undefined
    })
  /** `content` is what the last call sent before it broke off; its calls must not run. */
  | (Called & { end: 'failed'; content: ReplyContent; error: JobErrorCode; message: Message })
  | (Called & { end: 'stopped'; content: ReplyContent })
  | (Called & { end: 'limit'; outcome: LoopOutcome })

type Failed = { failure: ModelFailure; tries: number }

/**
 * Gets one reply: retries a model while its failure may pass, then falls back to the next one. `spent` is the cost of
 * earlier calls for the same reply. The outcome's cost is that of its model, and includes it; what the models before it cost is
 * recorded.
 */
export async function askModel(attempt: Attempt, request: Omit<ModelRequest, 'model'>, spent: CallCost): Promise<AskOutcome> {
  const { models } = attempt.input
  const failures: Failed[] = []
  let cost = spent
  let last: { content: ReplyContent; model: ModelRef } = { content: EMPTY_REPLY, model: models[attempt.modelIndex]! }
  for (let n = 0; n < models.length; n++) {
    if (n > 0 && cost.usage.input + cost.usage.output > 0) {
      await recordLeft(attempt, last, cost)
      last = { ...last, content: EMPTY_REPLY }
      cost = NO_COST
    }
    const index = (attempt.modelIndex + n) % models.length
    const model = models[index]!
    let shorterTries = 0
    let refused: TooLongRefusal | null = null
    for (let tries = 1; ; tries++) {
      const outcome = limitReached(attempt)
      if (outcome !== null && !attempt.signal.aborted) return { end: 'limit', outcome, model, cost }
      if (last.content.text !== '') attempt.deps.progress.reset()
      const call: CallResult = await callModel(attempt, { ...request, model: model.model }, model, cost.costMicros, refused)
      const { content, end } = call
      cost = addCosts(cost, call.cost)
      attempt.used.costMicros += call.cost.costMicros
      last = { content, model }
      if (end === 'stopped') return { end: 'stopped', content, model, cost }
      if (end.type === 'limit') return { end: 'limit', outcome: end.outcome, model, cost }
      if (end.type === 'finish') {
        attempt.modelIndex = index
        return { end: 'reply', content, reason: end.reason, model, cost, sent: end.sent }
      }
      if (call.refused !== undefined && shorterTries < SHORTER_TRIES) {
        refused = call.refused
        shorterTries++
        tries--
        continue
      }
      const { failure } = end
      const waitMs = waitBeforeRetry(failure, tries, n === models.length - 1, attempt)
      if (waitMs === null) {
        failures.push({ failure, tries })
        break
      }
      // Other jobs need not wait for a call that is not made yet. The next try reserves again.
      attempt.deps.budget?.release(cost.costMicros)
      if (!(await waitForRetry(attempt, waitMs, failure))) return { end: 'stopped', content, model, cost }
    }
    // A refusal is the provider's decision about the content: another model would go around it.
    if (failures.at(-1)!.failure.kind === 'refused') break
  }
  const outcome = postponed(attempt, failures)
  if (outcome !== null) return { end: 'limit', outcome, model: last.model, cost }
  return { end: 'failed', ...last, cost, error: errorCodeFor(failures[0]!.failure.kind), message: messageFor(failures) }
}

/** Each model's tokens and money count as its own. The words of one that failed are dropped. */
async function recordLeft(
  { deps }: Attempt,
  { content, model }: { content: ReplyContent; model: ModelRef },
  cost: CallCost,
): Promise<void> {
  if (content.text !== '') deps.progress.reset()
  await deps.record.reply({ text: '', reasoning: '', toolCalls: [], model, ...cost, interrupted: true, durationMs: 0 })
  deps.budget?.release()
}

/** null: do not try this model again. */
function waitBeforeRetry(failure: ModelFailure, tries: number, isLastModel: boolean, { input, deps }: Attempt): number | null {
  if (!failure.retryable || tries >= TRIES_PER_MODEL) return null
  // After a postponement, one try tells whether the model, or the network, is back.
  if (failure.kind === 'timeout' && tries >= (timesPostponed(input, 'silence') > 0 ? 1 : SILENT_TRIES)) return null
  if (failure.offline === true && timesPostponed(input, 'keychain') > 0) return null
  const random = deps.random()
  const backoffMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)) * (0.5 + random / 2)
  if (failure.retryAfterMs === null) return Math.round(backoffMs)
  if (failure.retryAfterMs > MAX_RETRY_AFTER_MS) return null
  if (failure.retryAfterMs > LONG_WAIT_MS && !isLastModel) return null
  return Math.max(failure.retryAfterMs, 0)
}

/** Frees the slot and tries later. null: the job has waited long enough, or waiting does not help. */
function postponed(attempt: Attempt, failures: Failed[]): LoopOutcome | null {
  const { input } = attempt
  const kinds = new Set(failures.map(({ failure }) => failure.kind))
  if (kinds.has('refused')) return null
  const isOffline = failures.every(({ failure }) => failure.offline === true)
  const cause = kinds.has('timeout') ? 'silence' : kinds.has('key_out_of_reach') || isOffline ? 'keychain' : null
  if (cause === null) return null
  const times = timesPostponed(input, cause)
  const [patientMs, mostTimes] = isOffline ? [OFFLINE_WAIT_MS, OFFLINE_WAITS] : [KEYCHAIN_WAIT_MS, KEYCHAIN_WAITS]
  const waitMs = cause === 'silence' ? SILENCE_WAITS_MS[times] : times < mostTimes ? patientMs : undefined
  if (waitMs === undefined) return null
  return { kind: 'postponed', cause, waitMs, message: messageFor(failures), notifiesOwner: times === 0, text: textSoFar(attempt) }
}

function timesPostponed({ postponed: before }: LoopInput, cause: PostponeCause): number {
  return before?.cause === cause ? before.times : 0
}

/** false: the attempt was stopped meanwhile. */
function waitForRetry({ deps, signal }: Attempt, waitMs: number, failure: ModelFailure): Promise<boolean> {
  deps.progress.activity('retry_wait', failure.message, deps.clock.now() + waitMs)
  return deps.clock.sleep(waitMs, signal).then(
    () => true,
    () => false,
  )
}

function messageFor(failures: Failed[]): Message {
  const problems = failures.map(({ failure, tries }) =>
    tries > 1 ? createMessage('job_after_tries', { problem: failure.message, tries }) : failure.message,
  )
  const different = new Map(problems.map((problem) => [JSON.stringify(problem), problem]))
  return joinSentences(...different.values())
}

const ERROR_CODES: Partial<Record<ModelFailure['kind'], JobErrorCode>> = {
  auth: 'model_auth',
  key_out_of_reach: 'model_auth',
  not_found: 'model_not_found',
  context_too_long: 'model_context_too_long',
  refused: 'model_refused',
  bad_answer: 'model_bad_answer',
}

function errorCodeFor(kind: ModelFailure['kind']): JobErrorCode {
  return ERROR_CODES[kind] ?? 'model_unavailable'
}
