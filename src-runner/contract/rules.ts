import { z } from 'zod'
import { Autonomy, Folder } from './agents.ts'
import { Id, Moment } from './primitives.ts'
import { Message } from './messages.ts'

export const RuleEffect = z.enum(['allow', 'ask', 'deny'])
export type RuleEffect = z.infer<typeof RuleEffect>

/**
 * The most specific rule that matches a call wins; among equally specific ones, deny beats ask beats allow. A pattern is more
 * specific than a folder, then a tool, then an agent; a longer pattern or a deeper folder more than a shorter one.
 */
const ruleFields = {
  effect: RuleEffect,
  /** A tool's name, `server__*` for all tools of an MCP server, or `*` for every tool. */
  tool: z.string().trim().min(1).max(120),
  /**
   * Matched with the subject of the call (a path, an address, a command line). `*` is any text. null: anything. Allow rules
   * are case-sensitive; ask and deny rules are not, so that no spelling bypasses them.
   */
  pattern: z.string().min(1).max(2000).nullable(),
  /** null: for every agent. */
  agentId: Id.nullable(),
  /** Only calls with paths in this folder: all paths for an allow rule, one for an ask or deny rule. null: anywhere. */
  folder: Folder.nullable(),
  /**
   * Binds an allow rule for a command to its folder, program and scripts: their SHA-256. If one changes, the rule no longer
   * matches.
   */
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
}

/**
 * The tool name of rules for network access of programs. Without an allow rule of this name they have none; a rule for every
 * tool or for `run_command` gives none.
 */
export const COMMAND_NETWORK = 'run_command_network'

/**
 * The tool name of rules for readings with a connected account in a job that has read private data elsewhere and untrusted text.
 * Without an allow rule of this name they ask; a rule for every tool or for `http_request` allows none.
 */
export const CONNECTED_READ = 'http_request_read'

/** What coding programs do, as tools: no agent calls them, but rules name them. */
export const CODE_CALLS = ['code_start', 'code_read', 'code_edit', 'code_command', 'code_fetch', 'code_other'] as const

/**
 * The start of a coding program, as a tool. Outside of the sandbox it is asked each time until an allow rule of this name, not one for
 * every tool, matches.
 */
export const CODE_START = 'code_start'

export const Rule = z.object({
  ...ruleFields,
  id: Id,
  /** `approval`: created by "Always" on an approval. */
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
/** A rule without its id and origin. */
export type RuleText = z.output<typeof CreateRule>

/** A rule as a sentence. `scope`: whom it is for; `none` if the place where it is shown says so. */
export function describeRule(rule: RuleText, scope: 'none' | 'everyone' | 'thisAgent' | { agent: string }): Message {
  const tools: Record<string, Message> = {
    '*': { code: 'rule_any_tool', params: {} },
    [COMMAND_NETWORK]: { code: 'rule_program_network', params: {} },
    [CONNECTED_READ]: { code: 'rule_connected_read', params: {} },
    ...Object.fromEntries(CODE_CALLS.map((name): [string, Message] => [name, { code: `rule_${name}`, params: {} }])),
  }
  return {
    code: 'rule',
    params: {
      effect: rule.effect,
      tool: tools[rule.tool] ?? rule.tool,
      hasPattern: rule.pattern === null ? 'no' : 'yes',
      pattern: rule.pattern ?? '',
      hasFolder: rule.folder === null ? 'no' : 'yes',
      folder: rule.folder ?? '',
      isPinned: rule.digest === undefined ? 'no' : 'yes',
      scope: typeof scope === 'string' ? scope : 'agent',
      agent: typeof scope === 'string' ? '' : scope.agent,
    },
  }
}

/** What the policy knows of a call. The tool derives it from the arguments before anything runs. */
export const CallFacts = z.object({
  tool: z.string(),
  effect: z.enum(['read', 'idempotent', 'once']),
  /** What patterns are matched with: `Documents/notes.md`, `https://example.com/page`, `git status`. */
  subject: z.string(),
  /** The subject omits something that decides, such as the body of a request, so that no rule for "always" is offered. */
  subjectOmits: z.boolean().optional(),
  /** The subject after links that lead elsewhere. A rule that allows must match both, another one either. */
  realSubject: z.string().optional(),
  /** The single files that the subject names, such as source and target of a move. A rule that asks or denies matches each, too. */
  alsoSubjects: z.array(z.string()).optional(),
  /** Absolute paths that the call touches. */
  paths: z.array(z.string()),
  /** The effect in English: "Overwrite Documents/notes.md (2 KB)". */
  summary: z.string(),
  /** The same as a message `effect_…`. */
  effectOn: Message.optional(),
  /** Sends a request or a message to somewhere else. */
  leavesMachine: z.boolean(),
  /** The only hosts that a sandboxed program can reach. Absent: any. */
  reaches: z.array(z.string()).optional(),
  /** The origin that a reading with a connected account is sent to. It gets the path and the query, which the agent chose. */
  readsFrom: z.string().optional(),
  costsMoney: z.boolean(),
  deletes: z.boolean(),
  /** Replaces a file that this agent did not write. */
  overwrites: z.boolean(),
  runsCode: z.boolean(),
  /** With `runsCode`: it writes a file that a program of the person runs later. */
  runsLater: z.boolean().optional(),
  /** Gives work to another agent. */
  delegates: z.boolean().optional(),
  /** The program of a command and its arguments. */
  argv: z.array(z.string()).optional(),
  /**
   * A command that may run a file which none of its words names, so that the file is not in `found`. A rule for its digest, as "always"
   * makes it, is not offered and does not hold.
   */
  runsUnnamed: z.boolean().optional(),
  /** Whether a command would run in a sandbox. `false` always needs approval. */
  sandboxed: z.boolean().optional(),
  /** The absolute path of a command's program; null: not found. */
  program: z.string().nullable().optional(),
  /**
   * The content that decides: of the file to change, of the scripts to run. An approval holds for exactly that. `mark`: its
   * digest; null: no file. `ofJob`: this job wrote it.
   */
  found: z.array(z.object({ path: z.string(), mark: z.string().nullable(), ofJob: z.boolean().optional() })).optional(),
})
export type CallFacts = z.infer<typeof CallFacts>

/**
 * A taint of a job, from its origin or a recorded step. A job that has read untrusted text and private data must ask before
 * anything leaves the machine, at every autonomy.
 */
export const TaintSource = z.object({
  /** The step that added it. 0: the start of the job. */
  seq: z.number().int().nonnegative(),
  cause: Message,
})
export type TaintSource = z.infer<typeof TaintSource>
export const Taints = z.object({ untrusted: TaintSource.nullable(), private: TaintSource.nullable(), outside: TaintSource.nullable() })
export type Taints = z.infer<typeof Taints>

/** What a tool result can add: private data, or text that anybody may have written. */
export const Taint = z.enum(['private', 'untrusted'])
export type Taint = z.infer<typeof Taint>

export const NO_TAINTS: Taints = { untrusted: null, private: null, outside: null }

/** A reason to ask a person about a call. */
export const CallRisk = z.enum(['leaves_machine', 'costs_money', 'deletes', 'overwrites', 'runs_code', 'runs_later'])
export type CallRisk = z.infer<typeof CallRisk>

/** How a call became riskier between its approval and its run. */
export const CallChange = z.enum(['no_sandbox', 'network', 'place', 'program', 'appeared', 'changed', 'more'])
export type CallChange = z.infer<typeof CallChange>

/** One entry of a decision trace. */
export const TraceEntry = z.object({
  source: z.enum(['guardrails', 'pauseAll', 'lethal_trifecta', 'rule', 'grant', 'level', 'sandbox', 'skill', 'changed']),
  verdict: z.enum(['run', 'ask', 'deny']),
  ruleId: Id.nullable(),
  reason: Message,
})
export type TraceEntry = z.infer<typeof TraceEntry>

/** `overruled`: entries of the trace that would have decided otherwise. */
export const Decision = z.object({
  verdict: z.enum(['run', 'ask', 'deny']),
  decidedBy: TraceEntry,
  overruled: z.array(TraceEntry),
})
export type Decision = z.infer<typeof Decision>

/** The recorded decision about one call. */
export const RecordedDecision = z.object({
  callId: z.string(),
  tool: z.string(),
  facts: CallFacts,
  decision: Decision,
  /** As they were at the decision. */
  taints: Taints,
  decidedAt: Moment,
})
export type RecordedDecision = z.infer<typeof RecordedDecision>

/** "Would this call be asked?" */
export const SimulateCall = z.object({
  agentId: Id.optional(),
  /** Its agent and taints are used if none are given. */
  jobId: Id.optional(),
  autonomy: Autonomy.optional(),
  tool: z.string().min(1).max(120),
  args: z.record(z.string(), z.unknown()).default({}),
  taints: z.object({ untrusted: z.boolean().default(false), private: z.boolean().default(false) }).optional(),
  /** Assumed besides the existing rules. */
  rules: z.array(CreateRule).max(100).optional(),
})
export type SimulateCall = z.infer<typeof SimulateCall>

export const SimulatedCall = z.object({ facts: CallFacts, decision: Decision, taints: Taints })
export type SimulatedCall = z.infer<typeof SimulatedCall>

export const ToolInfo = z.object({ name: z.string(), description: z.string(), effect: z.enum(['read', 'idempotent', 'once']) })
export type ToolInfo = z.infer<typeof ToolInfo>
