import { afterAwake } from '../../lib/clock.ts'
import { createMessage } from '../../lib/messages.ts'
import type { PromptToolCall } from '../providers/model.ts'
import { toolsInUse } from '../tools/find-tools/find-tools.ts'
import { describeTool } from '../tools/tool.ts'
import { answerCalls } from './answer-calls.ts'
import { askModel, type AskOutcome } from './ask-model.ts'
import { failedWith, limitReached, openCallsOf, stoppedOutcome, type Attempt } from './attempt.ts'
import { EMPTY_REPLY, type ReplyContent } from './call-model.ts'
import { createContextWindows } from './context-windows.ts'
import { NO_COST, type CallCost } from './cost-of-call.ts'
import type { LoopDeps, LoopOutcome, LoopInput, RecordedReply } from './loop-types.ts'

const CUT_BY_LENGTH = '[The answer stops here: it reached the maximum length of the model.]'

/**
 * Works on one job until it is done, has to wait, reaches a limit or is stopped: asks the model, runs the tools that it
 * calls, and records each step. It knows no jobs, database or page, and it continues from recorded steps alone, so a
 * crash makes no difference. Throws only `StaleClaimError` and bugs.
 */
export async function runLoop(input: LoopInput, deps: LoopDeps): Promise<LoopOutcome> {
  const timeUp = new AbortController()
  const messages = [...input.prompt, ...input.transcript]
  const attempt: Attempt = {
    input,
    deps,
    messages,
    windows: deps.windows ?? createContextWindows(deps.clock),
    takenIds: new Set(messages.flatMap((m) => (m.role === 'assistant' ? m.toolCalls.map((call) => call.callId) : []))),
    used: { ...input.used },
    texts: input.transcript.flatMap((m) => (m.role === 'assistant' && m.text.trim() !== '' ? [m.text] : [])),
    signal: AbortSignal.any([input.signal, timeUp.signal]),
    modelIndex: 0,
    startedAt: deps.clock.awake(),
  }
  const leftMs = input.limits.maxWorkingMs - input.used.workingMs
  const stopTimer = leftMs > 0 ? afterAwake(deps.clock, leftMs, () => timeUp.abort(new Error('the working time is over'))) : () => {}
  try {
    return await takeTurns(attempt)
  } finally {
    stopTimer()
  }
}

async function takeTurns(attempt: Attempt): Promise<LoopOutcome> {
  const { input, messages, deps } = attempt
  if (attempt.signal.aborted) return stoppedOutcome(attempt)
  const open = openCallsOf(input.transcript)
  if (open.length > 0) {
    const outcome = await answerCalls(attempt, open)
    if (outcome !== null) return outcome
  } else if (input.transcript.at(-1)?.role === 'assistant') {
    return { kind: 'completed', text: attempt.texts.at(-1) ?? '', reply: null }
  }
  const noOp = noOpOutcome(attempt)
  if (noOp !== null) return noOp
  // A job that may call nothing gets no tools. One that used up its calls still does: its history names them.
  const tools = () => (input.limits.maxToolCalls === 0 ? [] : toolsInUse(input.tools, messages).map(describeTool))
  let spent = NO_COST
  let askedTwice = false
  for (;;) {
    const limit = limitReached(attempt)
    if (limit !== null) {
      await recordInterrupted(attempt, EMPTY_REPLY, spent, 0)
      return limit
    }
    const startedAt = deps.clock.monotonic()
    const result = await askModel(attempt, { messages: [...messages], tools: tools(), maxOutputTokens: null }, spent)
    const durationMs = Math.round(deps.clock.monotonic() - startedAt)
    if (result.end !== 'reply') return endWithoutReply(attempt, result, durationMs)
    const { content, reason, cost } = result
    if (reason === 'content_filter') {
      await recordInterrupted(attempt, content, cost, durationMs, result.model)
      return failedWith(attempt, 'model_refused', createMessage('job_filtered'))
    }
    if (content.calls.length === 0) {
      if (content.text.trim() !== '' || askedTwice) return endWithReply(attempt, result, durationMs)
      // Models sometimes send nothing. Asking once more usually helps, and does not count as a turn.
      askedTwice = true
      spent = cost
      continue
    }
    await recordReply(attempt, replyOf(result, content.text, content.calls, durationMs))
    askedTwice = false
    spent = NO_COST
    const outcome = (await answerCalls(attempt, openCallsOf(messages), content.droppedCalls)) ?? noOpOutcome(attempt)
    if (outcome !== null) return outcome
  }
}

/** Decided from what is recorded, so that a job whose process died just before its end ends the same way. */
function noOpOutcome({ input, messages }: Attempt): LoopOutcome | null {
  const last = messages.findLastIndex(({ role }) => role !== 'tool')
  const results = messages.slice(last + 1).flatMap((message) => (message.role === 'tool' ? [message] : []))
  if (!results.every(({ ok }) => ok)) return null
  const text = results.map(({ name }) => input.tools.find((tool) => tool.name === name)?.noOpText).find((known) => known !== undefined)
  return text === undefined ? null : { kind: 'completed', text, reply: null, noOp: true }
}

type Replied = Extract<AskOutcome, { end: 'reply' }>

async function recordReply(attempt: Attempt, reply: RecordedReply): Promise<void> {
  await attempt.deps.record.reply(reply)
  attempt.deps.budget?.release()
  attempt.used.turns++
  const { text, toolCalls, reasoning, model, sent } = reply
  attempt.messages.push({ role: 'assistant', text, toolCalls, ...(sent && { sent: { ...sent, model, thinking: reasoning } }) })
  for (const call of toolCalls) attempt.takenIds.add(call.callId)
  if (text.trim() !== '') attempt.texts.push(text)
}

/** The last reply is returned unrecorded: it commits together with the end of the job. */
async function endWithReply(attempt: Attempt, reply: Replied, durationMs: number): Promise<LoopOutcome> {
  const { content, cost, model, reason } = reply
  const own = content.text.trim() === '' ? '' : content.text
  if (own === '' && attempt.texts.length === 0) {
    await recordInterrupted(attempt, content, cost, durationMs, model)
    return failedWith(attempt, 'model_bad_answer', createMessage(reason === 'length' ? 'job_only_thought' : 'job_nothing_said'))
  }
  const text = own !== '' && reason === 'length' ? `${own}\n\n${CUT_BY_LENGTH}` : own
  return { kind: 'completed', text: text === '' ? attempt.texts.at(-1)! : text, reply: replyOf(reply, text, [], durationMs) }
}

async function endWithoutReply(attempt: Attempt, result: Exclude<AskOutcome, Replied>, durationMs: number): Promise<LoopOutcome> {
  await recordInterrupted(attempt, result.end === 'limit' ? EMPTY_REPLY : result.content, result.cost, durationMs, result.model)
  if (result.end === 'limit') return result.outcome
  return result.end === 'stopped' ? stoppedOutcome(attempt) : failedWith(attempt, result.error, result.message)
}

/** Keeps the text and the cost of a reply that broke off, without its calls. */
async function recordInterrupted(
  attempt: Attempt,
  { text, reasoning }: Pick<ReplyContent, 'text' | 'reasoning'>,
  cost: CallCost,
  durationMs: number,
  model = attempt.input.models[attempt.modelIndex]!,
): Promise<void> {
  if (text === '' && cost.usage.input + cost.usage.output === 0) return
  await attempt.deps.record.reply({ text, reasoning, toolCalls: [], model, ...cost, interrupted: true, durationMs })
  attempt.deps.budget?.release()
  if (text.trim() !== '') attempt.texts.push(text)
}

function replyOf({ content, model, cost, sent }: Replied, text: string, toolCalls: PromptToolCall[], durationMs: number): RecordedReply {
  const reply = { text, reasoning: content.reasoning, toolCalls, model, ...cost, interrupted: false, durationMs }
  // A reply without calls goes back as text alone.
  return sent === undefined || toolCalls.length === 0 ? reply : { ...reply, sent }
}
