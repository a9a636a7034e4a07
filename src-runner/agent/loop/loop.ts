import { createMessage } from '../../lib/messages.ts'
import type { PromptToolCall } from '../providers/model.ts'
import { describeTool } from '../tools/tool.ts'
import { answerCalls } from './answer-calls.ts'
import { askModel, type Answer } from './ask-model.ts'
import { failedWith, limitReached, openCallsOf, stoppedOutcome, type Attempt } from './attempt.ts'
import { createContextWindows } from './context-windows.ts'
import { NO_COST, type CallCost } from './cost-of-call.ts'
import type { LoopDeps, LoopOutcome, LoopInput, RecordedReply } from './loop-types.ts'

const CUT_BY_LENGTH = '[The answer stops here: it reached the greatest length that the model may write.]'

/**
 * Works on one job until it is done, has to wait, reaches a limit or is stopped: asks the model, runs the tools that it
 * calls, and records each step. It knows no jobs, database or page, and it continues from recorded steps alone, so a
 * crash makes no difference. Throws only `StaleClaimError` and bugs.
 */
export async function runLoop(input: LoopInput, deps: LoopDeps): Promise<LoopOutcome> {
  const done = new AbortController()
  const timeUp = new AbortController()
  const messages = [...input.prompt, ...input.transcript]
  const attempt: Attempt = {
    input,
    deps,
    messages,
    windows: deps.windows ?? createContextWindows(deps.clock),
    takenIds: new Set(messages.flatMap((m) => (m.role === 'assistant' ? m.toolCalls.map((call) => call.callId) : []))),
    used: { ...input.used },
    said: input.transcript.flatMap((m) => (m.role === 'assistant' && m.text.trim() !== '' ? [m.text] : [])),
    signal: AbortSignal.any([input.signal, timeUp.signal]),
    modelIndex: 0,
    startedAt: deps.clock.monotonic(),
  }
  const leftMs = input.limits.maxWorkingMs - input.used.workingMs
  if (leftMs > 0) {
    deps.clock.sleep(leftMs, done.signal).then(
      () => timeUp.abort(new Error('the working time is over')),
      () => {},
    )
  }
  try {
    return await takeTurns(attempt)
  } finally {
    done.abort(new Error('the loop has ended'))
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
    return { kind: 'completed', text: attempt.said.at(-1) ?? '', reply: null }
  }
  const noOp = noOpOutcome(attempt)
  if (noOp !== null) return noOp
  // A job that may call nothing gets no tools. One that used up its calls still does: its history names them.
  const tools = input.limits.maxToolCalls === 0 ? [] : input.tools.map(describeTool)
  let spent = NO_COST
  let askedTwice = false
  for (;;) {
    const limit = limitReached(attempt)
    if (limit !== null) {
      await recordInterrupted(attempt, NOTHING_SAID, spent, 0)
      return limit
    }
    const startedAt = deps.clock.monotonic()
    const answer = await askModel(attempt, { messages: [...messages], tools, maxOutputTokens: null }, spent)
    const durationMs = Math.round(deps.clock.monotonic() - startedAt)
    if (answer.end !== 'reply') return endWithoutReply(attempt, answer, durationMs)
    const { said, reason } = answer
    if (reason === 'content_filter') {
      await recordInterrupted(attempt, said, answer.cost, durationMs, answer)
      return failedWith(attempt, 'model_refused', createMessage('job_filtered'))
    }
    if (said.calls.length === 0) {
      if (said.text.trim() !== '' || askedTwice) return endWithReply(attempt, answer, durationMs)
      // Models sometimes send nothing. Asking once more usually helps, and does not count as a turn.
      askedTwice = true
      spent = answer.cost
      continue
    }
    await recordReply(attempt, replyOf(answer, said.text, said.calls, durationMs))
    askedTwice = false
    spent = NO_COST
    const outcome = (await answerCalls(attempt, openCallsOf(messages), said.droppedCalls)) ?? noOpOutcome(attempt)
    if (outcome !== null) return outcome
  }
}

/** Decided from what is recorded, so that a job whose process died just before its end ends the same way. */
function noOpOutcome({ input, messages }: Attempt): LoopOutcome | null {
  const last = messages.findLastIndex(({ role }) => role !== 'tool')
  const results = messages.slice(last + 1).flatMap((message) => (message.role === 'tool' ? [message] : []))
  if (!results.every(({ ok }) => ok)) return null
  const text = results.map(({ name }) => input.tools.find((tool) => tool.name === name)?.endsQuietly).find((words) => words !== undefined)
  return text === undefined ? null : { kind: 'completed', text, reply: null, noOp: true }
}

const NOTHING_SAID = { text: '', reasoning: '' }

type Replied = Extract<Answer, { end: 'reply' }>

async function recordReply(attempt: Attempt, reply: RecordedReply): Promise<void> {
  await attempt.deps.record.reply(reply)
  attempt.deps.budget?.settle()
  attempt.used.turns++
  const { text, toolCalls, reasoning, model, sent } = reply
  attempt.messages.push({ role: 'assistant', text, toolCalls, ...(sent && { sent: { ...sent, model, thinking: reasoning } }) })
  for (const call of toolCalls) attempt.takenIds.add(call.callId)
  if (text.trim() !== '') attempt.said.push(text)
}

/** The last reply is returned unrecorded: it commits together with the end of the job. */
async function endWithReply(attempt: Attempt, answer: Replied, durationMs: number): Promise<LoopOutcome> {
  const said = answer.said.text.trim() === '' ? '' : answer.said.text
  if (said === '' && attempt.said.length === 0) {
    await recordInterrupted(attempt, answer.said, answer.cost, durationMs, answer)
    return failedWith(attempt, 'model_bad_answer', createMessage(answer.reason === 'length' ? 'job_only_thought' : 'job_nothing_said'))
  }
  const text = said !== '' && answer.reason === 'length' ? `${said}\n\n${CUT_BY_LENGTH}` : said
  return { kind: 'completed', text: text === '' ? attempt.said.at(-1)! : text, reply: replyOf(answer, text, [], durationMs) }
}

async function endWithoutReply(attempt: Attempt, answer: Exclude<Answer, Replied>, durationMs: number): Promise<LoopOutcome> {
  await recordInterrupted(attempt, answer.end === 'limit' ? NOTHING_SAID : answer.said, answer.cost, durationMs, answer)
  if (answer.end === 'limit') return answer.outcome
  return answer.end === 'stopped' ? stoppedOutcome(attempt) : failedWith(attempt, answer.error, answer.message)
}

/** Keeps the text and the cost of a reply that broke off, without its calls. */
async function recordInterrupted(
  attempt: Attempt,
  { text, reasoning }: { text: string; reasoning: string },
  cost: CallCost,
  durationMs: number,
  answer?: Answer,
): Promise<void> {
  if (text === '' && cost.usage.input + cost.usage.output === 0) return
  const model = answer?.model ?? attempt.input.models[attempt.modelIndex]!
  await attempt.deps.record.reply({ text, reasoning, toolCalls: [], model, ...cost, interrupted: true, durationMs })
  attempt.deps.budget?.settle()
  if (text.trim() !== '') attempt.said.push(text)
}

function replyOf({ said, model, cost, sent }: Replied, text: string, toolCalls: PromptToolCall[], durationMs: number): RecordedReply {
  const reply = { text, reasoning: said.reasoning, toolCalls, model, ...cost, interrupted: false, durationMs }
  // A reply without calls goes back as text alone.
  return sent === undefined || toolCalls.length === 0 ? reply : { ...reply, sent }
}
