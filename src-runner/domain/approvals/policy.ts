import type { Autonomy } from '../../contract/agents.ts'
import type { CallFacts, CallRisk, Decision, Taints, RuleText, TraceEntry, TraceReason } from '../../contract/rules.ts'
import { compareSpecificity, rulesFor, type ReadyRule, type RuleSet } from '../rules/rule-set.ts'
import type { ChainLink } from './delegation-chain.sql.ts'
import { risksOf } from './call-risks.ts'
import { GUARDRAIL_OBJECTIONS, guardrailObjection, type GuardrailPlace } from './guardrails.ts'

/** Tools that the person allowed for the rest of a job, each with the risks of the calls that were shown. A riskier call asks again. */
export type Grants = ReadonlyMap<string, ReadonlySet<CallRisk>>

/** Everything that a decision depends on. Nothing that the model says is part of it. */
export type Situation = {
  facts: CallFacts
  autonomy: Autonomy
  /** null: no agent in particular, for the simulator. */
  agentId: string | null
  rules: RuleSet
  taints: Taints
  pauseAll: boolean
  grants: Grants
  guardrails: GuardrailPlace
}

/**
 * Decides whether a call runs, asks or is denied. The first entry of the trace decides: guardrails; a deny by the most
 * specific rule; pause all; the lethal trifecta; a file that runs later, in a job that read untrusted text; a program
 * without a sandbox; the most specific rule or the grant of the job; the agent's autonomy.
 */
export function decide(situation: Situation): Decision {
  const trace = traceOf(situation)
  const [decidedBy, ...others] = trace
  return { verdict: decidedBy!.verdict, decidedBy: decidedBy!, overruled: others.filter((entry) => entry.verdict !== decidedBy!.verdict) }
}

const STRICTNESS: Record<TraceEntry['verdict'], number> = { run: 0, ask: 1, deny: 2 }

/**
 * Decides a call of a delegated job: it runs only if it would also run for every agent that delegated the work. So stricter
 * autonomy and ask or deny rules hold for the whole chain, and an allow rule of one agent does not overrule what another
 * agent has to ask. A grant to this job holds for all.
 */
export function decideInChain(situation: Situation, above: readonly ChainLink[]): Decision {
  return above.reduce((strictest, { agentId, agentName, autonomy }) => {
    const { verdict, decidedBy, overruled } = decide({ ...situation, agentId, autonomy })
    if (STRICTNESS[verdict] <= STRICTNESS[strictest.verdict]) return strictest
    const entry = { ...decidedBy, onBehalfOf: agentName, text: `For ${agentName}, which handed this work on: ${decidedBy.text}` }
    return { verdict, decidedBy: entry, overruled: [strictest.decidedBy, ...overruled] }
  }, decide(situation))
}

/** The decision trace, the deciding entry first. It is never empty, because autonomy always has an entry. */
function traceOf(situation: Situation): TraceEntry[] {
  const { facts, agentId, rules, guardrails } = situation
  const objection = guardrailObjection(facts, guardrails)
  const fitting = rulesFor(rules, facts, agentId)
  const [first, ...rest] = fitting
  const denies = first?.text.effect === 'deny'
  const entries: (TraceEntry | null)[] = [
    objection === null
      ? null
      : { source: 'guardrails', verdict: 'deny', ruleId: null, text: GUARDRAIL_OBJECTIONS[objection], reason: { code: objection } },
    denies ? entryOfRule(first) : null,
    situation.pauseAll ? PAUSE_ALL : null,
    lethalTrifecta(situation),
    untrustedCode(situation),
    facts.runsCode && facts.sandboxed === false ? NO_SANDBOX : null,
    ...(first === undefined || denies ? [entryOfGrant(situation)] : inOrder(entryOfRule(first), first, entryOfGrant(situation))),
    ...rest.map(entryOfRule),
    entryOfAutonomy(situation),
  ]
  return entries.filter((entry) => entry !== null)
}

const PAUSE_ALL: TraceEntry = {
  source: 'pauseAll',
  verdict: 'ask',
  ruleId: null,
  text: 'All agents are paused, so every call is asked.',
  reason: { code: 'pauseAll' },
}

const NO_SANDBOX: TraceEntry = {
  source: 'sandbox',
  verdict: 'ask',
  ruleId: null,
  text: 'This machine has no sandbox that could hold the program, so running it is asked every time.',
  reason: { code: 'no_sandbox' },
}

/**
 * A job may combine two of: untrusted text, private data, a way out of this machine. A person allows the third. A program
 * with network access is two of them at once: it can read its folder and send what it finds in one call.
 */
function lethalTrifecta({ facts, taints }: Situation): TraceEntry | null {
  if (!facts.leavesMachine || taints.untrusted === null) return null
  const untrusted = `text that anybody may have written (${taints.untrusted.cause})`
  const ask = (reason: TraceReason, text: string): TraceEntry => ({ source: 'lethal_trifecta', verdict: 'ask', ruleId: null, text, reason })
  if (taints.private !== null)
    return ask(
      { code: 'untrusted_and_private', untrusted: taints.untrusted, private: taints.private },
      `The job has read private data (${taints.private.cause}) and ${untrusted}, so nothing leaves this machine unasked.`,
    )
  if (!facts.runsCode) return null
  return ask(
    { code: 'untrusted_and_program', untrusted: taints.untrusted },
    `The job has read ${untrusted}, and a program with a network can send what it finds in its folder, so it does not run unasked.`,
  )
}

/**
 * Untrusted text must never become code. A program runs in a sandbox, but a file that the person's git, shell or editor runs
 * does not. So a job that has read such text asks before it writes one, whatever its autonomy, rules and grants.
 */
function untrustedCode({ facts, taints }: Situation): TraceEntry | null {
  if (facts.runsLater !== true || taints.untrusted === null) return null
  return {
    source: 'lethal_trifecta',
    verdict: 'ask',
    ruleId: null,
    text: `The job has read text that anybody may have written (${taints.untrusted.cause}), and this file runs by itself later, so it is not changed unasked.`,
    reason: { code: 'untrusted_and_later', untrusted: taints.untrusted },
  }
}

/** A grant ranks as an allow rule for the tool in this job: above a rule for the agent, below a pattern or a folder. */
const GRANT_SPECIFICITY = [0, 0, 0, 1, 2]

function entryOfGrant({ facts, grants }: Situation): TraceEntry | null {
  const granted = grants.get(facts.tool)
  if (granted === undefined || !risksOf(facts).every((matter) => granted.has(matter))) return null
  return {
    source: 'grant',
    verdict: 'run',
    ruleId: null,
    text: `You allowed ${facts.tool} for the rest of this job.`,
    reason: { code: 'grant', tool: facts.tool },
  }
}

function inOrder(rule: TraceEntry, ready: ReadyRule, grant: TraceEntry | null): TraceEntry[] {
  if (grant === null) return [rule]
  return compareSpecificity(GRANT_SPECIFICITY, ready.specificity) > 0 ? [grant, rule] : [rule, grant]
}

const VERDICTS = { allow: 'run', ask: 'ask', deny: 'deny' } as const

function entryOfRule({ id, text }: ReadyRule): TraceEntry {
  const { effect, tool, pattern, agentId, folder, digest } = text
  return {
    source: 'rule',
    verdict: VERDICTS[effect],
    ruleId: id,
    text: `The rule: ${describeRule(text)}`,
    reason: { code: 'rule', rule: { effect, tool, pattern, agentId, folder, ...(digest === undefined ? {} : { digest }) } },
  }
}

/** "Deny write_file on `Documents/*` in /home/ada for one agent." */
export function describeRule({ effect, tool, pattern, folder, agentId }: RuleText): string {
  const verb = { allow: 'Allow', ask: 'Ask before', deny: 'Deny' }[effect]
  const what = tool === '*' ? 'every tool' : tool
  const on = pattern === null ? '' : ` on ${pattern}`
  const where = folder === null ? '' : ` in ${folder}`
  return `${verb} ${what}${on}${where}, for ${agentId === null ? 'every agent' : 'this agent'}.`
}

function entryOfAutonomy({ facts, autonomy, taints }: Situation): TraceEntry {
  const matters = risksOf(facts)
  const because = matters.length === 0 ? '' : ` It ${joinWords(matters.map((matter) => MATTERS[matter]))}.`
  const level = (verdict: TraceEntry['verdict'], reason: TraceReason, text: string): TraceEntry => {
    return { source: 'level', verdict, ruleId: null, text, reason }
  }
  if (facts.delegates === true && taints.untrusted !== null)
    return level(
      'ask',
      { code: 'untrusted_delegation', untrusted: taints.untrusted },
      `The job has read text that anybody may have written (${taints.untrusted.cause}), so it hands no work on without asking.`,
    )
  switch (autonomy) {
    case 'on_its_own':
      return level('run', { code: 'on_its_own' }, 'The agent works on its own: only rules stop it.')
    case 'ask_first':
      if (facts.effect === 'read' && matters.length === 0)
        return level('run', { code: 'only_reads' }, 'The agent asks first, and this call only reads.')
      return level('ask', { code: 'asks_first', matters }, `The agent asks first, before every call that does more than read.${because}`)
    case 'ask_when_it_matters':
      if (matters.length === 0)
        return level('run', { code: 'nothing_matters' }, 'The agent asks when it matters, and nothing about this call does.')
      return level('ask', { code: 'it_matters', matters }, `The agent asks when it matters.${because}`)
  }
}

const MATTERS: Record<CallRisk, string> = {
  leaves_machine: 'sends something out of this machine',
  costs_money: 'costs money',
  deletes: 'deletes something',
  overwrites: 'overwrites something that the agent did not write',
  runs_code: 'runs a program',
  runs_later: 'changes a file that runs by itself later',
}

function joinWords(words: readonly string[]): string {
  return words.length <= 1 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`
}
