import type { Database } from '../platform/db/database.ts'
import { NO_TAINTS, type TaintSource, type Taints, type SimulateCall, type SimulatedCall } from '../contract/rules.ts'
import { AppError, invalidAt, issueAt, problemOf } from '../lib/errors.ts'
import { issuesOf } from '../lib/validation-issues.ts'
import { createMessage, quote } from '../lib/messages.ts'
import { getAgent } from '../domain/agents/agents.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import type { GuardrailPlace } from '../domain/approvals/guardrails.ts'
import { readChain } from '../domain/approvals/delegation-chain.sql.ts'
import { decideInChain, type Situation } from '../domain/approvals/policy.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import { createRuleSet } from '../domain/rules/rule-set.ts'
import { listAllRules, withRealFolder } from '../domain/rules/rules.ts'
import { readSettings } from '../domain/settings/settings.ts'
import { readFollowedSkills } from '../domain/skills/skills.ts'
import { listKnownTools, type KnownToolsDeps } from './known-tools.ts'
import { factsOf } from '../agent/tools/tool.ts'

export type SimulateDeps = KnownToolsDeps & {
  db: Database
  jobs: JobStore
  approvals: Pick<ApprovalStore, 'readTaints'>
  guardrails: () => GuardrailPlace
}

/**
 * What the policy would decide about a call: the real tool's facts, the real decision, and nothing runs. Throws AppError
 * tool_not_found, agent_not_found, job_not_found, or invalid_request for arguments that the tool does not accept.
 */
export async function simulateCall(deps: SimulateDeps, given: SimulateCall): Promise<SimulatedCall> {
  const { db, jobs, approvals, guardrails } = deps
  const tool = (await listKnownTools(deps, null)).find(({ name }) => name === given.tool)
  if (tool === undefined) throw new AppError('tool_not_found')
  const job = given.jobId === undefined ? null : jobs.getJob(db, given.jobId)
  const agentId = given.agentId ?? job?.agentId ?? null
  const agent = agentId === null ? null : getAgent(db, agentId)
  const args = tool.args.safeParse(given.args)
  if (!args.success) {
    const issues = args.error.issues.flatMap((issue) => issuesOf({ ...issue, path: ['args', ...issue.path] }, { args: given.args }, 'args'))
    throw new AppError('invalid_request', createMessage('arguments_refused', { tool: tool.name }), { issues })
  }
  const misfit = tool.schema?.check(args.data) ?? null
  if (misfit !== null) {
    const problem = createMessage('arguments_refused', { tool: tool.name })
    throw new AppError('invalid_request', problem, { issues: [issueAt('args', quote(misfit))] })
  }
  const above = job === null || given.agentId !== undefined || given.autonomy !== undefined ? [] : readChain(db, job.id).slice(1)
  const context = {
    onBehalfOf: above.map((link) => link.agentId),
    jobId: job?.id ?? '',
    agentId: agentId ?? '',
    callId: 'simulated',
    folders: agent?.folders ?? [],
    closedFolders: guardrails().closedFolders,
    signal: new AbortController().signal,
  }
  const facts = await factsOf(tool, args.data, context).catch((thrown: unknown) => {
    throw invalidAt('args', problemOf(thrown))
  })
  const taints = given.taints === undefined ? (job === null ? NO_TAINTS : approvals.readTaints(db, job.id)) : assumed(given.taints)
  const elsewhere =
    facts.readsFrom === undefined || job === null || given.taints !== undefined ? null : approvals.readTaints(db, job.id, facts.readsFrom)
  const situation: Situation = {
    facts,
    agentId,
    taints,
    ...(elsewhere === null ? {} : { privateElsewhere: elsewhere.private }),
    autonomy: given.autonomy ?? agent?.autonomy ?? 'ask_when_it_matters',
    rules: createRuleSet([...listAllRules(db), ...(given.rules ?? []).map(withRealFolder)]),
    pauseAll: readSettings(db).pauseAll,
    grants: new Map(),
    guardrails: guardrails(),
    skills: job === null ? [] : readFollowedSkills(db, job.id),
  }
  return { facts, decision: decideInChain(situation, above), taints }
}

function assumed({ untrusted, private: seen }: NonNullable<SimulateCall['taints']>): Taints {
  const mark: TaintSource = { seq: 0, cause: createMessage('taint_assumed') }
  return { untrusted: untrusted ? mark : null, private: seen ? mark : null, outside: null }
}
