import { z } from 'zod'
import { Autonomy, Folder } from './agents.ts'
import { JobChannel } from './jobs.ts'
import { Id, Moment } from './primitives.ts'
import { Said } from './said.ts'

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

const ofFile = { path: z.string(), bytes: z.number() }
/** Too large to be kept, so it cannot be undone. */
const lost = z.boolean()

/** What a call would do, for a page that has words of its own. Sizes in bytes. */
export const CallEffect = z.discriminatedUnion('code', [
  z.object({ code: z.literal('create'), ...ofFile }),
  /** `own`: this agent wrote itself what is there. */
  z.object({ code: z.literal('replace'), ...ofFile, newBytes: z.number(), own: z.boolean(), lost }),
  /** `newBytes` null: wherever the text occurs, so nobody has counted. */
  z.object({ code: z.literal('change'), ...ofFile, newBytes: z.number().nullable(), lost }),
  z.object({ code: z.literal('delete'), ...ofFile, forGood: z.boolean(), lost }),
  z.object({ code: z.literal('move'), ...ofFile, to: z.string() }),
  /** An earlier attempt did it already. */
  z.object({ code: z.literal('done_before'), path: z.string() }),
  z.object({ code: z.literal('read'), path: z.string() }),
  z.object({ code: z.literal('search'), path: z.string() }),
  z.object({ code: z.literal('list'), path: z.string() }),
  z.object({ code: z.literal('fetch'), address: z.string() }),
  z.object({ code: z.literal('web_search'), query: z.string(), provider: z.string() }),
  z.object({ code: z.literal('remember'), text: z.string(), shared: z.boolean() }),
  z.object({ code: z.literal('forget'), text: z.string(), shared: z.boolean() }),
  z.object({ code: z.literal('forget_nothing') }),
  z.object({ code: z.literal('keep'), text: z.string() }),
  z.object({ code: z.literal('ask'), question: z.string() }),
  z.object({ code: z.literal('list_agents') }),
  z.object({ code: z.literal('delegate'), agent: z.string(), task: z.string() }),
  /** `shell`: the program that reads `line`; null: no shell does. */
  z.object({
    code: z.literal('run'),
    line: z.string(),
    shell: z.string().nullable(),
    folder: z.string(),
    box: z.enum(['with_network', 'without_network', 'none']),
    why: Said.optional(),
  }),
])
export type CallEffect = z.infer<typeof CallEffect>

/** What the policy has to know of a call. Told by the tool from the arguments, before anything runs; never by the model. */
export const CallFacts = z.object({
  tool: z.string(),
  effect: z.enum(['read', 'idempotent', 'once']),
  /** What patterns are compared with: `Documents/notes.md`, `https://example.com/page`, `git status`. */
  subject: z.string(),
  /** Absolute paths that the call touches. */
  paths: z.array(z.string()),
  /** The effect in words, for a person: "Overwrite Documents/notes.md (2 KB)". */
  summary: z.string(),
  effectOn: CallEffect.optional(),
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
  /** Of a call that runs a program: whether a box would hold it. `false` asks every time. */
  boxed: z.boolean().optional(),
  /** Of a call that runs a program: the absolute path of the program; null: there is none of that name. */
  program: z.string().nullable().optional(),
  /**
   * What is there, at each place whose content decides: the file that would be changed, the script that would be run. An
   * approval holds for exactly that. `mark` null: nothing is there. `ofJob`: this job left it there itself.
   */
  found: z.array(z.object({ path: z.string(), mark: z.string().nullable(), ofJob: z.boolean().optional() })).optional(),
})
export type CallFacts = z.infer<typeof CallFacts>

/** What set a mark, for a page that has words of its own. */
export const MarkCause = z.discriminatedUnion('code', [
  z.object({ code: z.literal('started_by'), channel: JobChannel }),
  z.object({ code: z.literal('answer_of'), tool: z.string() }),
  z.object({ code: z.literal('call_of'), tool: z.string() }),
  z.object({ code: z.literal('runs_before') }),
  z.object({ code: z.literal('memories') }),
  /** In the simulator. */
  z.object({ code: z.literal('supposed') }),
])
export type MarkCause = z.infer<typeof MarkCause>

/**
 * What has happened in a job, from its recorded steps and from what started it. A job that has seen untrusted text and
 * has read private data must ask before anything leaves, at every level.
 */
export const Mark = z.object({
  /** The step that set it; 0: what started the job. */
  seq: z.number().int().nonnegative(),
  cause: z.string(),
  about: MarkCause.optional(),
})
export type Mark = z.infer<typeof Mark>
export const Marks = z.object({ untrusted: Mark.nullable(), private: Mark.nullable(), outside: Mark.nullable() })
export type Marks = z.infer<typeof Marks>

/** What an answer of a tool can bring into a job: something of the person's, or text that anybody may have written. */
export const Brings = z.enum(['private', 'untrusted'])
export type Brings = z.infer<typeof Brings>

export const NO_MARKS: Marks = { untrusted: null, private: null, outside: null }

/** What makes a call one that matters. */
export const CallMatter = z.enum(['leaves_machine', 'costs_money', 'deletes', 'overwrites', 'runs_code', 'runs_later'])
export type CallMatter = z.infer<typeof CallMatter>

/** How a call got worse between the answer of a person and its run. */
export const CallChange = z.enum(['no_sandbox', 'network', 'place', 'program', 'appeared', 'changed', 'more'])
export type CallChange = z.infer<typeof CallChange>

/** What a voice says, for a page that has words of its own. */
export const VoiceReason = z.discriminatedUnion('code', [
  z.object({ code: z.literal('own_folder') }),
  z.object({ code: z.literal('own_interface') }),
  z.object({ code: z.literal('wrecks_system') }),
  z.object({ code: z.literal('brake') }),
  z.object({ code: z.literal('no_box') }),
  z.object({ code: z.literal('untrusted_and_private'), untrusted: Mark, private: Mark }),
  z.object({ code: z.literal('untrusted_and_program'), untrusted: Mark }),
  z.object({ code: z.literal('untrusted_and_later'), untrusted: Mark }),
  z.object({ code: z.literal('untrusted_delegation'), untrusted: Mark }),
  z.object({ code: z.literal('changed_since'), change: CallChange }),
  z.object({ code: z.literal('grant'), tool: z.string() }),
  z.object({ code: z.literal('rule'), rule: z.object(ruleFields) }),
  z.object({ code: z.literal('on_its_own') }),
  z.object({ code: z.literal('only_reads') }),
  z.object({ code: z.literal('asks_first'), matters: z.array(CallMatter) }),
  z.object({ code: z.literal('nothing_matters') }),
  z.object({ code: z.literal('it_matters'), matters: z.array(CallMatter) }),
])
export type VoiceReason = z.infer<typeof VoiceReason>

/** One voice in a decision. */
export const Voice = z.object({
  source: z.enum(['floor', 'brake', 'two_of_three', 'rule', 'grant', 'level', 'box', 'changed']),
  verdict: z.enum(['run', 'ask', 'deny']),
  ruleId: Id.nullable(),
  /** A sentence for people: what it says and why. */
  text: z.string(),
  reason: VoiceReason.optional(),
  /** The agent that handed the work on and whose rules or level this is. Left out: the job's own agent. */
  onBehalfOf: z.string().optional(),
})
export type Voice = z.infer<typeof Voice>

/** What the policy decided, by what, and what would have decided otherwise. */
export const Decision = z.object({
  verdict: z.enum(['run', 'ask', 'deny']),
  decidedBy: Voice,
  overruled: z.array(Voice),
})
export type Decision = z.infer<typeof Decision>

/** What the policy said of one call, as recorded. */
export const RecordedDecision = z.object({
  callId: z.string(),
  tool: z.string(),
  facts: CallFacts,
  decision: Decision,
  /** As they stood when it was decided. */
  marks: Marks,
  decidedAt: Moment,
})
export type RecordedDecision = z.infer<typeof RecordedDecision>

/** "Would this be asked?" Either a job, whose marks are then taken, or marks to suppose. */
export const SimulateCall = z.object({
  agentId: Id.optional(),
  /** Its agent and its marks are taken where none are given. */
  jobId: Id.optional(),
  autonomy: Autonomy.optional(),
  tool: z.string().min(1).max(120),
  args: z.record(z.string(), z.unknown()).default({}),
  marks: z.object({ untrusted: z.boolean().default(false), private: z.boolean().default(false) }).optional(),
  /** Rules to suppose beside those there are. */
  rules: z.array(CreateRule).max(100).optional(),
})
export type SimulateCall = z.infer<typeof SimulateCall>

export const SimulatedCall = z.object({ facts: CallFacts, decision: Decision, marks: Marks })
export type SimulatedCall = z.infer<typeof SimulatedCall>

/** A tool as a person reads of it, for the rules editor. */
export const ToolInfo = z.object({ name: z.string(), description: z.string(), effect: z.enum(['read', 'idempotent', 'once']) })
export type ToolInfo = z.infer<typeof ToolInfo>
