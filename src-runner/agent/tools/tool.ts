import { z } from 'zod'
import type { AskedQuestion } from '../../contract/approvals.ts'
import type { JobChannel, JobOutput, ToolEffect } from '../../contract/jobs.ts'
import type { Memory } from '../../contract/memory.ts'
import type { Message } from '../../contract/messages.ts'
import type { Taint, CallFacts } from '../../contract/rules.ts'
import { englishText } from '../../lib/messages.ts'
import { PathRefused } from '../files/folder-paths.ts'
import type { Trash } from '../files/trash.ts'
import type { ToolDescription } from '../providers/model.ts'
import type { FileJournal } from './file-journal.ts'

/** What a tool may know of the job that calls it. */
export type ToolContext = {
  jobId: string
  agentId: string
  callId: string
  /** In delegated work: the agents of the jobs above, whose rules apply as well. */
  onBehalfOf?: readonly string[]
  /** The agent's folders: absolute paths as the person entered them. */
  folders: readonly string[]
  /** Closed to every tool, even inside one of the agent's folders. */
  closedFolders: readonly string[]
  /** Folders that a rule denies, even if another one opens something in them: commands do not see them. Absent: none. */
  hiddenFolders?: readonly string[]
  /** What the rules let this call show of the folders that it goes through. null: everything. Absent: there are no rules. */
  scanFilter?(call: CallFacts): ScanFilter | null
  signal: AbortSignal
  /** The facts that the policy allowed. A tool refuses to act on anything else. Absent before the call is allowed. */
  judged?: CallFacts
  /** Without it no tool changes a file. */
  journal?: FileJournal
  /** Absent: deleted files are gone, apart from what the journal keeps. */
  trash?: Trash
  memory?: AgentMemory
  results?: JobResults
  /** Only in a run of a schedule. */
  cursor?: ScheduleCursor
  /** Shows output while the tool runs. Neither recorded nor read by the model. */
  show?(text: string): void
}

/** Whether a call that goes through folders may show an entry of one. */
export type ScanFilter = (entry: Pick<CallFacts, 'subject' | 'realSubject' | 'paths'>) => boolean

/** What calls of the job returned beyond what a model reads at once. */
export type JobResults = {
  /** On disk when it resolves, under the number that it returns. null: the job has kept too much. */
  keep(result: { callId: string; tool: string; type: string; bytes: Buffer }): Promise<number | null>
  /** null: it is not kept. */
  read(number: number): Promise<{ type: string; bytes: Buffer } | null>
}

/** One agent's memory and the shared one. Other agents' memories are neither seen nor changed here. */
export type AgentMemory = {
  /** On disk when it resolves. The same call again returns the same memory. Throws when the memory is full. */
  remember(callId: string, note: { text: string; shared: boolean }): Promise<Memory>
  /** The best match first; without a query, the newest. Records that the job has read them. */
  recall(callId: string, search: { query: string; limit: number }): Promise<{ found: Memory[]; total: number }>
  find(memoryId: string): Memory | null
  /** false: there is no such memory. */
  forget(memoryId: string): Promise<boolean>
}

/** What each run of a schedule leaves for the next one. */
export type ScheduleCursor = {
  /** Replaces the note; on disk when it resolves. false: the schedule was deleted. */
  keep(state: string): Promise<boolean>
}

/** What the policy has to know of a call. The summary follows from `effectOn`. `effect`: of this call, if it is less than the tool's. */
export type ToolFacts = Omit<CallFacts, 'tool' | 'effect' | 'summary' | 'effectOn'> & { effect?: ToolEffect } & (
    | { effectOn: Message }
    | { summary: string }
  )

/** The facts of a call that touches nothing outside the job. */
export const NO_EFFECTS = { paths: [], leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false }

/**
 * What the model reads. After `ok: false` it may try something else. `addsTaint`: beyond what the tool always adds.
 * `result`: stored as the job's own result.
 */
export type ToolOutput = { ok: boolean; output: string; addsTaint?: readonly Taint[]; result?: JobOutput }

/** A file as it is and as a call would leave it. `before` null: no file; `bytes` null: too large to show. */
export type FilePreview = { path: string; before: { bytes: Buffer | null } | null; after: Buffer }

/** A JSON schema that was not written here. `check`: what is wrong with arguments, for the model; null: nothing. */
export type RawSchema = { json: Record<string, unknown>; check(args: Record<string, unknown>): string | null }

/** Nobody knows whether a `once` call took effect. Thrown by `run`; a person decides what happens next. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/**
 * Others, such as a server, ask the person during the call, which goes on meanwhile. Thrown by `run`. When the person has answered,
 * the same call runs again and finds what is under way.
 */
export class CallAsks extends Error {
  override readonly name = 'CallAsks'
  readonly question: AskedQuestion

  constructor(question: AskedQuestion) {
    super('The call waits for the person.')
    this.question = question
  }
}

export type Tool<Args extends z.ZodObject = z.ZodObject> = {
  name: string
  description: string
  args: Args
  /** What models see and arguments are checked with in place of `args`, which then takes everything. */
  schema?: RawSchema
  /** After a crash, `read` and `idempotent` calls may run again; `once` calls never do. The strictest one of all its calls. */
  effect: ToolEffect
  /** Calls of one reply may run at the same time. */
  parallel: boolean
  /** `run` ends by itself within this time. Until then, a call without output does not count as stuck. */
  limitMs?: number
  /** Models see the tool only after `find_tools` has found it. It can be called before. */
  onDemand?: boolean
  /** Only jobs of these channels get the tool. Absent: all. */
  channels?: readonly JobChannel[]
  /** The tool as this agent gets it. null: it does not get it. */
  forAgent?(agentId: string): Tool | null
  /**
   * A successful call ends the job with this text and notifies nobody. Other calls of the same reply still run; if one
   * fails, the model continues.
   */
  noOpText?: string
  /**
   * The taints that every result adds to the job: `private`, the person's own data; `untrusted`, text that anybody may
   * have written. A file is both, since nobody knows which files came from somebody else.
   */
  addsTaint?: readonly Taint[]
  /** What this call would do. Runs before the policy decides, and changes nothing. */
  facts?(args: z.output<Args>, context: ToolContext): ToolFacts | Promise<ToolFacts>
  /** What this call would make of a file now, for the person who decides. Changes nothing. */
  preview?(args: z.output<Args>, context: ToolContext): Promise<FilePreview>
  /** May throw: the model reads the message. */
  run(args: z.output<Args>, context: ToolContext): Promise<ToolOutput>
}

/** A tool that changes something and states no facts is assumed to do everything. */
export async function factsOf(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<CallFacts> {
  const head = { tool: tool.name, effect: tool.effect }
  if (tool.facts !== undefined) {
    const { effect = tool.effect, ...facts } = await tool.facts(args, context)
    return { ...head, ...facts, effect, summary: 'summary' in facts ? facts.summary : englishText(facts.effectOn) }
  }
  const all = tool.effect !== 'read'
  const subject = JSON.stringify(args)
  const does = { leavesMachine: all, costsMoney: all, deletes: all, overwrites: all, runsCode: all }
  return { ...head, subject, paths: [], summary: `${tool.name} ${subject}`.slice(0, 2_000), ...does }
}

/** A refusal of a path says what is on the disk. */
export function taintsOfError(thrown: unknown): Taint[] {
  return thrown instanceof PathRefused ? ['private'] : []
}

/** Keeps the argument type while the tool is written, and forgets it in lists. */
export function defineTool<Args extends z.ZodObject>(tool: Tool<Args>): Tool {
  return tool
}

/** Longer results are cut, with a mark that says so. */
export const MAX_TOOL_OUTPUT_CHARS = 60_000

/** Making the schemas takes longer than everything else before the first token. */
const described = new WeakMap<Tool, ToolDescription>()

/** Always the same words and the same order of fields, so that the providers' caches apply. */
export function describeTool(tool: Tool): ToolDescription {
  let description = described.get(tool)
  if (description === undefined) {
    const { $schema: _, ...parameters } = tool.schema?.json ?? z.toJSONSchema(tool.args, { io: 'input', target: 'draft-2020-12' })
    description = { name: tool.name, description: tool.description, parameters }
    described.set(tool, description)
  }
  return description
}
