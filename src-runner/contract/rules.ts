import { z } from 'zod'
import { Autonomy, Folder } from './agents.ts'
import { JobChannel } from './jobs.ts'
import { Id, Moment } from './primitives.ts'
import { Message } from './messages.ts'

/** What a rule wants, and what the policy decides. */
export const RuleEffect = z.enum(['allow', 'ask', 'deny'])
export type RuleEffect = z.infer<typeof RuleEffect>

/**
 * A rule of the person. The most specific one that fits a call wins; of equally specific ones, deny beats ask beats
 * allow. A pattern beats a folder, a folder a tool's name, a name an agent; a longer pattern or a deeper folder beats
 * a shorter one.
 */
const ruleFields = {
  effect: RuleEffect,
  /** A tool's name, or `*` for every tool. */
  tool: z.string().min(1).max(120),
  /**
   * Compared with what the call is about (a path, an address, a command line). `*` stands for any text. null: anything.
   * An allow rule tells capitals from small letters; ask and deny rules do not, so that no spelling slips past them.
   */
  pattern: z.string().min(1).max(2000).nullable(),
  /** null: for every agent. */
  agentId: Id.nullable(),
  /** Only for calls with paths in this folder: an allow rule needs all of them inside, an ask or deny rule one. null: anywhere. */
  folder: Folder.nullable(),
  /**
   * Of an allow rule for a command: SHA-256 of the folder, the program and the scripts that it was given for. With another
   * of them the rule does not fit. Left out: not bound to any.
   */
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
}

/**
 * Not a tool: the name under which a rule opens the network to programs that agents run. Without an allow rule of this
 * name they have none; a rule for every tool, or for `run_command`, opens nothing.
 */
export const COMMAND_NETWORK = 'run_command_network'

export const Rule = z.object({
  ...ruleFields,
  id: Id,
  /** `approval`: made by "Always" on an approval. */
  origin: z.enum(['person', 'approval']),
  createdAt: Moment,
})
export type Rule = z.infer<typeof Rule>

export const CreateRule = z.object({
  ...ruleFields,
  pattern: ruleFields.pattern.default(null),
  agentId: ruleFields.agentId.default(null),
  folder: ruleFields.folder.default(null),
})
export type CreateRule = z.infer<typeof CreateRule>
/** What a rule says, apart from which row it is. */
export type RuleText = z.output<typeof CreateRule>

/** What the policy knows of a call. The tool reports it from the arguments before anything runs; the model does not. */
export const CallFacts = z.object({
  tool: z.string(),
  effect: z.enum(['read', 'idempotent', 'once']),
  /** What patterns are compared with: `Documents/notes.md`, `https://example.com/page`, `git status`. */
  subject: z.string(),
  /** Absolute paths that the call touches. */
  paths: z.array(z.string()),
  /** The effect in words, for a person: "Overwrite Documents/notes.md (2 KB)". */
  summary: z.string(),
  /** The same as one of the messages `effect_…`, for readers of other languages. */
  effectOn: Message.optional(),
  /** Something goes out of this machine: a request, a message. */
  leavesMachine: z.boolean(),
  costsMoney: z.boolean(),
  deletes: z.boolean(),
  /** Replaces a file that this agent did not write. */
  overwrites: z.boolean(),
  runsCode: z.boolean(),
  /** `runsCode`, though not now: it writes a file that something of the person's runs by itself later. */
  runsLater: z.boolean().optional(),
  /** Gives work to another agent. */
  delegates: z.boolean().optional(),
  /** Of a call that runs a program: the program and its arguments, word for word. */
  argv: z.array(z.string()).optional(),
  /** Of a call that runs a program: whether a sandbox would hold it. `false` asks every time. */
  sandboxed: z.boolean().optional(),
  /** Of a call that runs a program: the absolute path of the program; null: there is none of that name. */
  program: z.string().nullable().optional(),
  /**
   * What is there, at each place whose content decides: the file that would be changed, the script that would be run. An
   * approval holds for exactly that. `mark` null: nothing is there. `ofJob`: this job left it there itself.
   */
  found: z.array(z.object({ path: z.string(), mark: z.string().nullable(), ofJob: z.boolean().optional() })).optional(),
})
export type CallFacts = z.infer<typeof CallFacts>

/** What added a taint, which a page translates. */
export const TaintCause = z.discriminatedUnion('code', [
  z.object({ code: z.literal('started_by'), channel: JobChannel }),
  z.object({ code: z.literal('answer_of'), tool: z.string() }),
  z.object({ code: z.literal('call_of'), tool: z.string() }),
  z.object({ code: z.literal('runs_before') }),
  z.object({ code: z.literal('memories') }),
  /** In the simulator. */
  z.object({ code: z.literal('supposed') }),
])
export type TaintCause = z.infer<typeof TaintCause>

/**
 * What has happened in a job, from its recorded steps and from what started it. A job that has seen untrusted text and
 * has read private data must ask before anything leaves, at every level.
 */
export const TaintSource = z.object({
  /** The step that added it; 0: the start of the job. */
  seq: z.number().int().nonnegative(),
  cause: z.string(),
  about: TaintCause.optional(),
})
export type TaintSource = z.infer<typeof TaintSource>
export const Taints = z.object({ untrusted: TaintSource.nullable(), private: TaintSource.nullable(), outside: TaintSource.nullable() })
export type Taints = z.infer<typeof Taints>

/** What an answer of a tool can bring into a job: something of the person's, or text that anybody may have written. */
export const Taint = z.enum(['private', 'untrusted'])
export type Taint = z.infer<typeof Taint>

export const NO_TAINTS: Taints = { untrusted: null, private: null, outside: null }

/** A reason to ask a person about a call. */
export const CallRisk = z.enum(['leaves_machine', 'costs_money', 'deletes', 'overwrites', 'runs_code', 'runs_later'])
export type CallRisk = z.infer<typeof CallRisk>

/** How a call got worse between the answer of a person and its run. */
export const CallChange = z.enum(['no_sandbox', 'network', 'place', 'program', 'appeared', 'changed', 'more'])
export type CallChange = z.infer<typeof CallChange>

/** The reason of a trace entry, which a page translates. */
export const TraceReason = z.discriminatedUnion('code', [
  z.object({ code: z.literal('own_folder') }),
  z.object({ code: z.literal('own_interface') }),
  z.object({ code: z.literal('wrecks_system') }),
  z.object({ code: z.literal('pauseAll') }),
  z.object({ code: z.literal('no_sandbox') }),
  z.object({ code: z.literal('untrusted_and_private'), untrusted: TaintSource, private: TaintSource }),
  z.object({ code: z.literal('untrusted_and_program'), untrusted: TaintSource }),
  z.object({ code: z.literal('untrusted_and_later'), untrusted: TaintSource }),
  z.object({ code: z.literal('untrusted_delegation'), untrusted: TaintSource }),
  z.object({ code: z.literal('changed_since'), change: CallChange }),
  z.object({ code: z.literal('grant'), tool: z.string() }),
  z.object({ code: z.literal('rule'), rule: z.object(ruleFields) }),
  z.object({ code: z.literal('on_its_own') }),
  z.object({ code: z.literal('only_reads') }),
  z.object({ code: z.literal('asks_first'), matters: z.array(CallRisk) }),
  z.object({ code: z.literal('nothing_matters') }),
  z.object({ code: z.literal('it_matters'), matters: z.array(CallRisk) }),
])
export type TraceReason = z.infer<typeof TraceReason>

/** One entry of a decision trace. */
export const TraceEntry = z.object({
  source: z.enum(['guardrails', 'pauseAll', 'lethal_trifecta', 'rule', 'grant', 'level', 'sandbox', 'changed']),
  verdict: z.enum(['run', 'ask', 'deny']),
  ruleId: Id.nullable(),
  /** The verdict and its reason as a sentence. */
  text: z.string(),
  reason: TraceReason.optional(),
  /** The agent that handed the work on and whose rules or level this is. Left out: the job's own agent. */
  onBehalfOf: z.string().optional(),
})
export type TraceEntry = z.infer<typeof TraceEntry>

/** What the policy decided, by what, and what would have decided otherwise. */
export const Decision = z.object({
  verdict: z.enum(['run', 'ask', 'deny']),
  decidedBy: TraceEntry,
  overruled: z.array(TraceEntry),
})
export type Decision = z.infer<typeof Decision>

/** What the policy said of one call, as recorded. */
export const RecordedDecision = z.object({
  callId: z.string(),
  tool: z.string(),
  facts: CallFacts,
  decision: Decision,
  /** As they stood when it was decided. */
  taints: Taints,
  decidedAt: Moment,
})
export type RecordedDecision = z.infer<typeof RecordedDecision>

/** "Would this be asked?" Either a job, whose taints are then taken, or taints to suppose. */
export const SimulateCall = z.object({
  agentId: Id.optional(),
  /** Its agent and its taints are taken where none are given. */
  jobId: Id.optional(),
  autonomy: Autonomy.optional(),
  tool: z.string().min(1).max(120),
  args: z.record(z.string(), z.unknown()).default({}),
  taints: z.object({ untrusted: z.boolean().default(false), private: z.boolean().default(false) }).optional(),
  /** Rules to suppose beside those there are. */
  rules: z.array(CreateRule).max(100).optional(),
})
export type SimulateCall = z.infer<typeof SimulateCall>

export const SimulatedCall = z.object({ facts: CallFacts, decision: Decision, taints: Taints })
export type SimulatedCall = z.infer<typeof SimulatedCall>

/** A tool as a person reads of it, for the rules editor. */
export const ToolInfo = z.object({ name: z.string(), description: z.string(), effect: z.enum(['read', 'idempotent', 'once']) })
export type ToolInfo = z.infer<typeof ToolInfo>
