import { posix, win32 } from 'node:path'
import type { Database } from '../platform/db/database.ts'
import { commitSoon } from '../platform/db/transact.ts'
import type { Agent } from '../contract/agents.ts'
import type { Approval, Remember } from '../contract/approvals.ts'
import type { Job } from '../contract/jobs.ts'
import type { Taint, CallChange, CallFacts, Decision, RecordedDecision, RuleText, TraceEntry } from '../contract/rules.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import type { NewApproval } from '../domain/approvals/ask-approval.ts'
import { digestOfCommand, hashOfCall } from '../domain/rules/call-hash.ts'
import { risksOf } from '../domain/approvals/call-risks.ts'
import type { GuardrailPlace } from '../domain/approvals/guardrails.ts'
import { readChain } from '../domain/approvals/delegation-chain.sql.ts'
import { CHANGES, whatGotWorse } from '../domain/approvals/changed-facts.ts'
import { decideInChain, type Situation } from '../domain/approvals/policy.ts'
import type { Claim } from '../domain/jobs/claim.ts'
import { createRuleSet, type RuleSet } from '../domain/rules/rule-set.ts'
import { listAllRules } from '../domain/rules/rules.ts'
import { readSettings } from '../domain/settings/settings.ts'
import type { PolicyQuestion, PolicyVerdict } from '../agent/loop/loop-types.ts'
import { ASK_PERSON, AskPersonArgs } from '../agent/tools/ask-person/ask-person.ts'
import { DELEGATE } from '../agent/tools/delegate/delegate.ts'
import { addedTaintsOf, factsOf } from '../agent/tools/tool.ts'
import type { Delegation } from './delegation.ts'
import { guestOf } from './prompt.ts'

export type ToolPolicyDeps = {
  db: Database
  approvals: ApprovalStore
  rules: { read(): RuleSet }
  delegation: Delegation
  guardrails: () => GuardrailPlace
  clock: Clock
}

export type ToolPolicy = {
  judge(question: PolicyQuestion): Promise<PolicyVerdict>
  /** The decision about a call in this attempt, to be recorded with the step that follows. */
  decisionOf(callId: string): RecordedDecision | undefined
}

const WAIT: PolicyVerdict = { verdict: 'wait', status: 'awaiting_approval' }

/**
 * Decides about each call from recorded facts: a person's answer about exactly this call, else the policy. A question is a
 * row before the attempt ends, so that an answer finds it whatever happens to this process.
 */
export function createToolPolicy(deps: ToolPolicyDeps, job: Job, agent: Agent, claim: Claim): ToolPolicy {
  const { db, approvals, delegation, clock } = deps
  const decisions = new Map<string, RecordedDecision>()

  async function judge(question: PolicyQuestion): Promise<PolicyVerdict> {
    const { call, tool, args, startedBefore } = question
    const known = approvals.findLatestOfCall(db, claim.seq, call.callId)
    if (known?.status === 'pending') return WAIT
    if (startedBefore) {
      const settled = await judgeUnknown(question, known)
      if (settled !== null) return settled
    }
    if (known?.status === 'rejected') return { ...deny(refusalOf(known)), addsTaint: wordsBring(known.note) }
    if (known?.status === 'expired') return deny(UNANSWERED)
    if (tool.name === ASK_PERSON && known?.status === 'approved') {
      return { verdict: 'answer', ok: true, output: answerOf(known), addsTaint: wordsBring(known.answer) }
    }
    if (tool.name === DELEGATE) {
      const underWay = delegation.look(job, call.callId)
      if (underWay !== null) return underWay
    }
    let facts: CallFacts
    try {
      facts = await factsOf(tool, args, question.context)
    } catch (thrown) {
      // The reason may name files, like the tool's own result.
      return { verdict: 'answer', ok: false, output: `Not run: ${messageOf(thrown)}`, addsTaint: addedTaintsOf(tool) }
    }
    const situation = situationOf(facts)
    const decision = decideInChain(situation, above())
    const record: RecordedDecision = {
      ...{ callId: call.callId, tool: tool.name, facts, decision, taints: situation.taints },
      decidedAt: clock.now(),
    }
    decisions.set(call.callId, record)
    if (decision.verdict === 'deny') return deny(decision.decidedBy.text)
    if (tool.name === ASK_PERSON) return askQuestion(question, record)
    const atOnce = tool.name === DELEGATE ? delegation.answerAtOnce(job, agent, args) : null
    if (atOnce !== null) return atOnce
    if (decision.verdict === 'run') return letRun(question, facts)
    const change = approvedChange(known, question, facts)
    if (change === 'none') return letRun(question, facts)
    const asking = change === null ? decision : changedDecision(decision, change)
    return ask(
      { kind: 'tool', ...asked(question, record), facts, decision: asking, ...offersFor(situation) },
      { ...record, decision: asking },
    )
  }

  /** How the call got worse since a person approved it. `none`: it did not. null: nobody approved it. */
  function approvedChange(known: Approval | null, { tool, args }: PolicyQuestion, facts: CallFacts): CallChange | 'none' | null {
    if (known?.status !== 'approved' || (known.kind !== 'tool' && known.kind !== 'unknown_outcome')) return null
    if (known.facts === null || known.hash !== hashOfCall(tool.name, args, known.facts)) return null
    return whatGotWorse(known.facts, facts) ?? 'none'
  }

  /**
   * Only a person decides about a call that may have happened. null: a person said that it may run again; then it is decided
   * like any other call, since its facts may have changed.
   */
  async function judgeUnknown(question: PolicyQuestion, known: Approval | null): Promise<PolicyVerdict | null> {
    const { call, tool } = question
    const { starts, agains } = approvals.countAgain(db, claim.seq, call.callId)
    // Each "again" allows one start.
    const isAnswered = known?.kind === 'unknown_outcome' && known.answer !== 'again'
    if (isAnswered && known.status === 'expired') return deny(UNKNOWN_AND_UNANSWERED)
    if (isAnswered && known.status === 'approved') {
      const output = `${tool.name} did take effect: the person has looked. What it answered is not known. ${noteOf(known)}`.trim()
      return { verdict: 'answer', ok: true, output, addsTaint: wordsBring(known.note) }
    }
    if (starts === agains) return null
    const facts = approvals.findDecision(db, claim.seq, call.callId)?.facts ?? null
    return ask({ kind: 'unknown_outcome', ...asked(question, null), facts })
  }

  /** The person's words are for the agent alone, not for a guest or a stranger whose text the job has read. */
  function wordsBring(words: string | null): Taint[] {
    if (words === null || words === '') return []
    return guestOf(job) !== null || approvals.readTaints(db, job.id).untrusted !== null ? ['private'] : []
  }

  const above = () => readChain(db, job.id).slice(1)

  function letRun(question: PolicyQuestion, facts: CallFacts): PolicyVerdict | Promise<PolicyVerdict> {
    const again = question.startedBefore ? { again: true as const } : {}
    if (question.ahead || question.tool.name !== DELEGATE) return { verdict: 'run', facts, ...again }
    return delegation.begin(job, agent, claim, question)
  }

  function askQuestion(question: PolicyQuestion, record: RecordedDecision): Promise<PolicyVerdict> {
    const { question: text, choices = [] } = AskPersonArgs.parse(question.args)
    return ask({ kind: 'question', ...asked(question, record), question: { text, choices } })
  }

  function asked({ call, tool, args }: PolicyQuestion, record: RecordedDecision | null) {
    return { callId: call.callId, tool: tool.name, args, taints: record?.taints ?? approvals.readTaints(db, job.id) }
  }

  async function ask(approval: NewApproval, record?: RecordedDecision): Promise<PolicyVerdict> {
    await commitSoon(db, (tx) => void approvals.ask(tx, claim, approval, record))
    return WAIT
  }

  function situationOf(facts: CallFacts): Situation {
    return {
      facts,
      autonomy: agent.autonomy,
      agentId: agent.id,
      rules: deps.rules.read(),
      taints: approvals.readTaints(db, job.id),
      pauseAll: readSettings(db).pauseAll,
      grants: approvals.listGrants(db, claim.seq),
      guardrails: deps.guardrails(),
    }
  }

  /** Offers only what would really let the same call run the next time. */
  function offersFor(situation: Situation): { alwaysRule: RuleText | null; mayRemember: Remember[] } {
    const { facts } = situation
    const runsWith = (change: Partial<Situation>) => decideInChain({ ...situation, ...change }, above()).verdict === 'run'
    const rule = narrowestRuleFor(facts, agent.id)
    const isHeld = rule !== null && runsWith({ rules: createRuleSet([...listAllRules(db), rule]) })
    const mayRemember: Remember[] = ['once']
    if (runsWith({ grants: new Map([...situation.grants, [facts.tool, new Set(risksOf(facts))]]) })) mayRemember.push('job')
    if (isHeld) mayRemember.push('always')
    return { alwaysRule: isHeld ? rule : null, mayRemember }
  }

  return { judge, decisionOf: (callId) => decisions.get(callId) }
}

const UNANSWERED = 'nobody answered within 24 hours, which counts as no. Go on without it, or say what is missing.'
const UNKNOWN_AND_UNANSWERED =
  'it was under way when the app stopped, and nobody said whether it took effect. It was not run again. Say so in your answer.'

function deny(reason: string) {
  return { verdict: 'deny', reason } as const
}

function refusalOf(approval: Approval): string {
  if (approval.kind === 'question') return `the person does not want to answer. ${noteOf(approval)}`.trim()
  return `the person said no. ${noteOf(approval)}`.trim()
}

function noteOf({ note }: Approval): string {
  return note === null || note === '' ? '' : `They wrote: ${note}`
}

function answerOf({ answer, note }: Approval): string {
  return note === null || note === '' ? answer! : `${answer!}\n\n${note}`
}

/** Asks again and says why. The former decision follows in the trace. */
function changedDecision({ decidedBy, overruled }: Decision, change: CallChange): Decision {
  const entry: TraceEntry = {
    ...{ source: 'changed', verdict: 'ask', ruleId: null },
    text: `You approved this call, but ${CHANGES[change]}, so it is asked again.`,
    reason: { code: 'changed_since', change },
  }
  return { verdict: 'ask', decidedBy: entry, overruled: [decidedBy, ...overruled] }
}

/**
 * The narrowest useful rule for "always": the host of an address, the exact command in this folder with these scripts, the
 * folder of files, else exactly this call. null: every rule would allow more, as for a file that runs later, whose next
 * content nobody has seen.
 */
export function narrowestRuleFor(facts: CallFacts, agentId: string): RuleText | null {
  const rule = { effect: 'allow', tool: facts.tool, agentId, pattern: null, folder: null } as const
  if (facts.runsLater === true) return null
  if (facts.runsCode) {
    const [folder = null] = facts.paths
    const command = patternRule({ ...rule, folder }, facts.subject)
    return command === null || facts.argv === undefined ? command : { ...command, digest: digestOfCommand(facts) }
  }
  const address = URL.canParse(facts.subject) ? new URL(facts.subject) : null
  if (address !== null && /^https?:$/.test(address.protocol) && facts.subject.startsWith(`${address.origin}/`)) {
    return { ...rule, pattern: `${address.origin}/*` }
  }
  if (facts.paths.length > 0) {
    const folder = commonFolderOf(facts.paths)
    return folder === null ? null : { ...rule, folder }
  }
  return patternRule(rule, facts.subject)
}

function patternRule(rule: RuleText, subject: string): RuleText | null {
  const isExact = subject !== '' && !subject.includes('*') && subject.length <= 2000
  return isExact ? { ...rule, pattern: subject } : null
}

function commonFolderOf(paths: readonly string[]): string | null {
  const path = paths.every((one) => /^([a-z]:|\\\\)/i.test(one)) ? win32 : posix
  const isIn = (folder: string) => (one: string) => path.dirname(one) === folder || path.dirname(one).startsWith(folder + path.sep)
  let folder = path.dirname(paths[0]!)
  while (!paths.every(isIn(folder)) && folder !== path.dirname(folder)) folder = path.dirname(folder)
  return folder === path.dirname(folder) || folder === '.' ? null : folder
}
