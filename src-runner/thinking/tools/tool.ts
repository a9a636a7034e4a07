import type { z } from 'zod'
import type { JobChannel, JobOutput, ToolEffect } from '../../contract/jobs.ts'
import type { Brings, CallFacts } from '../../contract/rules.ts'
import type { Trash } from '../folder-access/trash.ts'
import type { AgentMemory } from './agent-memory.ts'
import type { FileJournal } from './file-journal.ts'
import type { WatchState } from './watch-state.ts'

/** What a tool may know of the job that calls it. */
export type ToolContext = {
  jobId: string
  agentId: string
  callId: string
  /** In delegated work: the agents of the jobs above, whose rules hold as well. */
  onBehalfOf?: readonly string[]
  /** The agent's folders: absolute paths as the person gave them. */
  folders: readonly string[]
  /** Deckhand's own: closed to every tool, also where one of the agent's folders holds them. */
  closedFolders: readonly string[]
  signal: AbortSignal
  /**
   * The facts with which this call was allowed to run. A tool that acts on what it finds refuses when it finds something
   * else. Left out: before the call is allowed.
   */
  judged?: CallFacts
  /** Without it no tool changes a file. */
  journal?: FileJournal
  /** Left out: what is deleted is gone, apart from what the journal keeps. */
  trash?: Trash
  memory?: AgentMemory
  /** Of a run of a schedule. */
  watch?: WatchState
  /** Shows output while the tool still runs. Neither recorded nor read by the model. */
  show?(text: string): void
}

/** What the policy has to know of a call beyond the tool's name and effect. */
export type ToolFacts = Omit<CallFacts, 'tool' | 'effect'>

/**
 * What the model reads. `ok: false` is an answer like any other: the model may try something else. `brings`: what this
 * answer brings into the job beyond what the tool always does. `result`: kept on the job as what it hands back.
 */
export type ToolOutput = { ok: boolean; output: string; brings?: readonly Brings[]; result?: JobOutput }

/** A file as it is and as a call would leave it. null: nothing there before; too large to be shown, when `bytes` is. */
export type FilePreview = { path: string; before: { bytes: Buffer | null } | null; after: Buffer }

/**
 * A tool: a name, a sentence for the model, the shape of its arguments, and how it may be repeated after a crash
 * (`read` and `idempotent` may, `once` never is). `parallel` tools of one reply may run side by side.
 * It may throw: the message becomes an answer that the model reads.
 */
export type Tool<Args extends z.ZodObject = z.ZodObject> = {
  name: string
  description: string
  args: Args
  effect: ToolEffect
  parallel: boolean
  /** What a job has to have come in through to be offered it. Left out: anything. */
  channels?: readonly JobChannel[]
  /**
   * A call that succeeds is the last of the job, which is completed with these words and tells nobody of itself. The other
   * calls of the same reply run all the same; when one of them fails, the model goes on.
   */
  endsQuietly?: string
  /**
   * What its answers bring into the job: `private`, something of the person's; `untrusted`, text that anybody may have
   * written. A file is both: nobody knows which of the person's files came from somebody else. The job is marked with it
   * as soon as such an answer is recorded.
   */
  brings?: Brings | readonly Brings[]
  /** What this call would do, told from the arguments alone. Runs before the policy decides and changes nothing. */
  facts?(args: z.output<Args>, context: ToolContext): ToolFacts | Promise<ToolFacts>
  /** Of a tool that changes a file: what this call would make of it now, for the person who is asked. Changes nothing. */
  preview?(args: z.output<Args>, context: ToolContext): Promise<FilePreview>
  run(args: z.output<Args>, context: ToolContext): Promise<ToolOutput>
}

/** The taints that every answer of this tool sets, however it comes to be. */
export function bringsOf({ brings = [] }: Pick<Tool, 'brings'>): readonly Brings[] {
  return typeof brings === 'string' ? [brings] : brings
}

/** Keeps the argument type while the tool is written, and forgets it in lists. */
export function defineTool<Args extends z.ZodObject>(tool: Tool<Args>): Tool {
  return tool
}

/** The most a tool's answer may hold; what is over is cut with a mark that says so. */
export const MAX_TOOL_OUTPUT_CHARS = 60_000
