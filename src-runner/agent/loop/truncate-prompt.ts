import type { PromptMessage } from '../providers/model.ts'
import { BYTES_PER_TOKEN, maxTokensOfMessage } from '../providers/prompt-size.ts'

/** Comes before the first remaining message of a conversation. */
export const EARLIER_LEFT_OUT = '[Earlier turns of this conversation are left out here.]'
/** Comes after the task. */
export const STEPS_LEFT_OUT = '[The first steps of this job are left out here, to save room. What they did stays done.]'

/** A measure that starts goes on until the past fills half of its room, so that the next prompts can keep their beginning. */
const DOWN_TO = 0.5
/** A harsher measure does not start while the past fills no more than this. */
const ENOUGH = 0.8
/** A longer text in an old reply, or in the arguments of its calls, is shortened. */
const LONG_TEXT_CHARS = 400
/** The newest results are cut to `most`, and by halves down to `least`, until they fit. */
const NEWEST_BYTES = { most: 32_000, least: 1_000 }

/** `tokens`: an upper estimate. `leftOut`: how many messages are gone or shorter than recorded. */
type TruncatedPrompt = { messages: PromptMessage[]; tokens: number; leftOut: number }

/** How far each measure has gone. They only ever go further. Turns count from the first reply of the job. */
function nothingCut(system: number) {
  return {
    /** Results that would fill half of the room by themselves lose their middle. */
    large: false,
    earlierResults: false,
    /** Index of the first message that is kept of the conversation before. */
    earlierFrom: system,
    /** Turns before this lose their results. */
    results: 0,
    /** Turns before this have short replies and arguments. */
    replies: 0,
    /** Turns before this are gone. */
    turns: 0,
    /** Turns that did not fit while they were the newest, and the bytes that each of their texts may have. */
    newest: new Map<number, number>(),
    /** Replies of turns before this were written when more stood before them. */
    changedUntil: 0,
  }
}
type Truncation = ReturnType<typeof nothingCut>

/**
 * Fits a prompt into `limit` tokens. The record stays complete; this only decides what the model reads again.
 *
 * It leaves out, in this order and only as far as needed: the middle of results that would fill half of the room by
 * themselves; results of earlier conversation turns; those turns, oldest first; results of this job, oldest first; long
 * texts in its replies and calls; its turns; and at last the middle of the newest results. The system text and the task
 * stay, a call stays with its result, and the order stays.
 *
 * It replays the job turn by turn, and what is left out once is left out of all later prompts. So a restart changes
 * nothing, and prompts keep their beginning as long as there is room, which is what providers cache.
 */
export function truncatePrompt(messages: readonly PromptMessage[], taskAt: number, limit: number): TruncatedPrompt {
  const untruncated = sumTokens(messages)
  if (untruncated <= limit) return { messages: [...messages], tokens: untruncated, leftOut: 0 }

  const parts = partsOf(messages, taskAt)
  const fixed = sumTokens(messages.slice(0, parts.system)) + maxTokensOfMessage(parts.task)
  const room = Math.max(0, limit - fixed)
  const view = createView(parts, Math.max(NEWEST_BYTES.least, Math.floor((room / 2) * BYTES_PER_TOKEN)))
  const cut = nothingCut(parts.system)
  // The model was called before each turn with all turns before it, and is called now with all of them.
  let tokens = view.tokens(cut, 0)
  for (let turns = 0; turns <= parts.turns.length; turns++) {
    if (turns > 0) tokens += view.tokensOfTurn(cut, turns - 1)
    if (tokens <= limit) continue
    cutFurther(parts, view, cut, turns, { fixed, limit })
    cut.changedUntil = turns
    tokens = view.tokens(cut, turns)
  }
  return { messages: view.render(cut), tokens, leftOut: view.leftOut(cut) }
}

function sumTokens(messages: readonly (PromptMessage | null)[]): number {
  return messages.reduce((tokens, message) => tokens + tokensOf(message), 0)
}

const tokensOf = (message: PromptMessage | null): number => (message === null ? 0 : maxTokensOfMessage(message))

type Parts = ReturnType<typeof partsOf>
/** A reply and the results of its calls: a range of messages. */
type Turn = { from: number; end: number }

function partsOf(messages: readonly PromptMessage[], taskAt: number) {
  /** How many system messages come first. */
  const system = messages.findIndex(({ role }, at) => role !== 'system' || at === taskAt)
  /** Where the user's messages are, the task last. */
  const userMessages: number[] = []
  for (let at = system; at <= taskAt; at++) if (messages[at]!.role === 'user') userMessages.push(at)
  const turns: Turn[] = []
  for (let at = taskAt + 1; at < messages.length; at++) {
    const last = turns.at(-1)
    if (last !== undefined && messages[at]!.role === 'tool') last.end = at + 1
    else turns.push({ from: at, end: at + 1 })
  }
  return { messages, system, userMessages, taskAt, task: messages[taskAt]!, turns }
}

type View = ReturnType<typeof createView>

/** The messages after a truncation. */
function createView({ messages, system, taskAt, task, turns }: Parts, largeBytes: number) {
  /** A message has few forms, and each is needed many times during the replay. */
  const forms = messages.map(() => new Map<string, PromptMessage>())
  const form = (at: number, name: string, make: (message: PromptMessage) => PromptMessage): PromptMessage => {
    let made = forms[at]!.get(name)
    if (made === undefined) {
      made = make(messages[at]!)
      if (maxTokensOfMessage(made) >= maxTokensOfMessage(messages[at]!)) made = messages[at]!
      forms[at]!.set(name, made)
    }
    return made
  }
  const result = (at: number, cut: Truncation, isOld: boolean): PromptMessage => {
    if (isOld) return form(at, 'none', withoutOutput)
    return cut.large ? form(at, 'large', (message) => withoutMiddle(message, largeBytes)) : messages[at]!
  }
  const messageOfTurn = (at: number, turn: number, cut: Truncation): PromptMessage | null => {
    if (turn < cut.turns) return null
    const isResult = messages[at]!.role === 'tool'
    const isOld = turn < (isResult ? cut.results : cut.replies)
    const bytes = cut.newest.get(turn)
    if (!isOld && bytes !== undefined)
      return form(at, String(bytes), (message) => (isResult ? withoutMiddle(message, bytes) : shortReply(message, bytes)))
    if (isResult) return result(at, cut, isOld)
    return isOld ? form(at, 'short', (message) => shortReply(message, LONG_TEXT_CHARS)) : messages[at]!
  }
  const turnAfter = (turn: number, cut: Truncation): (PromptMessage | null)[] => {
    const { from, end } = turns[turn]!
    return messages.slice(from, end).map((_, offset) => messageOfTurn(from + offset, turn, cut))
  }
  /** Without a list, because the replay measures each turn many times. */
  const tokensOfTurn = (cut: Truncation, turn: number): number => {
    const { from, end } = turns[turn]!
    let tokens = 0
    for (let at = from; at < end; at++) tokens += tokensOf(messageOfTurn(at, turn, cut))
    return tokens
  }
  const beforeTask = (cut: Truncation): (PromptMessage | null)[] =>
    messages.slice(0, taskAt).map((message, at) => {
      if (at >= system && at < cut.earlierFrom) return null
      return message.role === 'tool' ? result(at, cut, cut.earlierResults) : message
    })

  return {
    /** The messages before the task, the task, and this many turns. */
    tokens(cut: Truncation, upTo: number): number {
      let tokens = sumTokens(beforeTask(cut)) + maxTokensOfMessage(task) + ROOM_FOR_MARKS
      for (let turn = cut.turns; turn < upTo; turn++) tokens += tokensOfTurn(cut, turn)
      return tokens
    },
    tokensOfTurn,
    render(cut: Truncation): PromptMessage[] {
      const marked = cut.turns > 0 ? withText(task, (text) => `${text}\n\n${STEPS_LEFT_OUT}`) : task
      const steps = turns.flatMap((_, turn) => {
        const after = turnAfter(turn, cut)
        return turn < cut.changedUntil ? after.map((message) => (message === null ? null : afterChange(message))) : after
      })
      const kept = [...beforeTask(cut), marked, ...steps].filter((message) => message !== null)
      if (cut.earlierFrom === system) return kept
      const first = kept.findIndex(({ role }) => role === 'user')
      const mark = (text: string) => (text.startsWith(EARLIER_LEFT_OUT) ? text : `${EARLIER_LEFT_OUT}\n\n${text}`)
      return kept.with(first, withText(kept[first]!, mark))
    },
    leftOut(cut: Truncation): number {
      const changed = turns.flatMap(({ from }, turn) => turnAfter(turn, cut).map((message, offset) => message !== messages[from + offset]))
      return [...beforeTask(cut).map((message, at) => message !== messages[at]), ...changed].filter(Boolean).length
    },
  }
}

const ROOM_FOR_MARKS = maxTokensOfMessage({ role: 'user', text: EARLIER_LEFT_OUT + STEPS_LEFT_OUT })

function withText(message: PromptMessage, change: (text: string) => string): PromptMessage {
  return message.role === 'user' || message.role === 'system' ? { ...message, text: change(message.text) } : message
}

/** Takes the measures further until the prompt fits after this many turns, if possible with room for more. */
function cutFurther(parts: Parts, view: View, cut: Truncation, turns: number, { fixed, limit }: { fixed: number; limit: number }): void {
  cut.large = true
  // The model continues from the newest turn. Of the rest of the room, half is enough for the past.
  const newest = Math.max(0, turns - 1)
  const present = fixed + (turns === 0 ? 0 : view.tokensOfTurn(cut, newest))
  const past = Math.max(0, limit - present)
  const fits = (share: number) => view.tokens(cut, turns) <= present + past * share
  if (fits(ENOUGH)) return
  cut.earlierResults = true
  if (fits(ENOUGH)) return
  for (const at of parts.userMessages) {
    if (at <= cut.earlierFrom) continue
    cut.earlierFrom = at
    if (fits(DOWN_TO)) return
  }
  for (const measure of ['results', 'replies', 'turns'] as const) {
    if (fits(ENOUGH)) return
    let tokens = view.tokens(cut, turns)
    while (cut[measure] < newest) {
      const turn = cut[measure]
      const before = view.tokensOfTurn(cut, turn)
      cut[measure] = turn + 1
      tokens -= before - view.tokensOfTurn(cut, turn)
      if (tokens <= present + past * DOWN_TO) return
    }
  }
  if (turns === 0) return
  for (let bytes = NEWEST_BYTES.most; bytes >= NEWEST_BYTES.least && view.tokens(cut, turns) > limit; bytes = Math.floor(bytes / 2))
    cut.newest.set(newest, bytes)
}

/** Keeps that the call was made and whether it succeeded. */
function withoutOutput(message: PromptMessage): PromptMessage {
  if (message.role !== 'tool') return message
  const output = `[Left out here, to save room: ${message.output.length} characters from ${message.name}. What it did stays done. Call it again only if you need to read this once more.]`
  return { ...message, output }
}

/** Keeps beginning and end: a file says at its head what it is, a command at its end how it went. */
function withoutMiddle(message: PromptMessage, bytes: number): PromptMessage {
  return message.role === 'tool' ? { ...message, output: cutMiddle(message.output, bytes) } : message
}

/** Cuts the long texts of a reply and of its calls. The shape of the arguments stays. */
function shortReply(message: PromptMessage, chars: number): PromptMessage {
  if (message.role !== 'assistant') return message
  const toolCalls = message.toolCalls.map((call) => ({ ...call, args: shortTexts(call.args, chars) }))
  const sent = message.sent === undefined ? {} : { sent: { ...message.sent, changed: 'itself' as const } }
  return { ...message, ...sent, text: cutEnd(message.text, chars), toolCalls }
}

/** Something before this reply is no longer as it was when the reply was written. */
function afterChange(message: PromptMessage): PromptMessage {
  if (message.role !== 'assistant' || message.sent === undefined || message.sent.changed !== undefined) return message
  return { ...message, sent: { ...message.sent, changed: 'before' } }
}

function shortTexts(value: unknown, chars: number): unknown {
  if (typeof value === 'string') return cutEnd(value, chars)
  if (Array.isArray(value)) return value.map((item) => shortTexts(item, chars))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortTexts(inner, chars)]))
}

function cutEnd(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars / 2).toWellFormed()} [… ${text.length} characters in all, left out here]`
}

function cutMiddle(text: string, bytes: number): string {
  const all = Buffer.from(text)
  if (all.length <= bytes) return text
  const mark = `\n\n[The middle of these ${text.length} characters is left out here, to save room. Ask for a smaller part if you need it.]\n\n`
  const kept = Math.max(0, bytes - mark.length)
  const head = Math.floor(kept * 0.7)
  return textOf(all.subarray(0, head)) + mark + textOf(all.subarray(all.length - (kept - head)))
}

/** Bytes cut anywhere, without half characters at the ends. */
function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/^\ufffd+|\ufffd+$/g, '')
}
