import { commitSoon, transact } from '../platform/db/database.ts'
import type { Services } from '../platform/services.ts'
import type { Agent, Autonomy } from '../contract/agents.ts'
import type { Approval, AskedQuestion, Remember } from '../contract/approvals.ts'
import type { Job } from '../contract/jobs.ts'
import type { Taint, Taints, CallChange, CallFacts, Decision, RecordedDecision, RuleText, TraceEntry } from '../contract/rules.ts'
import { messageOf } from '../lib/errors.ts'
import { createMessage, englishText } from '../lib/messages.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import type { NewApproval } from '../domain/approvals/ask-approval.ts'
import { hashOfCall } from '../domain/rules/call-hash.ts'
import { risksOf } from '../domain/approvals/call-risks.ts'
import type { GuardrailPlace } from '../domain/approvals/guardrails.ts'
import { readChain, type ChainLink } from '../domain/approvals/delegation-chain.sql.ts'
import { whatGotWorse } from '../domain/approvals/changed-facts.ts'
import { decideInChain, type Situation } from '../domain/approvals/policy.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import { createRuleSet, type RuleSet } from '../domain/rules/rule-set.ts'
import { listAllRules } from '../domain/rules/rules.ts'
import { readSettings } from '../domain/settings/settings.ts'
import { readFollowedSkills } from '../domain/skills/skills.ts'
import type { PolicyQuestion, PolicyVerdict } from '../agent/loop/loop-types.ts'
import { ASK_PERSON, AskPersonArgs } from '../agent/tools/ask-person/ask-person.ts'
import { factsOf, taintsOfError, type Tool } from '../agent/tools/tool.ts'
import { CHILD_TOOLS, type Delegation } from './delegation.ts'
import type { ParkedCalls, PersonAnswer } from './parked-calls.ts'
import { narrowRulesFor } from './narrowest-rule.ts'
import { guestOf } from './prompt.ts'

export type ToolPolicyDeps = Pick<Services, 'db' | 'clock' | 'log'> & {
  approvals: ApprovalStore
  rules: { read(): RuleSet }
  delegation: Delegation
  guardrails: () => GuardrailPlace
  /** Calls that are under way while the person is asked. */
  parked: Pick<ParkedCalls<unknown>, 'isUnderWay' | 'bind' | 'answer'>
}

export type ToolPolicy = ReturnType<typeof createToolPolicy>

/** One attempt at a job, whose calls are judged. */
type Judged = ToolPolicyDeps & { job: Job; agent: Agent; claim: Claim; decisions: Map<string, RecordedDecision> }

const WAIT: PolicyVerdict = { verdict: 'wait', status: 'awaiting_approval' }

/**
 * Decides about each call from recorded facts: a person's answer about exactly this call, else the policy. A question is a
 * row before the attempt ends, so that an answer finds it whatever happens to this process.
 */
export function createToolPolicy(deps: ToolPolicyDeps, job: Job, agent: Agent, claim: Claim) {
  const judged: Judged = { ...deps, job, agent, claim, decisions: new Map() }
  return {
    judge: (question: PolicyQuestion) => judge(judged, question),
    /** The decision about a call in this attempt, to be recorded with the step that follows. */
    decisionOf: (callId: string) => judged.decisions.get(callId),
  }
}

async function judge(judged: Judged, question: PolicyQuestion): Promise<PolicyVerdict> {
  const known = judged.approvals.findLatestOfCall(judged.db, judged.claim.seq, question.call.callId)
  return withNote(judged, known, await verdictOn(judged, question, known))
}

/** What the person wrote when they approved the call is for the agent, too. */
function withNote(judged: Judged, known: Approval | null, verdict: PolicyVerdict): PolicyVerdict {
  if (verdict.verdict !== 'run' || known?.status !== 'approved' || known.note === null || known.note === '') return verdict
  return { ...verdict, note: { text: known.note, addsTaint: taintOfWords(judged, known.note) } }
}

async function verdictOn(judged: Judged, question: PolicyQuestion, known: Approval | null): Promise<PolicyVerdict> {
  const { approvals, delegation, clock, job, agent, claim } = judged
  const { call, tool, args, startedBefore } = question
  const asked = approvals.findLatestOfServer(judged.db, claim.seq, call.callId)
  if (known?.status === 'pending' || asked?.status === 'pending') return WAIT
  if (question.asks !== undefined) return askForServer(judged, question, question.asks)
  if (judged.parked.isUnderWay({ jobId: job.id, callId: call.callId })) return goOn(judged, question, asked)
  const settled = (startedBefore ? await judgeUnknown(judged, question, known) : null) ?? answeredVerdict(judged, tool, known)
  if (settled !== null) return settled
  const underWay = CHILD_TOOLS.has(tool.name) ? delegation.verdictOfChild(job, call.callId) : null
  if (underWay !== null) return underWay

  let facts: CallFacts
  try {
    // The rules decide about the folders that they deny, so that the decision is recorded and names the rule.
    facts = await factsOf(tool, args, { ...question.context, closedFolders: judged.guardrails().closedFolders })
  } catch (thrown) {
    // The reason may name files, like the tool's own result.
    const addsTaint = [...(tool.addsTaint ?? []), ...taintsOfError(thrown)]
    return { verdict: 'answer', ok: false, output: `Not run: ${messageOf(thrown)}`, addsTaint }
  }
  // As set now: a person who makes an agent stricter does not mean only the next attempt.
  const [own, ...above] = readChain(judged.db, job.id)
  const situation = situationOf(judged, facts, own?.autonomy ?? agent.autonomy)
  const decision = decideInChain(situation, above)
  const { taints } = situation
  const record: RecordedDecision = { callId: call.callId, tool: tool.name, facts, decision, taints, decidedAt: clock.now() }
  judged.decisions.set(call.callId, record)
  if (decision.verdict === 'deny') return deny(englishText(decision.decidedBy.reason))
  if (tool.name === ASK_PERSON) {
    const { question: text, choices = [] } = AskPersonArgs.parse(args)
    return ask(judged, { kind: 'question', ...approvalOf(question, taints), question: { text, choices } }, record)
  }
  const atOnce = CHILD_TOOLS.has(tool.name) ? delegation.verdictAtOnce(tool.name, job, agent, args) : null
  if (atOnce !== null) return atOnce
  const change = decision.verdict === 'run' ? 'none' : approvedChange(known, question, facts)
  if (change === 'none') return letRun(judged, question, facts)
  const asking = change === null ? decision : changedDecision(decision, change)
  const approval = { ...approvalOf(question, taints), facts, decision: asking, ...offersFor(judged, situation, above) }
  return ask(judged, { kind: 'tool', ...approval }, { ...record, decision: asking })
}

/** The call goes on meanwhile. If it ends without an answer, nobody has to give one. */
async function askForServer(judged: Judged, question: PolicyQuestion, asks: AskedQuestion): Promise<PolicyVerdict> {
  const { db, approvals, parked, log, job, claim } = judged
  const { callId } = question.call
  const approval = { kind: 'question', ...approvalOf(question, approvals.readTaints(db, job.id)), question: asks } as const
  const id = await commitSoon(db, (tx) => approvals.ask(tx, claim, approval, judged.decisions.get(callId)))
  parked.bind({ jobId: job.id, callId }, id, () => {
    try {
      transact(db, (tx) => approvals.withdrawQuestionsOfServers(tx, id))
    } catch (error) {
      // The next start withdraws it.
      log.warn({ error, jobId: job.id }, 'a question of a server that has gone could not be withdrawn')
    }
  })
  return WAIT
}

/** The call was allowed and is under way, so nothing is decided again. */
function goOn({ db, approvals, parked, decisions, job, claim }: Judged, { call }: PolicyQuestion, asked: Approval | null): PolicyVerdict {
  const { callId } = call
  if (asked !== null) parked.answer({ jobId: job.id, callId }, asked.id, personAnswerOf(asked))
  const decided = approvals.findDecision(db, claim.seq, callId)
  if (decided !== null) decisions.set(callId, decided)
  return { verdict: 'run', underWay: true }
}

function personAnswerOf({ status, answer }: Approval): PersonAnswer {
  if (status === 'approved') return { answer: answer! }
  return status === 'rejected' ? { declined: true } : null
}

/** The verdict that follows from a person's answer alone. null: none does. */
function answeredVerdict(judged: Judged, tool: Tool, known: Approval | null): PolicyVerdict | null {
  if (known?.status === 'rejected') return { ...deny(refusalOf(known)), addsTaint: taintOfWords(judged, known.note) }
  if (known?.status === 'expired') return deny(UNANSWERED)
  if (tool.name !== ASK_PERSON || known?.status !== 'approved') return null
  return { verdict: 'answer', ok: true, output: answerOf(known), addsTaint: taintOfWords(judged, known.answer) }
}

/**
 * Only a person decides about a call that may have happened. null: a person said that it may run again; then it is decided
 * like any other call, since its facts may have changed.
 */
async function judgeUnknown(judged: Judged, question: PolicyQuestion, known: Approval | null): Promise<PolicyVerdict | null> {
  const { db, approvals, claim, job } = judged
  const { call, tool } = question
  const { starts, agains } = approvals.countAgain(db, claim.seq, call.callId)
  // Each "again" allows one start.
  const isAnswered = known?.kind === 'unknown_outcome' && known.answer !== 'again'
  if (isAnswered && known.status === 'expired') return deny(UNKNOWN_AND_UNANSWERED)
  if (isAnswered && known.status === 'approved') {
    const output = `${tool.name} did take effect: the person has checked. What it returned is not known. ${noteOf(known)}`.trim()
    return { verdict: 'answer', ok: true, output, addsTaint: taintOfWords(judged, known.note) }
  }
  if (starts === agains) return null
  const facts = approvals.findDecision(db, claim.seq, call.callId)?.facts ?? null
  return ask(judged, { kind: 'unknown_outcome', ...approvalOf(question, approvals.readTaints(db, job.id)), facts })
}

/** How the call got worse since a person approved it. `none`: it did not. null: nobody approved it. */
function approvedChange(known: Approval | null, { tool, args }: PolicyQuestion, facts: CallFacts): CallChange | 'none' | null {
  if (known?.status !== 'approved' || (known.kind !== 'tool' && known.kind !== 'unknown_outcome')) return null
  if (known.facts === null || known.hash !== hashOfCall(tool.name, args, known.facts)) return null
  return whatGotWorse(known.facts, facts) ?? 'none'
}

/** The person's words are for the agent alone, not for a guest or a stranger whose text the job has read. */
function taintOfWords({ db, approvals, job }: Judged, words: string | null): Taint[] {
  if (words === null || words === '') return []
  return guestOf(job) !== null || approvals.readTaints(db, job.id).untrusted !== null ? ['private'] : []
}

function letRun(
  { delegation, job, agent, claim }: Judged,
  question: PolicyQuestion,
  facts: CallFacts,
): PolicyVerdict | Promise<PolicyVerdict> {
  const again = question.startedBefore ? { again: true as const } : {}
  if (question.ahead || !CHILD_TOOLS.has(question.tool.name)) return { verdict: 'run', facts, ...again }
  return delegation.start(job, agent, claim, question)
}

function approvalOf({ call, tool, args }: PolicyQuestion, taints: Taints) {
  return { callId: call.callId, tool: tool.name, args, taints }
}

async function ask({ db, approvals, claim }: Judged, approval: NewApproval, record?: RecordedDecision): Promise<PolicyVerdict> {
  await commitSoon(db, (tx) => void approvals.ask(tx, claim, approval, record))
  return WAIT
}

function situationOf({ db, approvals, rules, guardrails, job, agent, claim }: Judged, facts: CallFacts, autonomy: Autonomy): Situation {
  return {
    facts,
    autonomy,
    agentId: agent.id,
    rules: rules.read(),
    taints: approvals.readTaints(db, job.id),
    ...(facts.readsFrom === undefined ? {} : { privateElsewhere: approvals.readTaints(db, job.id, facts.readsFrom).private }),
    pauseAll: readSettings(db).pauseAll,
    grants: approvals.listGrants(db, claim.seq),
    guardrails: guardrails(),
    skills: readFollowedSkills(db, job.id),
  }
}

/** Offers only what would really let the same call run the next time. `above`: the agents of the jobs above, whose rules apply as well. */
function offersFor(
  judged: Judged,
  situation: Situation,
  above: readonly ChainLink[],
): { alwaysRule: RuleText | null; mayRemember: Remember[] } {
  const { facts } = situation
  const runsWith = (change: Partial<Situation>) => decideInChain({ ...situation, ...change }, above).verdict === 'run'
  const holds = (rule: RuleText) => runsWith({ rules: createRuleSet([...listAllRules(judged.db), rule]) })
  const alwaysRule = narrowRulesFor(facts, judged.agent.id).find(holds) ?? null
  const mayRemember: Remember[] = ['once']
  if (runsWith({ grants: new Map([...situation.grants, [facts.tool, new Set(risksOf(facts))]]) })) mayRemember.push('job')
  if (alwaysRule !== null) mayRemember.push('always')
  return { alwaysRule, mayRemember }
}

const UNANSWERED = 'nobody answered within 24 hours, which counts as no. Go on without it, or say what is missing.'
const UNKNOWN_AND_UNANSWERED =
  'it broke off before its result was known, and nobody said whether it took effect. It was not run again. Say so in your answer.'

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
  const entry: TraceEntry = { source: 'changed', verdict: 'ask', ruleId: null, reason: createMessage('policy_changed', { change }) }
  return { verdict: 'ask', decidedBy: entry, overruled: [decidedBy, ...overruled] }
}
