import { englishText, quote } from '../lib/messages.ts'
import { z } from 'zod'
import { DEFAULT_LIMITS, type Limits, type ModelRef } from '../contract/agents.ts'
import { runLoop } from '../agent/loop/loop.ts'
import {
  type LoopBudget,
  type PolicyQuestion,
  type PolicyVerdict,
  type LoopOutcome,
  type LoopInput,
  type RecordedReply,
  type RecordedResult,
} from '../agent/loop/loop-types.ts'
import type {
  KnownPrice,
  ModelEvent,
  ModelFailure,
  ModelRequest,
  ModelSource,
  PromptMessage,
  PromptToolCall,
  Usage,
} from '../agent/providers/model.ts'
import { defineTool, type Tool, type ToolContext, type ToolOutput } from '../agent/tools/tool.ts'
import { createHandClock, type HandClock } from './hand-clock.ts'
import { StaleClaimError } from '../lib/errors.ts'

/** What a scripted model does for a call: yields events, or runs a function that does. */
export type Turn = ModelEvent[] | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>)

export const USAGE: Usage = { input: 100, output: 10, cached: 0 }
export const PRICE: KnownPrice = { inputMicros: 3_000_000, outputMicros: 15_000_000, cachedInputMicros: 300_000 }

export const text = (words: string): ModelEvent => ({ type: 'text', text: words })
export const finish = (reason: Extract<ModelEvent, { type: 'finish' }>['reason'] = 'stop', usage: Usage | null = USAGE): ModelEvent => ({
  type: 'finish',
  reason,
  usage,
})
export const call = (callId: string, name: string, args: unknown = {}): ModelEvent => ({
  type: 'tool_call',
  callId,
  name,
  args,
  argsValid: true,
})
export const say = (words: string, usage: Usage | null = USAGE): ModelEvent[] => [text(words), finish('stop', usage)]
export const ask = (...calls: ModelEvent[]): ModelEvent[] => [...calls, finish('tool_calls')]
export const fail = (failure: Partial<ModelFailure>, usage: Usage | null = null): ModelEvent => ({
  type: 'failed',
  usage,
  failure: { kind: 'overloaded', retryable: true, retryAfterMs: null, status: 529, message: quote('Acme is overloaded.'), ...failure },
})

/** A tool that returns its name, or what the test says. */
export function tool(
  name: string,
  options: Partial<Pick<Tool, 'effect' | 'parallel' | 'args' | 'limitMs'>> & {
    run?: (args: unknown, context: ToolContext) => Promise<ToolOutput> | ToolOutput
  } = {},
): Tool {
  return defineTool({
    name,
    description: `The tool ${name}.`,
    args: options.args ?? z.object({}),
    effect: options.effect ?? 'read',
    parallel: options.parallel ?? false,
    ...(options.limitMs === undefined ? {} : { limitMs: options.limitMs }),
    run: async (args, context) => options.run?.(args, context) ?? { ok: true, output: `${name} ran` },
  })
}

export const assistant = (words: string, ...toolCalls: PromptToolCall[]): PromptMessage => ({ role: 'assistant', text: words, toolCalls })
export const result = (callId: string, name: string, output = `${name} ran`): PromptMessage => ({
  role: 'tool',
  callId,
  name,
  output,
  ok: true,
})

export type RigOptions = {
  models?: Record<string, Turn[]>
  turns?: Turn[]
  tools?: Tool[]
  limits?: Partial<Limits>
  used?: Partial<LoopInput['used']>
  postponed?: LoopInput['postponed']
  transcript?: PromptMessage[]
  startedCallIds?: string[]
  price?: KnownPrice | null
  /** The context window of each model, if known. */
  windows?: Record<string, number>
  policy?: (question: PolicyQuestion) => PolicyVerdict | Promise<PolicyVerdict>
  open?: ModelSource['open']
  budget?: LoopBudget
  loseClaimAt?: (write: string) => boolean
  random?: number
}

export type Rig = {
  clock: HandClock
  stop: AbortController
  requests: ModelRequest[]
  replies: RecordedReply[]
  results: RecordedResult[]
  started: string[]
  /** Everything that a page got and that was recorded, in order, as short words. */
  log: string[]
  outcome: Promise<LoopOutcome>
  /** Resolves when the log has a line with these words. */
  untilLogged(words: string): Promise<void>
}

/** Runs the real loop against a scripted model, a hand-moved clock and a recorder in memory. */
export function runRig(options: RigOptions): Rig {
  const scripts = new Map(Object.entries(options.models ?? { main: options.turns ?? [] }).map(([name, turns]) => [name, [...turns]]))
  const models: ModelRef[] = [...scripts.keys()].map((model) => ({ providerId: 'acme', model }))
  const clock = createHandClock()
  const stop = new AbortController()
  const requests: ModelRequest[] = []
  const replies: RecordedReply[] = []
  const results: RecordedResult[] = []
  const started: string[] = []
  const log: string[] = []
  const waiters = new Set<() => void>()
  const note = (line: string) => {
    log.push(line)
    for (const look of Array.from(waiters)) look()
  }
  const write = async (line: string, keep: () => void) => {
    await Promise.resolve()
    if (options.loseClaimAt?.(line)) throw new StaleClaimError({ jobId: 'job', claim: 1 })
    keep()
    note(line)
  }
  const source: ModelSource = {
    async open(ref) {
      const price = options.price === undefined ? PRICE : options.price
      return {
        price,
        providerName: 'Acme',
        readWindow: async () => options.windows?.[ref.model] ?? null,
        adapter: {
          listModels: async () => [],
          stream(request, signal) {
            requests.push(structuredClone(request))
            note(`call ${ref.model}`)
            const turn = scripts.get(ref.model)!.shift()
            if (turn === undefined) throw new Error(`the script of ${ref.model} is at its end`)
            return typeof turn === 'function' ? turn(request, signal) : streamOf(turn)
          },
        },
      }
    },
  }
  const input: LoopInput = {
    models,
    prompt: [
      { role: 'system', text: 'You are Ada.' },
      { role: 'user', text: 'Do the thing.' },
    ],
    transcript: options.transcript ?? [],
    startedCallIds: new Set(options.startedCallIds ?? []),
    tools: options.tools ?? [],
    toolContext: { jobId: 'job', agentId: 'agent', folders: [], closedFolders: [] },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    postponed: options.postponed ?? null,
    used: { turns: 0, toolCalls: 0, costMicros: 0, workingMs: 0, ...options.used },
    signal: stop.signal,
  }
  const outcome = runLoop(input, {
    ...(options.budget === undefined ? {} : { budget: options.budget }),
    models: options.open === undefined ? source : { open: options.open },
    policy: async (question) => {
      note(`policy ${question.call.callId}`)
      return (await options.policy?.(question)) ?? { verdict: 'run' }
    },
    record: {
      reply: (reply) => write(`reply ${reply.interrupted ? 'cut ' : ''}'${reply.text}'`, () => replies.push(structuredClone(reply))),
      toolStarted: ({ callId }) => write(`started ${callId}`, () => started.push(callId)),
      toolResult: (outcome) => write(`result ${outcome.callId}`, () => results.push(structuredClone(outcome))),
    },
    progress: {
      delta: (words) => note(`delta '${words}'`),
      reset: () => note('reset'),
      alive: () => note('alive'),
      toolOutput: (callId, words) => note(`output ${callId} '${words}'`),
      tool: ({ callId, state }) => note(`tool ${callId} ${state}`),
      activity: (activity, detail, until) =>
        note(
          `activity ${activity}${detail === null ? '' : ` ${typeof detail === 'string' ? detail : englishText(detail)}`}${until === null ? '' : ` until +${until - clock.now()}`}`,
        ),
    },
    clock,
    random: () => options.random ?? 0,
  })
  // A test may await the outcome late, and a rejection before that must not be unhandled.
  outcome.catch(() => {})
  return {
    clock,
    stop,
    requests,
    replies,
    results,
    started,
    log,
    outcome,
    untilLogged(words) {
      return new Promise((resolve) => {
        const look = () => {
          if (!log.some((line) => line.includes(words))) return
          waiters.delete(look)
          resolve()
        }
        waiters.add(look)
        look()
      })
    },
  }
}

async function* streamOf(events: ModelEvent[]): AsyncIterable<ModelEvent> {
  for (const event of events) {
    await Promise.resolve()
    yield event
  }
}

/** Yields the events, then never ends and ignores its signal. */
export function hangAfter(...events: ModelEvent[]): Turn {
  return async function* () {
    yield* events
    await new Promise(() => {})
  }
}
