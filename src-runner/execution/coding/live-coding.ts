import { createMask } from '../../platform/log/scrubber.ts'
import { CODING_PROGRAM_NAMES } from '../../contract/coding-programs.ts'
import { CODE_TASK_LIMITS, type CodeTaskCommand } from '../../contract/code-tasks.ts'
import type { Taint } from '../../contract/rules.ts'
import { cutText } from '../../lib/text.ts'
import type { NewReply, NewToolResult } from '../../domain/jobs/record-steps.ts'
import type { CodingCall, CodingSession, CodingTurn, CodingUsage } from '../../agent/coding/coding-session.ts'
import { MAX_TOOL_OUTPUT_CHARS } from '../../agent/tools/tool.ts'
import { nameOfCall, recordedCall, type CodePlace } from './code-calls.ts'

/** Everything that a program says or reads comes from files that anybody may have written. */
export const CODE_TAINTS: readonly Taint[] = ['private', 'untrusted']

type Totals = { costMicros: number; input: number; output: number; cached: number }
export const NO_USE: Totals = { costMicros: 0, input: 0, output: 0, cached: 0 }

/** A program that runs, between the attempts of its job too. */
export type LiveCoding = {
  session: CodingSession
  place: CodePlace
  /** null: it waits for the next prompt. */
  turn: Promise<CodingTurn> | null
  unrecorded: ReturnType<typeof createUnrecordedOutput>
}

/**
 * What a program has told and no step says yet. `numbered`: makes its calls unique in the job. `before`: what the steps of the job
 * count already. A program that continues a conversation may count from its start.
 */
export function createUnrecordedOutput({ place, numbered, before, secrets }: UnrecordedOutputOptions) {
  let text = ''
  let thinking = ''
  let lastMessage = ''
  /** Calls that no reply has yet. */
  const fresh = new Map<string, CodingCall>()
  /** Calls that a reply has and that have no result. */
  const open = new Set<string>()
  const done = new Set<string>()
  const otherNames = new Map<string, string>()
  const commands: CodeTaskCommand[] = []
  let base: Totals | null = before.costMicros + before.input + before.output === 0 ? NO_USE : null
  let counted = NO_USE
  let used = NO_USE
  let tellsCost = false
  let model: string = place.cli

  const { add, scrub: masked } = createMask()
  for (const secret of secrets) add(secret)
  const idOf = (callId: string) => otherNames.get(callId) ?? `${numbered}.${callId}`

  const clean = <T>(value: T): T => JSON.parse(masked(JSON.stringify(value))) as T

  return {
    idOf,
    /** Without the login of the program. */
    clean,
    /** The call is one that the job asked about in an earlier process. */
    rename(callId: string, recordedId: string): void {
      otherNames.set(callId, recordedId)
      fresh.delete(callId)
      open.add(recordedId)
    },
    text(delta: string): void {
      text += delta
    },
    thinking(delta: string): void {
      thinking += delta
    },
    usage(usage: CodingUsage): void {
      const now: Totals = {
        costMicros: Math.round((usage.costUsd ?? 0) * 1_000_000),
        input: usage.inputTokens ?? 0,
        output: usage.outputTokens ?? 0,
        cached: usage.cachedTokens ?? 0,
      }
      tellsCost ||= usage.costUsd !== undefined
      model = cutText(usage.model ?? model, 200, '')
      base ??= now.costMicros >= before.costMicros && now.input >= before.input && now.output >= before.output ? before : NO_USE
      used = now
    },
    /** Also for calls that are known already. */
    call(call: CodingCall): void {
      const id = idOf(call.callId)
      if (!open.has(id) && !done.has(id)) fresh.set(call.callId, call)
    },
    isOpen: (call: CodingCall) => !done.has(idOf(call.callId)),
    hasNews: () => text !== '' || thinking !== '' || fresh.size > 0,
    /** What it cost since the last step. */
    freshMicros: () => Math.max(0, used.costMicros - (base?.costMicros ?? 0) - counted.costMicros),
    /** The text since its last call. */
    lastMessage: () => masked(text.trim() === '' ? lastMessage : text).trim(),
    commands: () => commands.slice(-CODE_TASK_LIMITS.commands),
    /** Everything that no step says yet, as one reply. `isLast`: then a cost that it has not told is unknown. */
    takeReply(isLast: boolean, more: Partial<Pick<NewReply, 'interrupted'>> = {}): NewReply {
      const calls = more.interrupted === true ? [] : [...fresh.values()]
      const usage = difference(used, base ?? NO_USE, counted)
      counted = sum(counted, usage)
      if (text.trim() !== '') lastMessage = text
      const reply: NewReply = {
        text: masked(text),
        reasoning: masked(thinking),
        toolCalls: calls.map((call) => clean(recordedCall(idOf(call.callId), call, place))),
        model: { providerId: place.cli, model },
        usage: { input: usage.input, output: usage.output, cached: usage.cached },
        costMicros: usage.costMicros,
        priced: tellsCost || !isLast,
        estimated: false,
        interrupted: false,
        durationMs: 0,
        ...more,
      }
      for (const { callId } of calls) open.add(idOf(callId))
      ;[text, thinking] = ['', '']
      fresh.clear()
      return reply
    },
    takeResult(call: CodingCall): NewToolResult {
      const callId = idOf(call.callId)
      open.delete(callId)
      done.add(callId)
      const name = nameOfCall(call)
      if (name === 'code_command') commands.push({ command: cutText(masked(call.command!), 2_000), exitCode: call.exitCode })
      const exit = call.exitCode === null ? [] : [`Exit code ${call.exitCode}.`]
      const said = call.output === null || call.output.trim() === '' ? [] : [masked(call.output)]
      return {
        callId,
        name,
        ok: call.status === 'completed',
        durationMs: 0,
        addsTaint: CODE_TAINTS,
        output: cutText([...exit, ...said].join('\n'), MAX_TOOL_OUTPUT_CHARS),
        leftMachine: name === 'code_fetch' || name === 'code_command' || name === 'code_other',
      }
    },
    refused(call: CodingCall, reason: string): NewToolResult {
      const callId = idOf(call.callId)
      open.delete(callId)
      done.add(callId)
      return { callId, name: nameOfCall(call), ok: false, output: `Not run: ${reason}`, durationMs: 0, addsTaint: CODE_TAINTS }
    },
    programName: CODING_PROGRAM_NAMES[place.cli],
  }
}

export type UnrecordedOutputOptions = { place: CodePlace; numbered: number; before: Totals; secrets: readonly string[] }

function difference(now: Totals, ...taken: Totals[]): Totals {
  const left = (key: keyof Totals) => Math.max(0, now[key] - taken.reduce((all, one) => all + one[key], 0))
  return { costMicros: left('costMicros'), input: left('input'), output: left('output'), cached: left('cached') }
}

function sum(a: Totals, b: Totals): Totals {
  return { costMicros: a.costMicros + b.costMicros, input: a.input + b.input, output: a.output + b.output, cached: a.cached + b.cached }
}
