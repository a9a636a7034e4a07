import { commitSoon } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { Limits, ModelRef } from '../../contract/agents.ts'
import { createMessage } from '../../lib/messages.ts'
import { randomBoundary } from '../../lib/untrusted-text.ts'
import type { Reservations } from '../../domain/budgets/reservations.ts'
import type { Claim } from '../../domain/jobs/claim-job.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import { readSettings } from '../../domain/settings/settings.ts'
import { askModel, type AskOutcome } from '../../agent/loop/ask-model.ts'
import type { Attempt as LoopAttempt } from '../../agent/loop/attempt.ts'
import { createContextWindows } from '../../agent/loop/context-windows.ts'
import { NO_COST } from '../../agent/loop/cost-of-call.ts'
import type { LoopBudget, LoopInput, RecordedReply, StepRecorder } from '../../agent/loop/loop-types.ts'
import { promptOfSampling, SamplingRefused, type Sampled, type Sampling } from '../../agent/mcp/sampling.ts'
import type { ModelSource } from '../../agent/providers/model.ts'

const MAX_PER_CALL = 10

export type SamplingDeps = Pick<Services, 'db' | 'clock'> & {
  jobs: Pick<JobStore, 'recordReply'>
  models: ModelSource
  reservations: Reservations
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
}

/** An attempt at a job whose model may be asked. */
type Running = {
  claim: Claim
  models: ModelRef[]
  limits: Limits
  toolContext: LoopInput['toolContext']
  signal: AbortSignal
  alive(): void
}

type Ask = (sampling: Sampling, signal: AbortSignal) => Promise<Sampled & { tokens: number }>

export type SamplingModels = ReturnType<typeof createSamplingModels>

/** Asks the model of a job for servers that it calls. What that costs is recorded with the job, as its own model calls are. */
export function createSamplingModels(deps: SamplingDeps) {
  const running = new Map<string, Running & { last: Promise<unknown> }>()

  async function ask(attempt: Running, server: string, { text, maxTokens }: Sampling, signal: AbortSignal) {
    if (signal.aborted) throw ended()
    if (readSettings(deps.db).pauseAll) throw new SamplingRefused('All agents are paused.')
    const startedAt = deps.clock.monotonic()
    const request = { messages: promptOfSampling(server, text, randomBoundary), tools: [], maxOutputTokens: maxTokens }
    const record = (reply: RecordedReply) =>
      commitSoon(deps.db, (tx) => void deps.jobs.recordReply(tx, attempt.claim, { ...reply, askedBy: server }))
    try {
      const asked = await askModel(loopAttemptFor(deps, attempt, request.messages, signal, record), request, NO_COST)
      const { model, cost } = asked
      const durationMs = Math.round(deps.clock.monotonic() - startedAt)
      const tokens = cost.usage.input + cost.usage.output
      // Not a part of the conversation, so that no model and no result of the job takes it for a reply of the agent.
      if (tokens > 0) await record({ text: '', reasoning: '', toolCalls: [], model, ...cost, interrupted: true, durationMs })
      return { text: textOf(asked), model: model.model, isCut: asked.end === 'reply' && asked.reason === 'length', tokens }
    } finally {
      deps.reservations.release(attempt.claim.jobId)
    }
  }

  return {
    /** Servers may ask the model of the attempt while `work` runs. When this returns, everything that it cost is recorded. */
    async during<T>(attempt: Running, work: () => Promise<T>): Promise<T> {
      const over = new AbortController()
      const { jobId } = attempt.claim
      const entry = { ...attempt, signal: AbortSignal.any([attempt.signal, over.signal]), last: Promise.resolve() }
      running.set(jobId, entry)
      try {
        return await work()
      } finally {
        running.delete(jobId)
        over.abort(ended())
        await entry.last
      }
    },
    /** For one call of a server while `work` runs. `ask` throws SamplingRefused. */
    async duringCall<T>(jobId: string, server: string, work: (ask: Ask) => Promise<T>): Promise<T> {
      const over = new AbortController()
      let asked = 0
      let last: Promise<unknown> = Promise.resolve()
      const askFor: Ask = (sampling, signal) => {
        const attempt = running.get(jobId)
        if (attempt === undefined || over.signal.aborted) throw ended()
        if (++asked > MAX_PER_CALL) throw new SamplingRefused(`A call may ask the model ${MAX_PER_CALL} times at most.`)
        const any = AbortSignal.any([signal, over.signal, attempt.signal])
        // One at a time: a job has one reservation.
        const answered = attempt.last.then(() => ask(attempt, server, sampling, any))
        last = answered.catch(() => {})
        attempt.last = last
        return answered
      }
      try {
        return await work(askFor)
      } finally {
        over.abort(ended())
        await last
      }
    },
  }
}

function ended(): SamplingRefused {
  return new SamplingRefused('The job does not run now.')
}

/** As in the loop, but nobody is asked for more money, and nothing of it is shown as a reply of the agent. */
function loopAttemptFor(
  { models, reservations, clock, random }: SamplingDeps,
  { claim, models: refs, limits, toolContext, alive }: Running,
  messages: LoopAttempt['messages'],
  signal: AbortSignal,
  record: StepRecorder['reply'],
): LoopAttempt {
  const budget: LoopBudget = {
    async reserve(estimateMicros, unrecordedMicros, until) {
      const { over } = await reservations.reserve(claim.jobId, { estimateMicros, unrecordedMicros }, until)
      return over === null ? { reserved: true } : { reserved: false, refused: createMessage('job_cost', { limitUsd: limits.maxCostUsd }) }
    },
    release: (unrecordedMicros) => reservations.release(claim.jobId, unrecordedMicros),
  }
  const nothing = () => {}
  const progress = { delta: alive, alive, reset: nothing, tool: nothing, toolOutput: nothing, activity: alive }
  const none = () => Promise.reject(new Error('A request of a server calls no tools.'))
  const used = { turns: 0, toolCalls: 0, costMicros: 0, workingMs: 0 }
  return {
    input: {
      models: refs,
      prompt: messages,
      transcript: [],
      startedCallIds: new Set<string>(),
      tools: [],
      toolContext,
      limits,
      used,
      signal,
      // A silent model is not waited for twice.
      postponed: { cause: 'silence', times: 1 },
    },
    deps: { models, budget, progress, clock, random, policy: none, record: { reply: record, toolStarted: none, toolResult: none } },
    messages,
    used: { ...used },
    texts: [],
    takenIds: new Set<string>(),
    signal,
    modelIndex: 0,
    startedAt: clock.awake(),
    // What a server sends teaches nothing about the job's own prompts.
    windows: createContextWindows(clock),
  }
}

function textOf(asked: AskOutcome): string {
  if (asked.end === 'stopped') throw ended()
  if (asked.end === 'limit') {
    const isMoney = asked.outcome.kind === 'failed' && asked.outcome.error === 'cost_limit'
    throw new SamplingRefused(isMoney ? 'The spending limit is reached.' : 'The model does not respond.')
  }
  if (asked.end === 'failed') throw new SamplingRefused('The model could not be asked.')
  if (asked.reason === 'content_filter') throw new SamplingRefused('The model refused.')
  if (asked.content.text.trim() === '') throw new SamplingRefused('The model wrote no text.')
  return asked.content.text
}
