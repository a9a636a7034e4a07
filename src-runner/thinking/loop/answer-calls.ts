import type { z } from 'zod'
import type { Brings } from '../../contract/rules.ts'
import { messageOf } from '../../kit/errors.ts'
import { say } from '../../kit/said.ts'
import type { PromptToolCall } from '../models/model.ts'
import { bringsOf, MAX_TOOL_OUTPUT_CHARS, type Tool, type ToolContext, type ToolOutput } from '../tools/tool.ts'
import { whenAborted } from './abortable.ts'
import { failedWith, saidSoFar, stoppedEnding, type Attempt } from './attempt.ts'
import type { LoopEnding } from './loop-types.ts'

/** Calls of one reply that may run. The rest is answered, not run: the model can ask for them again. */
export const MAX_CALLS_PER_REPLY = 32
const SIDE_BY_SIDE = 8
/** How long a tool may take to notice that it was stopped. Then it is left behind; Stop takes effect within 2 s. */
const STOP_GRACE_MS = 1_000
const MAX_ISSUES = 10

type OpenCall = { call: PromptToolCall; index: number }
type Waiting = { waiting: 'awaiting_approval' | 'awaiting_child' }
/** `stopped`: the call has no result, because the attempt ended first. It stays open in the transcript. */
type CallOutcome = ToolOutput | Waiting | 'stopped'

/**
 * Answers the open calls of the last reply and adds the results to the conversation, in the order of the calls.
 * Answers with the ending of the attempt when it cannot go on, else null.
 */
export async function answerCalls(attempt: Attempt, open: OpenCall[], droppedCalls = 0): Promise<LoopEnding | null> {
  const { limits, tools } = attempt.input
  const callsLeft = limits.maxToolCalls - attempt.used.toolCalls
  const runnable: PromptToolCall[] = []
  const refused = new Map<string, string>()
  for (const { call, index } of open) {
    if (index >= MAX_CALLS_PER_REPLY)
      refused.set(call.callId, `Not run: at most ${MAX_CALLS_PER_REPLY} calls of one reply are run. Ask again for what is still needed.`)
    else if (runnable.length >= callsLeft)
      refused.set(call.callId, `Not run: the job reached its limit of ${limits.maxToolCalls} tool calls.`)
    else runnable.push(call)
  }
  const overLimit = open.some(({ index }, i) => index < MAX_CALLS_PER_REPLY && i >= callsLeft)
  const outputs = new Map<string, ToolOutput>()
  const ended = await answerInTurn(attempt, runnable, isSideBySide(runnable, tools), outputs)
  if (ended !== null) return ended
  for (const [callId, output] of refused) {
    const { call } = open.find((o) => o.call.callId === callId)!
    const dropped = droppedCalls > 0 && call === open.at(-1)!.call ? ` ${droppedCalls} more calls of the same reply were dropped.` : ''
    const answer = { ok: false, output: output + dropped }
    await record(attempt, call, answer, { durationMs: 0, ran: false, brings: [] })
    outputs.set(callId, answer)
  }
  for (const { call } of open) {
    const { ok, output } = outputs.get(call.callId)!
    attempt.messages.push({ role: 'tool', callId: call.callId, name: call.name, ok, output })
  }
  return overLimit ? failedWith(attempt, 'tool_call_limit', say('job_tool_calls', { calls: limits.maxToolCalls })) : null
}

/** A call to a tool that does not exist runs nothing, so it is in nobody's way. */
function isSideBySide(calls: PromptToolCall[], tools: readonly Tool[]): boolean {
  return calls.every((call) => tools.find((tool) => tool.name === call.name)?.parallel ?? true)
}

async function answerInTurn(
  attempt: Attempt,
  calls: PromptToolCall[],
  sideBySide: boolean,
  outputs: Map<string, ToolOutput>,
): Promise<LoopEnding | null> {
  const queue = [...calls]
  let waiting: Waiting | null = null
  let stopped = false
  // Aborts what is under way next to a call that could not be recorded: a lost claim must have no further effect.
  const fence = new AbortController()
  const signal = AbortSignal.any([attempt.signal, fence.signal])
  const lane = async () => {
    for (let call = queue.shift(); call !== undefined; call = queue.shift()) {
      if (stopped) return
      // In order means in order: nothing behind a call that waits may run before it. Side by side there is no order.
      if (waiting !== null && !sideBySide) {
        await askAhead(attempt, call, signal)
        continue
      }
      const outcome = await answerCall(attempt, call, signal)
      if (outcome === 'stopped') stopped = true
      // A person is waited for before a child: it is the person who has to be told.
      else if ('waiting' in outcome) waiting = waiting?.waiting === 'awaiting_approval' ? waiting : outcome
      else outputs.set(call.callId, outcome)
    }
  }
  try {
    await Promise.all(Array.from({ length: sideBySide ? Math.min(SIDE_BY_SIDE, calls.length) : 1 }, lane))
  } catch (thrown) {
    fence.abort(thrown)
    throw thrown
  }
  if (stopped || attempt.signal.aborted) return stoppedEnding(attempt)
  return waiting === null ? null : { ending: 'waiting', status: (waiting as Waiting).waiting, text: saidSoFar(attempt) }
}

/** A call that has to wait for its turn may have something to be asked too. Whatever else the gate says is asked again then. */
async function askAhead({ input, deps }: Attempt, call: PromptToolCall, signal: AbortSignal): Promise<void> {
  const tool = input.tools.find(({ name }) => name === call.name)
  if (tool === undefined || signal.aborted) return
  const parsed = parseArgs(tool, call.args)
  if ('problem' in parsed) return
  const startedBefore = input.startedCallIds.has(call.callId) && tool.effect === 'once'
  const context = { ...input.toolContext, callId: call.callId, signal }
  await deps.gate({ call, tool, args: parsed.args, context, startedBefore, ahead: true })
}

async function answerCall(attempt: Attempt, call: PromptToolCall, signal: AbortSignal): Promise<CallOutcome> {
  const { input, deps } = attempt
  if (signal.aborted) return 'stopped'
  const startedBefore = input.startedCallIds.has(call.callId)
  const tool = input.tools.find(({ name }) => name === call.name)
  if (tool === undefined) {
    return refuse(attempt, call, startedBefore ? unknownOutcome(call.name) : unknownTool(call.name, input.tools), 'failed')
  }
  const inDoubt = startedBefore && tool.effect === 'once'
  const parsed = parseArgs(tool, call.args)
  if ('problem' in parsed) return refuse(attempt, call, parsed.problem, 'failed')
  const context = { ...input.toolContext, callId: call.callId, signal }
  const verdict = await deps.gate({ call, tool, args: parsed.args, context, startedBefore: inDoubt, ahead: false })
  if (signal.aborted) return 'stopped'
  if (verdict.verdict === 'wait') return { waiting: verdict.status }
  if (verdict.verdict === 'deny') return refuse(attempt, call, `Not run: ${verdict.reason}`, 'denied', verdict.brings)
  if (verdict.verdict === 'answer') {
    const { ok, output, brings = [] } = verdict
    return settle(attempt, call, { ok, output }, { durationMs: 0, ran: false, brings })
  }
  if (inDoubt && verdict.again !== true) return refuse(attempt, call, unknownOutcome(tool.name), 'failed')
  // Also before a second run: each start that is written down needs a decision of its own when its outcome is unknown.
  if (tool.effect === 'once') {
    await deps.record.toolStarted({ callId: call.callId, name: tool.name })
    // Nothing has happened yet, but the row says "started": only an answer keeps it from looking like an unknown outcome.
    if (signal.aborted) return refuse(attempt, call, say('call_stopped'), 'failed')
  }
  return run(attempt, call, tool, parsed.args, { signal, judged: verdict.facts })
}

async function run(
  attempt: Attempt,
  call: PromptToolCall,
  tool: Tool,
  args: z.output<Tool['args']>,
  { signal, judged }: Pick<ToolContext, 'signal' | 'judged'>,
): Promise<CallOutcome> {
  const { input, deps } = attempt
  const begunAt = deps.clock.monotonic()
  deps.progress.activity('tool', tool.name, null)
  deps.progress.tool({ callId: call.callId, name: call.name, state: 'running' })
  const show = (text: string) => deps.progress.toolOutput(call.callId, text)
  const work = (async () => tool.run(args, { ...input.toolContext, callId: call.callId, signal, judged, show }))()
  const result = await resultOrStopped(attempt, work, signal)
  const isFenced = signal.aborted && !attempt.signal.aborted
  if (result === 'stopped' || isFenced) return 'stopped'
  const brings = [...bringsOf(tool), ...(result.brings ?? [])]
  return settle(attempt, call, result, { durationMs: deps.clock.monotonic() - begunAt, ran: true, brings })
}

/** After Stop a tool that still finishes in time is believed; one that fails then, or does not end, has no result. */
async function resultOrStopped(attempt: Attempt, work: Promise<ToolOutput>, signal: AbortSignal): Promise<ToolOutput | 'stopped'> {
  const over = new AbortController()
  const left = async (): Promise<'stopped'> => {
    await whenAborted(signal, over.signal)
    await attempt.deps.clock.sleep(STOP_GRACE_MS, over.signal)
    return 'stopped'
  }
  const finished = work.then(
    (output) => output,
    (thrown: unknown): ToolOutput | 'stopped' =>
      signal.aborted ? 'stopped' : { ok: false, output: messageOf(thrown) || 'The tool failed and did not say why.' },
  )
  try {
    return await Promise.race([finished, left()])
  } finally {
    over.abort()
  }
}

function parseArgs(tool: Tool, args: unknown): { args: z.output<Tool['args']> } | { problem: string } {
  const known = Object.keys(tool.args.shape).join(', ')
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    const received = typeof args === 'string' ? args.slice(0, 300).toWellFormed() : (JSON.stringify(args) ?? 'nothing').slice(0, 300)
    return {
      problem: `Not run: the arguments of ${tool.name} must be a JSON object${known === '' ? '' : ` with: ${known}`}. Received: ${received}`,
    }
  }
  const parsed = tool.args.safeParse(args)
  if (parsed.success) return { args: parsed.data }
  const issues = parsed.error.issues
    .slice(0, MAX_ISSUES)
    .map((issue) => `- ${issue.path.map(String).join('.') || '(all)'}: ${issue.message}`)
  const more = parsed.error.issues.length - issues.length
  return {
    problem: [say('call_arguments', { tool: tool.name }), ...issues, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n'),
  }
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name).join(', ')
  return `${say('call_no_tool', { tool: name })} ${names === '' ? say('call_no_tools') : say('call_tools_are', { words: names })}`
}

function unknownOutcome(name: string): string {
  return say('call_in_doubt', { tool: name })
}

async function refuse(
  attempt: Attempt,
  call: PromptToolCall,
  output: string,
  state: 'failed' | 'denied',
  brings: readonly Brings[] = [],
): Promise<ToolOutput> {
  return settle(attempt, call, { ok: false, output }, { durationMs: 0, ran: false, brings, state })
}

type How = { durationMs: number; ran: boolean; brings: readonly Brings[]; state?: 'failed' | 'denied' }

async function settle(attempt: Attempt, call: PromptToolCall, result: ToolOutput, how: How): Promise<ToolOutput> {
  const kept: ToolOutput = { ok: result.ok, output: cutOutput(String(result.output)) }
  if (result.result !== undefined) kept.result = result.result
  await record(attempt, call, kept, how)
  attempt.deps.progress.tool({ callId: call.callId, name: call.name, state: how.state ?? (kept.ok ? 'done' : 'failed') })
  return kept
}

async function record(attempt: Attempt, call: PromptToolCall, kept: ToolOutput, { durationMs, ran, brings }: How): Promise<void> {
  const { ok, output, result } = kept
  const step = { callId: call.callId, name: call.name, ok, output, durationMs: Math.round(durationMs), ran, brings: [...new Set(brings)] }
  await attempt.deps.record.toolResult(result === undefined ? step : { ...step, result })
  attempt.used.toolCalls++
}

function cutOutput(output: string): string {
  if (output.length <= MAX_TOOL_OUTPUT_CHARS) return output.toWellFormed()
  const mark = `\n[cut: ${output.length} characters, the first ${MAX_TOOL_OUTPUT_CHARS} are shown]`
  return output.slice(0, MAX_TOOL_OUTPUT_CHARS - mark.length).toWellFormed() + mark
}
