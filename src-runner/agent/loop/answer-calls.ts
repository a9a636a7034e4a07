import type { z } from 'zod'
import type { Taint } from '../../contract/rules.ts'
import { messageOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import type { PromptToolCall } from '../providers/model.ts'
import { CallAsks, MAX_TOOL_OUTPUT_CHARS, OutcomeUnknown, taintsOfError, type Tool, type ToolOutput } from '../tools/tool.ts'
import { whenAborted } from './abortable.ts'
import { failedWith, textSoFar, stoppedOutcome, type Attempt } from './attempt.ts'
import type { LoopOutcome, PersonNote, PolicyQuestion, PolicyVerdict } from './loop-types.ts'
import { giveSignsOfLife } from './signs-of-life.ts'

/** Further calls of one reply are answered without running; the model can make them again. */
const MAX_CALLS_PER_REPLY = 32
const MAX_PARALLEL = 8
/** How long a tool may take to stop before it is left behind. Stop takes effect within 2 s. */
const STOP_GRACE_MS = 1_000
const MAX_ISSUES = 10

type OpenCall = { call: PromptToolCall; index: number }
type Waiting = { waiting: 'awaiting_approval' | 'awaiting_child' }
/** `stopped`: the attempt ended before the call had a result. The call stays open in the transcript. */
type CallOutcome = ToolOutput | Waiting | 'stopped'

/**
 * Answers the open calls of the last reply and adds the results to the conversation in the order of the calls. Returns
 * the outcome of the attempt if it cannot continue.
 */
export async function answerCalls(attempt: Attempt, open: OpenCall[], droppedCalls = 0): Promise<LoopOutcome | null> {
  const { limits, tools } = attempt.input
  const callsLeft = limits.maxToolCalls - attempt.used.toolCalls
  const runnable: PromptToolCall[] = []
  const refused: { call: PromptToolCall; output: string }[] = []
  for (const { call, index } of open) {
    if (index >= MAX_CALLS_PER_REPLY) {
      refused.push({
        call,
        output: `Not run: only the first ${MAX_CALLS_PER_REPLY} calls of a reply run. Call again for what you still need.`,
      })
    } else if (runnable.length >= callsLeft) {
      refused.push({ call, output: `Not run: the job reached its limit of ${limits.maxToolCalls} tool calls.` })
    } else runnable.push(call)
  }
  const outputs = new Map<string, ToolOutput>()
  const outcome = await runCalls(attempt, runnable, runnable.every(isParallel), outputs)
  if (outcome !== null) return outcome
  for (const { call, output } of refused) {
    const dropped = droppedCalls > 0 && call === open.at(-1)!.call ? ` ${droppedCalls} more calls of the same reply were dropped.` : ''
    const refusal = { ok: false, output: output + dropped }
    await record(attempt, call, refusal, NOT_RUN)
    outputs.set(call.callId, refusal)
  }
  for (const { call } of open) {
    const { ok, output } = outputs.get(call.callId)!
    attempt.messages.push({ role: 'tool', callId: call.callId, name: call.name, ok, output })
  }
  const isOverLimit = open.some(({ index }, i) => index < MAX_CALLS_PER_REPLY && i >= callsLeft)
  return isOverLimit ? failedWith(attempt, 'tool_call_limit', createMessage('job_tool_calls', { calls: limits.maxToolCalls })) : null

  /** A call to an unknown tool runs nothing. */
  function isParallel(call: PromptToolCall): boolean {
    return tools.find((tool) => tool.name === call.name)?.parallel ?? true
  }
}

async function runCalls(
  attempt: Attempt,
  calls: PromptToolCall[],
  parallel: boolean,
  outputs: Map<string, ToolOutput>,
): Promise<LoopOutcome | null> {
  const queue = [...calls]
  let waiting: Waiting | null = null
  let stopped = false
  // If a call cannot be recorded, the calls beside it stop too: a stale claim must have no further effect.
  const failed = new AbortController()
  const signal = AbortSignal.any([attempt.signal, failed.signal])
  const work = async () => {
    for (let call = queue.shift(); call !== undefined; call = queue.shift()) {
      if (stopped) return
      // In sequence, no call runs before an earlier one that waits.
      if (waiting !== null && !parallel) {
        await askAhead(attempt, call, signal)
        continue
      }
      const outcome = await answerCall(attempt, call, signal)
      if (outcome === 'stopped') stopped = true
      // Waiting for a person comes before waiting for a child job: the person must be notified.
      else if ('waiting' in outcome) waiting = waiting?.waiting === 'awaiting_approval' ? waiting : outcome
      else outputs.set(call.callId, outcome)
    }
  }
  try {
    await Promise.all(Array.from({ length: parallel ? Math.min(MAX_PARALLEL, calls.length) : 1 }, work))
  } catch (thrown) {
    failed.abort(thrown)
    throw thrown
  }
  if (stopped || attempt.signal.aborted) return stoppedOutcome(attempt)
  return waiting === null ? null : { kind: 'waiting', status: (waiting as Waiting).waiting, text: textSoFar(attempt) }
}

/** Asks about a call that cannot run yet. Any other verdict is ignored: the policy decides again when the call's turn comes. */
async function askAhead(attempt: Attempt, call: PromptToolCall, signal: AbortSignal): Promise<void> {
  const prepared = prepareCall(attempt, call, signal)
  if (signal.aborted || 'problem' in prepared) return
  await attempt.deps.policy({ ...prepared, ahead: true })
}

async function answerCall(attempt: Attempt, call: PromptToolCall, signal: AbortSignal): Promise<CallOutcome> {
  const { deps } = attempt
  if (signal.aborted) return 'stopped'
  const prepared = prepareCall(attempt, call, signal)
  if ('problem' in prepared) return refuse(attempt, call, prepared.problem)
  const { tool } = prepared
  const decision = await deps.policy({ ...prepared, ahead: false })
  if (signal.aborted) return 'stopped'
  switch (decision.verdict) {
    case 'wait':
      return { waiting: decision.status }
    case 'deny':
      return finishCall(attempt, call, { ok: false, output: `Not run: ${decision.reason}` }, { ...NOT_RUN, ...decision, state: 'denied' })
    case 'answer':
      return finishCall(attempt, call, { ok: decision.ok, output: decision.output }, { ...NOT_RUN, ...decision })
    case 'run':
      break
  }
  if (decision.underWay === true) return run(attempt, prepared, decision)
  if (prepared.startedBefore && decision.again !== true) return refuse(attempt, call, unknownOutcome(tool.name))
  // Also before a second run: each recorded start needs its own decision if its outcome is unknown.
  if ((decision.facts?.effect ?? tool.effect) === 'once') {
    await deps.record.toolStarted({ callId: call.callId, name: tool.name })
    // Nothing has happened yet, but the row says "started". Only a result keeps it from looking like an unknown outcome.
    if (signal.aborted) return refuse(attempt, call, 'Not run: the job was stopped first.')
  }
  return run(attempt, prepared, decision)
}

type PreparedCall = Omit<PolicyQuestion, 'ahead'>

/** Returns a problem if there is no such tool, or its arguments do not fit. */
function prepareCall({ input }: Attempt, call: PromptToolCall, signal: AbortSignal): PreparedCall | { problem: string } {
  const { callId, name } = call
  const wasStarted = input.startedCallIds.has(callId)
  const tool = input.tools.find((one) => one.name === name)
  if (tool === undefined) return { problem: wasStarted ? unknownOutcome(name) : unknownTool(name, input.tools) }
  const parsed = parseArgs(tool, call.args)
  if ('problem' in parsed) return parsed
  const startedBefore = wasStarted && tool.effect === 'once'
  return { call, tool, args: parsed.args, context: { ...input.toolContext, callId, signal }, startedBefore }
}

type RunVerdict = Extract<PolicyVerdict, { verdict: 'run' }>

async function run(
  attempt: Attempt,
  { call, tool, args, context }: PreparedCall,
  { facts: judged, note }: RunVerdict,
): Promise<CallOutcome> {
  const { deps } = attempt
  const { signal } = context
  const startedAt = deps.clock.monotonic()
  deps.progress.activity('tool', tool.name, null)
  deps.progress.tool({ callId: call.callId, name: call.name, state: 'running' })
  const show = (text: string) => deps.progress.toolOutput(call.callId, text)
  const work = (async () => tool.run(args, { ...context, judged, show }))()
  const ended = () => resultOrStopped(attempt, work, signal)
  const { limitMs } = tool
  const result = await (limitMs === undefined
    ? ended()
    : giveSignsOfLife({ clock: deps.clock, alive: deps.progress.alive }, ended, limitMs))
  const hasNeighbourFailed = signal.aborted && !attempt.signal.aborted
  if (result === 'stopped' || hasNeighbourFailed) return 'stopped'
  if (result === 'unknown') return askPerson(attempt, { call, tool, args, context, startedBefore: true })
  if (result instanceof CallAsks) return askPerson(attempt, { call, tool, args, context, startedBefore: true, asks: result.question })
  const addsTaint = [...(tool.addsTaint ?? []), ...(result.addsTaint ?? []), ...(note?.addsTaint ?? [])]
  return finishCall(attempt, call, result, { durationMs: deps.clock.monotonic() - startedAt, ran: true, addsTaint, note })
}

/** About what a server asks, or about the outcome, as of a call that was under way when the app stopped. */
async function askPerson(attempt: Attempt, prepared: PreparedCall): Promise<CallOutcome> {
  const decision = await attempt.deps.policy({ ...prepared, ahead: false })
  if (decision.verdict === 'wait') return { waiting: decision.status }
  return refuse(attempt, prepared.call, unknownOutcome(prepared.tool.name))
}

type Ended = ToolOutput | CallAsks | 'stopped' | 'unknown'

/** After Stop, a tool that still finishes in time is trusted. One that fails, or does not end, has no result. */
async function resultOrStopped(attempt: Attempt, work: Promise<ToolOutput>, signal: AbortSignal): Promise<Ended> {
  const done = new AbortController()
  const leftBehind = async (): Promise<'stopped'> => {
    await whenAborted(signal, done.signal)
    await attempt.deps.clock.sleep(STOP_GRACE_MS, done.signal)
    return 'stopped'
  }
  const finished = work.catch((thrown: unknown): Ended => {
    if (signal.aborted) return 'stopped'
    if (thrown instanceof OutcomeUnknown) return 'unknown'
    if (thrown instanceof CallAsks) return thrown
    return { ok: false, output: messageOf(thrown) || 'The tool failed without a reason.', addsTaint: taintsOfError(thrown) }
  })
  try {
    return await Promise.race([finished, leftBehind()])
  } finally {
    done.abort()
  }
}

function parseArgs(tool: Tool, args: unknown): { args: z.output<Tool['args']> } | { problem: string } {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    const received = (typeof args === 'string' ? args : (JSON.stringify(args) ?? 'nothing')).slice(0, 300).toWellFormed()
    const known = Object.keys(tool.args.shape).join(', ')
    const fields = known === '' ? '' : ` with: ${known}`
    return { problem: `Not run: the arguments of ${tool.name} must be a JSON object${fields}. Received: ${received}` }
  }
  const parsed = tool.args.safeParse(args)
  if (parsed.success) {
    const problem = tool.schema?.check(parsed.data) ?? null
    return problem === null ? { args: parsed.data } : { problem: `Not run: the arguments of ${tool.name} do not fit: ${problem}` }
  }
  const { issues } = parsed.error
  const lines = issues.slice(0, MAX_ISSUES).map(({ path, message }) => `- ${path.map(String).join('.') || '(all)'}: ${message}`)
  if (issues.length > MAX_ISSUES) lines.push(`- and ${issues.length - MAX_ISSUES} more`)
  return { problem: [`Not run: the arguments of ${tool.name} do not fit.`, ...lines].join('\n') }
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name).join(', ')
  return `Not run: there is no tool '${name}'. ${names === '' ? 'This job has no tools.' : `The tools are: ${names}.`}`
}

function unknownOutcome(name: string): string {
  return `The outcome is unknown: ${name} had been started, and nothing says whether it took effect. It was not run again. Find out before you try anything like it a second time.`
}

type ResultDetails = {
  durationMs: number
  ran: boolean
  addsTaint?: readonly Taint[]
  state?: 'failed' | 'denied'
  note?: PersonNote | undefined
}
const NOT_RUN: ResultDetails = { durationMs: 0, ran: false }

function refuse(attempt: Attempt, call: PromptToolCall, output: string): Promise<ToolOutput> {
  return finishCall(attempt, call, { ok: false, output }, NOT_RUN)
}

async function finishCall(attempt: Attempt, call: PromptToolCall, result: ToolOutput, details: ResultDetails): Promise<ToolOutput> {
  const output = cutOutput(String(result.output))
  const kept: ToolOutput = {
    ok: result.ok,
    output: details.note === undefined ? output : `${output}\n\nThe person wrote: ${details.note.text}`,
  }
  if (result.result !== undefined) kept.result = result.result
  await record(attempt, call, kept, details)
  attempt.deps.progress.tool({ callId: call.callId, name: call.name, state: details.state ?? (kept.ok ? 'done' : 'failed') })
  return kept
}

async function record(
  attempt: Attempt,
  call: PromptToolCall,
  kept: ToolOutput,
  { durationMs, ran, addsTaint = [] }: ResultDetails,
): Promise<void> {
  const { callId, name } = call
  await attempt.deps.record.toolResult({
    callId,
    name,
    ...kept,
    durationMs: Math.round(durationMs),
    ran,
    addsTaint: [...new Set(addsTaint)],
  })
  attempt.used.toolCalls++
}

function cutOutput(output: string): string {
  if (output.length <= MAX_TOOL_OUTPUT_CHARS) return output.toWellFormed()
  const mark = `\n[cut: ${output.length} characters, the first ${MAX_TOOL_OUTPUT_CHARS} are shown]`
  return output.slice(0, MAX_TOOL_OUTPUT_CHARS - mark.length).toWellFormed() + mark
}
