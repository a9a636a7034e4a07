import type { Autonomy } from '../../contract/agents.ts'
import type { Message } from '../../contract/messages.ts'
import {
  CODE_START,
  CONNECTED_READ,
  describeRule,
  type CallFacts,
  type CallRisk,
  type Decision,
  type Taints,
  type TaintSource,
  type TraceEntry,
} from '../../contract/rules.ts'
import { createMessage } from '../../lib/messages.ts'
import { compareSpecificity, rulesFor, type ReadyRule, type RuleSet } from '../rules/rule-set.ts'
import type { ChainLink } from './delegation-chain.sql.ts'
import { risksOf } from './call-risks.ts'
import { skillAgainst, type FollowedSkill } from './skill-tools.ts'
import { guardrailObjection, type GuardrailPlace } from './guardrails.ts'

/** Tools that the person allowed for the rest of a job, each with the risks of the approved calls. A riskier call asks again. */
export type Grants = ReadonlyMap<string, ReadonlySet<CallRisk>>

/** Everything that a decision depends on. What the model says is not part of it. */
export type Situation = {
  facts: CallFacts
  autonomy: Autonomy
  /** null: no particular agent, in the simulator. */
  agentId: string | null
  rules: RuleSet
  taints: Taints
  /** With `facts.readsFrom`: the private data that the job has from elsewhere than there. Absent: all that it has. */
  privateElsewhere?: TaintSource | null
  pauseAll: boolean
  grants: Grants
  guardrails: GuardrailPlace
  /** The skills that the job and those above it have read. Absent: none. */
  skills?: readonly FollowedSkill[]
}

/**
 * Decides whether a call runs, asks or is denied. The first entry of the trace decides: guardrails; a deny by the most
 * specific rule; pause all; the lethal trifecta; a file that runs later, in a job that read untrusted text; a read that could
 * carry private data, in a job that read both; a program without a sandbox; the tools that a skill lists; the most specific
 * rule or the grant of the job; the agent's autonomy.
 */
export function decide(situation: Situation): Decision {
  const trace = traceOf(situation)
  const [decidedBy, ...others] = trace
  return { verdict: decidedBy!.verdict, decidedBy: decidedBy!, overruled: others.filter((entry) => entry.verdict !== decidedBy!.verdict) }
}

const STRICTNESS: Record<TraceEntry['verdict'], number> = { run: 0, ask: 1, deny: 2 }

/**
 * Decides a call of a delegated job. It runs only if it would run for every agent that delegated the work, so stricter
 * autonomy and ask or deny rules hold for the whole chain. A grant to this job holds for all.
 */
export function decideInChain(situation: Situation, above: readonly ChainLink[]): Decision {
  return above.reduce((strictest, { agentId, agentName, autonomy }) => {
    const { verdict, decidedBy, overruled } = decide({ ...situation, agentId, autonomy })
    if (STRICTNESS[verdict] <= STRICTNESS[strictest.verdict]) return strictest
    const reason = createMessage('policy_on_behalf', { agent: agentName, reason: decidedBy.reason })
    return { verdict, decidedBy: { ...decidedBy, reason }, overruled: [strictest.decidedBy, ...overruled] }
  }, decide(situation))
}

/** The decision trace, the deciding entry first. It is never empty, because autonomy always has an entry. */
function traceOf(situation: Situation): TraceEntry[] {
  const { facts, agentId, rules, guardrails } = situation
  const objection = guardrailObjection(facts, guardrails)
  const [first, ...rest] = rulesFor(rules, facts, agentId)
  const denies = first?.text.effect === 'deny'
  const entries: (TraceEntry | null)[] = [
    objection === null ? null : { source: 'guardrails', verdict: 'deny', ruleId: null, reason: createMessage(`policy_${objection}`) },
    denies ? entryOfRule(first) : null,
    situation.pauseAll ? ask('pauseAll', createMessage('policy_all_paused')) : null,
    lethalTrifecta(situation),
    untrustedCode(situation),
    untrustedQuery(situation),
    facts.runsCode && facts.sandboxed === false && !allowsStart(facts, first) ? ask('sandbox', noSandbox(facts)) : null,
    outsideOfSkill(situation),
    ...(first === undefined || denies ? [entryOfGrant(situation)] : inOrder(entryOfRule(first), first, entryOfGrant(situation))),
    ...rest.map(entryOfRule),
    entryOfAutonomy(situation),
  ]
  return entries.filter((entry) => entry !== null)
}

/** A person has made the rule for this program, and it said that there is no sandbox. */
function allowsStart({ tool }: CallFacts, rule: ReadyRule | undefined): boolean {
  return tool === CODE_START && rule?.text.effect === 'allow' && rule.text.tool === CODE_START
}

function noSandbox({ tool }: CallFacts): Message {
  return tool === CODE_START ? createMessage('policy_program_outside') : createMessage('policy_no_sandbox')
}

function ask(source: TraceEntry['source'], reason: Message): TraceEntry {
  return { source, verdict: 'ask', ruleId: null, reason }
}

/**
 * A job may combine two of: untrusted text, private data, a way out of this machine. A person allows the third. A program
 * with network access is two of them at once: it can read its folder and send what it finds in one call.
 */
function lethalTrifecta(situation: Situation): TraceEntry | null {
  const { facts, taints } = situation
  if (!facts.leavesMachine || taints.untrusted === null || allowsHosts(situation)) return null
  const untrusted = taints.untrusted.cause
  if (taints.private !== null) {
    return ask('lethal_trifecta', createMessage('policy_untrusted_and_private', { untrusted, private: taints.private.cause }))
  }
  return facts.runsCode ? ask('lethal_trifecta', createMessage('policy_untrusted_and_program', { untrusted })) : null
}

/** A person who saw the few hosts that the program can reach has allowed such calls, for this job or by a rule for this tool. */
function allowsHosts(situation: Situation): boolean {
  const { facts, agentId, rules } = situation
  if (facts.reaches === undefined) return false
  const [first] = rulesFor(rules, facts, agentId)
  return entryOfGrant(situation) !== null || (first?.text.effect === 'allow' && first.text.tool === facts.tool)
}

/**
 * Untrusted text must never become code. A program runs in a sandbox, but a file that the person's git, shell or editor runs
 * does not. So a job that has read such text asks before it writes one, whatever its autonomy, rules and grants.
 */
function untrustedCode({ facts, taints }: Situation): TraceEntry | null {
  if (facts.runsLater !== true || taints.untrusted === null) return null
  return ask('lethal_trifecta', createMessage('policy_untrusted_and_later', { untrusted: taints.untrusted.cause }))
}

/**
 * A reading with a connected account tells its service the path and the query, which untrusted text may have worded. What the
 * service has already may go there again; private data from elsewhere needs a rule for these readings, or the person.
 */
function untrustedQuery(situation: Situation): TraceEntry | null {
  const { facts, agentId, rules, taints, privateElsewhere = taints.private } = situation
  if (facts.readsFrom === undefined || taints.untrusted === null || privateElsewhere === null) return null
  const [first] = rulesFor(rules, { ...facts, tool: CONNECTED_READ }, agentId)
  if (first?.text.effect === 'allow' && first.text.tool === CONNECTED_READ) return null
  if (entryOfGrant(situation) !== null) return null
  const causes = { untrusted: taints.untrusted.cause, private: privateElsewhere.cause }
  return ask('lethal_trifecta', createMessage('policy_untrusted_query', { ...causes, service: new URL(facts.readsFrom).host }))
}

/** A skill takes away and gives nothing: what its list lacks asks, unless the person allowed that for the rest of this job. */
function outsideOfSkill(situation: Situation): TraceEntry | null {
  const skill = skillAgainst(situation.facts, situation.skills ?? [])
  return skill === null || entryOfGrant(situation) !== null
    ? null
    : ask('skill', createMessage('policy_outside_skill', { skill: skill.name }))
}

/** A grant ranks as an allow rule for the tool in this job: above a rule for the agent, below a pattern or a folder. */
const GRANT_SPECIFICITY = [0, 0, 0, 1, 2]

function entryOfGrant({ facts, grants }: Situation): TraceEntry | null {
  const granted = grants.get(facts.tool)
  if (granted === undefined || !risksOf(facts).every((risk) => granted.has(risk))) return null
  return { source: 'grant', verdict: 'run', ruleId: null, reason: createMessage('policy_grant', { tool: facts.tool }) }
}

function inOrder(rule: TraceEntry, ready: ReadyRule, grant: TraceEntry | null): TraceEntry[] {
  if (grant === null) return [rule]
  return compareSpecificity(GRANT_SPECIFICITY, ready.specificity) > 0 ? [grant, rule] : [rule, grant]
}

const VERDICTS = { allow: 'run', ask: 'ask', deny: 'deny' } as const

function entryOfRule({ id, text }: ReadyRule): TraceEntry {
  const rule = describeRule(text, text.agentId === null ? 'everyone' : 'thisAgent')
  return { source: 'rule', verdict: VERDICTS[text.effect], ruleId: id, reason: createMessage('policy_rule', { rule }) }
}

function entryOfAutonomy({ facts, autonomy, taints }: Situation): TraceEntry {
  const run = (reason: Message): TraceEntry => ({ source: 'level', verdict: 'run', ruleId: null, reason })
  if (facts.delegates === true && taints.untrusted !== null) {
    return ask('level', createMessage('policy_untrusted_delegation', { untrusted: taints.untrusted.cause }))
  }
  const risks = risksOf(facts).map((risk) => createMessage('policy_risk', { risk }))
  switch (autonomy) {
    case 'on_its_own':
      return run(createMessage('policy_on_its_own'))
    case 'ask_first':
      if (facts.effect === 'read' && risks.length === 0) return run(createMessage('policy_only_reads'))
      return ask('level', risks.length === 0 ? createMessage('policy_asks_first') : createMessage('policy_asks_first_risks', { risks }))
    case 'ask_when_it_matters':
      return risks.length === 0 ? run(createMessage('policy_no_risks')) : ask('level', createMessage('policy_risks', { risks }))
  }
}
