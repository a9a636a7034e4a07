import type { Message } from '../../../src-runner/contract/messages.ts'
import type { ModelRef } from '../../../src-runner/contract/agents.ts'
import {
  type ChatStreamEvent,
  isTerminal,
  type JobStatus,
  type ReplyStep,
  type Step,
  type ToolResultStep,
} from '../../../src-runner/contract/jobs.ts'
import { joinSteps } from '../../api/steps.ts'

/** News about one job, from the stream or from a fetch, in any order. */
export type TurnInput =
  | ChatStreamEvent
  /** A new stream was opened. Its first text is the whole current reply so far, not a continuation. */
  | { type: 'attached' }
  | { type: 'steps'; steps: readonly Step[] }

type LiveText = { kind: 'text'; seq: number; text: string; /** The next text replaces this one. */ replay: boolean }
type LiveTool = { kind: 'tool'; callId: string; name: string; state: LiveToolState; output: string }
type LiveToolState = Extract<ChatStreamEvent, { type: 'tool' }>['state']

/** What the page knows of one job: its recorded steps, and live news that is not recorded yet. */
export type TurnState = {
  /** By seq, each once. */
  readonly steps: readonly Step[]
  /** In the order of arrival. */
  readonly live: readonly (LiveText | LiveTool)[]
  /** The last `done` of the stream: the job ended, or waits. */
  readonly outcome: { status: JobStatus; reply: string; costUsd: number } | null
  readonly error: { code: string; message: Message } | null
}

export const EMPTY_TURN: TurnState = { steps: [], live: [], outcome: null, error: null }

/** Tolerates repeated, late and lost news: recorded steps always win over live news. */
export function reduceTurn(state: TurnState, input: TurnInput): TurnState {
  switch (input.type) {
    case 'steps':
      return withSteps(state, input.steps)
    case 'step':
      return withSteps(state, [input.step])
    case 'attached':
      return {
        ...state,
        outcome: null,
        error: null,
        // The output of running tools comes again too.
        live: state.live.map((entry) => (entry.kind === 'text' ? { ...entry, replay: true } : { ...entry, output: '' })),
      }
    case 'delta':
      return withText(state, input.seq, input.text)
    case 'reset':
      return { ...state, live: state.live.filter((entry) => entry.kind !== 'text' || entry.seq !== input.seq) }
    case 'tool':
      return withTool(state, { kind: 'tool', callId: input.callId, name: input.name, state: input.state, output: '' })
    case 'tool_output':
      return withOutput(state, input.callId, input.text)
    case 'done':
      return {
        ...state,
        outcome: { status: input.status, reply: input.reply, costUsd: input.costUsd },
      }
    case 'error':
      return { ...state, error: { code: input.error, message: input.detail } }
    // Approvals are fetched where they are shown, and `done` says that there are some.
    case 'approval':
    case 'start':
      return state
  }
}

function withSteps(state: TurnState, incoming: readonly Step[]): TurnState {
  const steps = joinSteps(state.steps, incoming)
  return steps === state.steps ? state : { ...state, steps }
}

function withText(state: TurnState, seq: number, text: string): TurnState {
  if (state.steps.some((step) => step.seq === seq)) return state
  const at = state.live.findIndex((entry) => entry.kind === 'text' && entry.seq === seq)
  if (at === -1) return { ...state, live: [...state.live, { kind: 'text', seq, text, replay: false }] }
  const entry = state.live[at] as LiveText
  return { ...state, live: state.live.with(at, { ...entry, text: entry.replay ? text : entry.text + text, replay: false }) }
}

function withTool(state: TurnState, tool: LiveTool): TurnState {
  const at = state.live.findIndex((entry) => entry.kind === 'tool' && entry.callId === tool.callId)
  if (at === -1) return { ...state, live: [...state.live, tool] }
  const known = state.live[at] as LiveTool
  // Late news does not make a finished call run again.
  if (known.state === tool.state || (tool.state === 'running' && known.state !== 'running')) return state
  return { ...state, live: state.live.with(at, tool) }
}

/** Only the end of an output is kept, because a program may write without end. */
const MAX_OUTPUT_SHOWN = 20_000

function withOutput(state: TurnState, callId: string, text: string): TurnState {
  const at = state.live.findIndex((entry) => entry.kind === 'tool' && entry.callId === callId && entry.state === 'running')
  if (at === -1) return state
  const tool = state.live[at] as LiveTool
  return { ...state, live: state.live.with(at, { ...tool, output: (tool.output + text).slice(-MAX_OUTPUT_SHOWN) }) }
}

/** `asked`: the model made the call, and nothing else is known. `lost`: it was started, and no outcome was recorded. */
export type ToolState = 'asked' | 'running' | 'done' | 'failed' | 'denied' | 'lost'

export type TextItem = {
  kind: 'text'
  key: string
  text: string
  reasoning: string
  /** More may come. */
  live: boolean
  interrupted: boolean
  step: ReplyStep | null
}
export type ToolItem = {
  kind: 'tool'
  key: string
  callId: string
  name: string
  /** undefined: not known yet. */
  args: unknown
  state: ToolState
  startedAt: number | null
  result: ToolResultStep | null
  /** Its output while it runs. */
  output: string
}
export type TurnItem = TextItem | ToolItem

/** The items of a job in order. The key of an item stays the same from its first live news to the recorded step. */
export function turnItems(state: TurnState): TurnItem[] {
  const recorded = recordedItems(state.steps)
  const over = isOver(state)
  const items = [...recorded]
  for (const entry of state.live) {
    if (entry.kind === 'text') {
      if (!state.steps.some((step) => step.seq === entry.seq)) items.push(liveText(entry, !over))
      continue
    }
    const call = items.find((item) => item.kind === 'tool' && item.callId === entry.callId && item.result === null)
    if (call?.kind === 'tool') Object.assign(call, { state: entry.state, output: entry.output } satisfies Partial<ToolItem>)
    else if (!items.some((item) => item.kind === 'tool' && item.callId === entry.callId)) items.push(liveTool(entry))
  }
  return over ? endedItems(items, state) : items
}

/** Whether the stream said that the job has ended. For a failed job, `error` is enough. */
function isOver(state: TurnState): boolean {
  return state.error !== null || (state.outcome !== null && isTerminal(state.outcome.status))
}

function recordedItems(steps: readonly Step[]): TurnItem[] {
  const items: TurnItem[] = []
  const timesSeen = new Map<string, number>()
  const openCall = (callId: string) =>
    items.findLast((item): item is ToolItem => item.kind === 'tool' && item.callId === callId && item.result === null)
  for (const step of steps) {
    if (step.kind === 'reply') {
      items.push({
        kind: 'text',
        key: `text:${step.seq}`,
        text: step.text,
        reasoning: step.reasoning ?? '',
        live: false,
        // What a server asked the model for was never meant to be a part of the conversation.
        interrupted: step.interrupted && step.askedBy === undefined,
        step,
      })
      if (step.interrupted) continue
      for (const call of step.toolCalls) {
        const nth = timesSeen.get(call.callId) ?? 0
        timesSeen.set(call.callId, nth + 1)
        items.push({ ...call, kind: 'tool', key: toolKey(call.callId, nth), state: 'asked', startedAt: null, result: null, output: '' })
      }
    } else if (step.kind === 'tool_started') {
      const call = openCall(step.callId)
      if (call) Object.assign(call, { state: 'running', startedAt: step.createdAt } satisfies Partial<ToolItem>)
    } else {
      const call = openCall(step.callId)
      const state = step.ok ? 'done' : step.refused ? 'denied' : 'failed'
      if (call) Object.assign(call, { state, result: step } satisfies Partial<ToolItem>)
    }
  }
  return items
}

function toolKey(callId: string, nth: number): string {
  return nth === 0 ? `tool:${callId}` : `tool:${callId}:${nth}`
}

function liveText(entry: LiveText, live: boolean): TextItem {
  return { kind: 'text', key: `text:${entry.seq}`, text: entry.text, reasoning: '', live, interrupted: false, step: null }
}

function liveTool(entry: LiveTool): ToolItem {
  return {
    kind: 'tool',
    key: toolKey(entry.callId, 0),
    callId: entry.callId,
    name: entry.name,
    args: undefined,
    state: entry.state,
    startedAt: null,
    result: null,
    output: entry.output,
  }
}

/** The items after the end: no call is running any more, and without any text the reply of `done` is shown. */
function endedItems(items: TurnItem[], { outcome }: TurnState): TurnItem[] {
  const ended = items.map((item): TurnItem => (item.kind === 'tool' && item.state === 'running' ? { ...item, state: 'lost' } : item))
  if (outcome === null || outcome.reply === '' || ended.some((item) => item.kind === 'text')) return ended
  return [...ended, { ...liveText({ kind: 'text', seq: 0, text: outcome.reply, replay: false }, false), key: 'text:end' }]
}

export type TurnFigures = {
  models: ModelRef[]
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  costUsd: number
  /** false: at least one call used a model without a known price. */
  priced: boolean
  /** true: the tokens of at least one call are estimated. */
  estimated: boolean
  calls: number
}

/** Sums up the recorded model calls. Models are in the order of their first reply. */
export function turnFigures(steps: readonly Step[]): TurnFigures {
  const replies = steps.filter((step): step is ReplyStep => step.kind === 'reply')
  const sum = (of: (step: ReplyStep) => number) => replies.reduce((total, step) => total + of(step), 0)
  const models = new Map(replies.map(({ model }) => [`${model.providerId}/${model.model}`, model]))
  return {
    models: [...models.values()],
    inputTokens: sum((step) => step.inputTokens),
    outputTokens: sum((step) => step.outputTokens),
    cachedTokens: sum((step) => step.cachedTokens),
    costUsd: sum((step) => step.costUsd),
    priced: replies.every((step) => step.priced),
    estimated: replies.some((step) => step.estimated),
    calls: replies.length,
  }
}
