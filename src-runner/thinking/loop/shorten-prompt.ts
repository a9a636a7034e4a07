import type { PromptMessage } from '../models/model.ts'
import { BYTES_OF_TOKEN, mostTokensOfMessage } from '../models/prompt-size.ts'
import { afterChange, middleCut, shortReply, withoutResult } from './shorter-forms.ts'

/** Stands in front of the first message that is left of a conversation. */
export const EARLIER_LEFT_OUT = '[Earlier turns of this conversation are left out here.]'
/** Stands behind the task. */
export const STEPS_LEFT_OUT = '[The first steps of this job are left out here, to save room. What they did stays done.]'

/** What is left of the room for the past when it is too small: much goes at once and then nothing for long, so that the beginning rests. */
const DOWN_TO = 0.5
/** A harsher measure is not begun while a milder one has brought it this far. */
const ENOUGH = 0.8
/** From here on a text in an old reply, or in the arguments of its calls, is long. */
const LONG_TEXT_CHARS = 400
/** What the newest calls brought is cut to this and by halves down to the least, until it fits. */
const LAST_BYTES = { most: 32_000, least: 1_000 }

export type Shortened = {
  messages: PromptMessage[]
  /** As far as can be said without the model's own tokenizer, from above. */
  tokens: number
  /** How many messages are gone or shorter than they are recorded. */
  leftOut: number
}

/** How far each measure has gone; all of them only ever go further. Rounds are counted from the first reply of the job. */
type Cuts = {
  /** Results that would fill half of the room alone are without their middle. */
  large: boolean
  earlierResults: boolean
  /** Place of the first message that is kept of the conversation before. */
  earlierFrom: number
  /** Rounds before this are without what their calls brought. */
  results: number
  /** Rounds before this have short replies and short arguments. */
  replies: number
  /** Rounds before this are gone. */
  rounds: number
  /** Rounds that did not fit while they were the newest, and the bytes that a text of them may have. */
  newest: Map<number, number>
  /** Replies of rounds before this were written when more stood before them. */
  changedUntil: number
}

/**
 * What of a prompt fits into `budget` tokens: all of it where it does. The record is not touched, and nothing that is
 * decided from it changes; this is only about what the model reads once more.
 *
 * Left out is, each as far as it has to be: the middle of results that would fill half of the room alone; what tools
 * brought in earlier turns; earlier turns, oldest first; what tools brought in this job, oldest first; long texts in its
 * replies and calls, oldest first; its rounds, oldest first; and last of all the middle of what the newest calls brought.
 * The system text and the task stay as they are, a call stays with its result, and the order stays.
 *
 * It looks at the job as it grew, call by call, and what was left out of one call is left out of all later ones. So the
 * answer is the same after a restart, and the beginning of a prompt differs from the one before it only when there is no
 * room left: the caches of providers live on beginnings that stay.
 */
export function shortenPrompt(messages: readonly PromptMessage[], taskAt: number, budget: number): Shortened {
  const whole = messages.reduce((sum, message) => sum + mostTokensOfMessage(message), 0)
  if (whole <= budget) return { messages: [...messages], tokens: whole, leftOut: 0 }

  const parts = partsOf(messages, taskAt)
  const fixed = messages
    .slice(0, parts.system)
    .reduce((sum, message) => sum + mostTokensOfMessage(message), mostTokensOfMessage(parts.task))
  const room = Math.max(0, budget - fixed)
  const view = viewOf(parts, Math.max(LAST_BYTES.least, Math.floor((room / 2) * BYTES_OF_TOKEN)))
  const cuts: Cuts = {
    large: false,
    earlierResults: false,
    earlierFrom: parts.system,
    results: 0,
    replies: 0,
    rounds: 0,
    newest: new Map(),
    changedUntil: 0,
  }
  // The model was asked before each round, with all rounds before it, and is to be asked now, with all there are.
  let tokens = view.tokens(cuts, 0)
  for (let rounds = 0; rounds <= parts.rounds.length; rounds++) {
    if (rounds > 0) tokens += view.tokensOfRound(cuts, rounds - 1)
    if (tokens <= budget) continue
    cutFurther(parts, view, cuts, rounds, { fixed, budget })
    cuts.changedUntil = rounds
    tokens = view.tokens(cuts, rounds)
  }
  return { messages: view.render(cuts), tokens, leftOut: view.leftOut(cuts) }
}

/** `system` is how many messages stand at the start; `turns` are the places where turns begin, and the task's own. */
type Parts = { messages: readonly PromptMessage[]; system: number; turns: number[]; taskAt: number; task: PromptMessage; rounds: Round[] }
/** A reply and the results of its calls: places in the messages, the end not among them. */
type Round = { from: number; end: number }

function partsOf(messages: readonly PromptMessage[], taskAt: number): Parts {
  const task = messages[taskAt]!
  const system = messages.findIndex(({ role }, at) => role !== 'system' || at === taskAt)
  const turns: number[] = []
  for (let at = system; at <= taskAt; at++) if (messages[at]!.role === 'user') turns.push(at)
  const rounds: Round[] = []
  for (let at = taskAt + 1; at < messages.length; at++) {
    const last = rounds.at(-1)
    if (last !== undefined && messages[at]!.role === 'tool') last.end = at + 1
    else rounds.push({ from: at, end: at + 1 })
  }
  return { messages, system, turns, taskAt, task, rounds }
}

type View = {
  /** What stands before the task, the task, and this many rounds. */
  tokens(cuts: Cuts, rounds: number): number
  tokensOfRound(cuts: Cuts, round: number): number
  render(cuts: Cuts): PromptMessage[]
  leftOut(cuts: Cuts): number
}

/** The messages as they are with some cuts. */
function viewOf({ messages, system, taskAt, task, rounds }: Parts, largeBytes: number): View {
  /** A message has few forms, and they are asked for again and again while the job is walked through. */
  const forms = messages.map(() => new Map<string, PromptMessage>())
  const form = (at: number, name: string, make: (message: PromptMessage) => PromptMessage): PromptMessage => {
    let made = forms[at]!.get(name)
    if (made === undefined) {
      made = make(messages[at]!)
      if (mostTokensOfMessage(made) >= mostTokensOfMessage(messages[at]!)) made = messages[at]!
      forms[at]!.set(name, made)
    }
    return made
  }
  const resultOf = (at: number, cuts: Cuts, isOld: boolean): PromptMessage => {
    if (isOld) return form(at, 'none', withoutResult)
    return cuts.large ? form(at, 'large', (message) => middleCut(message, largeBytes)) : messages[at]!
  }
  const earlier = (at: number, cuts: Cuts): PromptMessage | null => {
    if (at >= system && at < cuts.earlierFrom) return null
    return messages[at]!.role === 'tool' ? resultOf(at, cuts, cuts.earlierResults) : messages[at]!
  }
  const ofRound = (at: number, round: number, cuts: Cuts): PromptMessage | null => {
    if (round < cuts.rounds) return null
    const isResult = messages[at]!.role === 'tool'
    const isOld = round < (isResult ? cuts.results : cuts.replies)
    const bytes = cuts.newest.get(round)
    if (!isOld && bytes !== undefined)
      return form(at, String(bytes), (message) => (isResult ? middleCut(message, bytes) : shortReply(message, bytes)))
    if (isResult) return resultOf(at, cuts, isOld)
    return isOld ? form(at, 'short', (message) => shortReply(message, LONG_TEXT_CHARS)) : messages[at]!
  }
  const roundAs = (round: number, cuts: Cuts): (PromptMessage | null)[] => {
    const { from, end } = rounds[round]!
    return Array.from({ length: end - from }, (_, offset) => ofRound(from + offset, round, cuts))
  }
  const sum = (all: readonly (PromptMessage | null)[]) =>
    all.reduce((tokens, message) => tokens + (message === null ? 0 : mostTokensOfMessage(message)), 0)
  const before = (cuts: Cuts) => Array.from({ length: taskAt }, (_, at) => earlier(at, cuts))
  const steps = (cuts: Cuts) =>
    rounds.flatMap((_, round) => {
      const all = roundAs(round, cuts)
      return round < cuts.changedUntil ? all.map((message) => (message === null ? null : afterChange(message))) : all
    })

  return {
    tokens(cuts, upTo) {
      let tokens = sum(before(cuts)) + mostTokensOfMessage(task) + ROOM_FOR_MARKS
      for (let round = cuts.rounds; round < upTo; round++) tokens += sum(roundAs(round, cuts))
      return tokens
    },
    tokensOfRound: (cuts, round) => sum(roundAs(round, cuts)),
    render(cuts) {
      const marked = cuts.rounds > 0 ? withText(task, (text) => `${text}\n\n${STEPS_LEFT_OUT}`) : task
      const kept = [...before(cuts), marked, ...steps(cuts)].filter((message) => message !== null)
      if (cuts.earlierFrom === system) return kept
      const first = kept.findIndex(({ role }) => role === 'user')
      return kept.with(
        first,
        withText(kept[first]!, (text) => (text.startsWith(EARLIER_LEFT_OUT) ? text : `${EARLIER_LEFT_OUT}\n\n${text}`)),
      )
    },
    leftOut(cuts) {
      const steps = rounds.flatMap(({ from }, round) => roundAs(round, cuts).map((message, offset) => message !== messages[from + offset]))
      return [...before(cuts).map((message, at) => message !== messages[at]), ...steps].filter(Boolean).length
    },
  }
}

const ROOM_FOR_MARKS = mostTokensOfMessage({ role: 'user', text: EARLIER_LEFT_OUT + STEPS_LEFT_OUT })

function withText(message: PromptMessage, change: (text: string) => string): PromptMessage {
  return message.role === 'user' || message.role === 'system' ? { ...message, text: change(message.text) } : message
}

/** Goes on with the cuts until the model can be asked after this many rounds, with room for more of them where that is to be had. */
function cutFurther(parts: Parts, view: View, cuts: Cuts, rounds: number, { fixed, budget }: { fixed: number; budget: number }): void {
  cuts.large = true
  // The newest round is what the model is to go on from, and half of the rest is room enough for what it knows by then.
  const newest = Math.max(0, rounds - 1)
  const present = fixed + (rounds === 0 ? 0 : view.tokensOfRound(cuts, newest))
  const past = Math.max(0, budget - present)
  const isAt = (share: number) => view.tokens(cuts, rounds) <= present + past * share
  if (isAt(ENOUGH)) return
  cuts.earlierResults = true
  if (isAt(ENOUGH)) return
  for (const turn of parts.turns) {
    if (turn <= cuts.earlierFrom) continue
    cuts.earlierFrom = turn
    if (isAt(DOWN_TO)) return
  }
  for (const measure of ['results', 'replies', 'rounds'] as const) {
    if (isAt(ENOUGH)) return
    let tokens = view.tokens(cuts, rounds)
    while (cuts[measure] < newest) {
      const round = cuts[measure]
      const before = view.tokensOfRound(cuts, round)
      cuts[measure] = round + 1
      tokens -= before - view.tokensOfRound(cuts, round)
      if (tokens <= present + past * DOWN_TO) return
    }
  }
  if (rounds === 0) return
  for (let bytes = LAST_BYTES.most; bytes >= LAST_BYTES.least && view.tokens(cuts, rounds) > budget; bytes = Math.floor(bytes / 2))
    cuts.newest.set(newest, bytes)
}
