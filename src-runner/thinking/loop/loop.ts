import { say } from '../../kit/said.ts'
import type { PromptToolCall, ToolDescription } from '../models/model.ts'
import { describeTool } from '../tools/describe-tool.ts'
import { answerCalls } from './answer-calls.ts'
import { askModel, type Answer } from './ask-model.ts'
import { failedWith, limitReached, openCallsOf, stoppedEnding, type Attempt } from './attempt.ts'
import { NO_COST, type CallCost } from './cost-of-call.ts'
import type { LoopDeps, LoopEnding, LoopInput, RecordedReply } from './loop-types.ts'
import { createWindowBook } from './window-book.ts'

const CUT_BY_LENGTH = '[The answer stops here: it reached the greatest length that the model may write.]'

/**
 * Works on one job until it is done, has to wait, must not go on, or is stopped: asks the model, runs the tools it
 * asks for, records each step as it ends. Knows nothing of jobs, databases or pages; what it is given to go on from
 * is what was recorded, so it continues after a crash as if nothing had been.
 *
 * Throws `ClaimLost` from the recorder, and bugs. Everything else is an ending.
 */
export async function runLoop(input: LoopInput, deps: LoopDeps): Promise<LoopEnding> {
  const over = new AbortController()
  const timeUp = new AbortController()
  const attempt: Attempt = {
    input,
    deps,
    messages: [...input.prompt, ...input.transcript],
    windows: deps.windows ?? createWindowBook(deps.clock),
    takenIds: new Set(
      [...input.prompt, ...input.transcript].flatMap((m) => (m.role === 'assistant' ? m.toolCalls.map((call) => call.callId) : [])),
    ),
    used: { ...input.used },
    said: input.transcript.flatMap((m) => (m.role === 'assistant' && m.text.trim() !== '' ? [m.text] : [])),
    signal: AbortSignal.any([input.signal, timeUp.signal]),
    modelIndex: 0,
    startedAt: deps.clock.monotonic(),
  }
  const leftMs = input.limits.maxWorkingMs - input.used.workingMs
  if (leftMs > 0) {
    deps.clock.sleep(leftMs, over.signal).then(
      () => timeUp.abort(new Error('the working time is up')),
      () => {},
    )
  }
  try {
    return await takeTurns(attempt)
  } finally {
    over.abort(new Error('the loop is over'))
  }
}

async function takeTurns(attempt: Attempt): Promise<LoopEnding> {
  const { input, messages } = attempt
  if (attempt.signal.aborted) return stoppedEnding(attempt)
  const open = openCallsOf(input.transcript)
  if (open.length > 0) {
    const ended = await answerCalls(attempt, open)
    if (ended !== null) return ended
  } else if (input.transcript.at(-1)?.role === 'assistant') {
    return { ending: 'completed', text: attempt.said.at(-1) ?? '', reply: null }
  }
  const over = quietEnding(attempt)
  if (over !== null) return over
  const tools = describeTools(attempt)
  let spent = NO_COST
  let askedTwice = false
  for (;;) {
    const limit = limitReached(attempt)
    if (limit !== null) {
      await keepCut(attempt, { text: '', reasoning: '' }, spent, 0)
      return limit
    }
    const begunAt = attempt.deps.clock.monotonic()
    const answer = await askModel(attempt, { messages: [...messages], tools, maxOutputTokens: null }, spent)
    const durationMs = Math.round(attempt.deps.clock.monotonic() - begunAt)
    if (answer.outcome !== 'reply') return endWithout(attempt, answer, durationMs)
    const { said, reason } = answer
    if (reason === 'content_filter') return endFiltered(attempt, answer, durationMs)
    if (said.calls.length === 0) {
      const isEmpty = said.text.trim() === ''
      if (!isEmpty || askedTwice) return endWithReply(attempt, answer, durationMs)
      // Models now and then send nothing at all. The same question once more usually does it, and costs no turn.
      askedTwice = true
      spent = answer.cost
      continue
    }
    await takeReply(attempt, replyOf(answer, said.text, said.calls, durationMs))
    askedTwice = false
    spent = NO_COST
    const ended = (await answerCalls(attempt, openCallsOf(messages), said.droppedCalls)) ?? quietEnding(attempt)
    if (ended !== null) return ended
  }
}

/** Read from what is recorded, so that a job whose process died just before its end ends the same way. */
function quietEnding({ input, messages }: Attempt): LoopEnding | null {
  const last = messages.findLastIndex(({ role }) => role !== 'tool')
  const answers = messages.slice(last + 1).flatMap((message) => (message.role === 'tool' ? [message] : []))
  if (!answers.every(({ ok }) => ok)) return null
  const words = answers.map(({ name }) => input.tools.find((tool) => tool.name === name)?.endsQuietly).find((text) => text !== undefined)
  return words === undefined ? null : { ending: 'completed', text: words, reply: null, quiet: true }
}

/** A job that may call nothing is not told of tools. A job that used up its calls still is: its history names them. */
function describeTools({ input }: Attempt): ToolDescription[] {
  return input.limits.maxToolCalls === 0 ? [] : input.tools.map(describeTool)
}

type Replied = Extract<Answer, { outcome: 'reply' }>

async function takeReply(attempt: Attempt, reply: RecordedReply): Promise<void> {
  await attempt.deps.record.reply(reply)
  attempt.deps.money?.settle()
  attempt.used.turns++
  const { text, toolCalls, reasoning, model, sent } = reply
  const back = sent === undefined ? {} : { sent: { ...sent, model, thinking: reasoning } }
  attempt.messages.push({ role: 'assistant', text, toolCalls, ...back })
  for (const call of reply.toolCalls) attempt.takenIds.add(call.callId)
  if (reply.text.trim() !== '') attempt.said.push(reply.text)
}

/** The last reply is handed back unrecorded: it commits together with the end of the job. */
async function endWithReply(attempt: Attempt, answer: Replied, durationMs: number): Promise<LoopEnding> {
  const said = answer.said.text.trim() === '' ? '' : answer.said.text
  if (said === '' && attempt.said.length === 0) {
    await keepCut(attempt, answer.said, answer.cost, durationMs, answer)
    return failedWith(attempt, 'model_bad_answer', say(answer.reason === 'length' ? 'job_only_thought' : 'job_nothing_said'))
  }
  const text = said !== '' && answer.reason === 'length' ? `${said}\n\n${CUT_BY_LENGTH}` : said
  return { ending: 'completed', text: text === '' ? attempt.said.at(-1)! : text, reply: replyOf(answer, text, [], durationMs) }
}

async function endFiltered(attempt: Attempt, answer: Replied, durationMs: number): Promise<LoopEnding> {
  await keepCut(attempt, answer.said, answer.cost, durationMs, answer)
  return failedWith(attempt, 'model_refused', say('job_filtered'))
}

async function endWithout(attempt: Attempt, answer: Exclude<Answer, { outcome: 'reply' }>, durationMs: number): Promise<LoopEnding> {
  await keepCut(attempt, answer.outcome === 'limit' ? { text: '', reasoning: '' } : answer.said, answer.cost, durationMs, answer)
  if (answer.outcome === 'limit') return answer.ending
  return answer.outcome === 'stopped' ? stoppedEnding(attempt) : failedWith(attempt, answer.error, answer.message)
}

/** What was written or paid for a reply that never came to its end is kept, without the calls it may have asked for. */
async function keepCut(
  attempt: Attempt,
  said: { text: string; reasoning: string },
  cost: CallCost,
  durationMs: number,
  answer?: Answer,
): Promise<void> {
  if (said.text === '' && cost.usage.input + cost.usage.output === 0) return
  await attempt.deps.record.reply({
    text: said.text,
    reasoning: said.reasoning,
    toolCalls: [],
    model: answer?.model ?? attempt.input.models[attempt.modelIndex]!,
    ...cost,
    interrupted: true,
    durationMs,
  })
  attempt.deps.money?.settle()
  if (said.text.trim() !== '') attempt.said.push(said.text)
}

function replyOf({ said, model, cost, sent }: Replied, text: string, toolCalls: PromptToolCall[], durationMs: number): RecordedReply {
  const reply = { text, reasoning: said.reasoning, toolCalls, model, ...cost, interrupted: false, durationMs }
  // What called nothing goes back as words alone.
  return sent === undefined || toolCalls.length === 0 ? reply : { ...reply, sent }
}
