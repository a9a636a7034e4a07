import type { Database } from '../base/db/database.ts'
import { NO_MARKS, type Mark, type Marks, type SimulateCall, type SimulatedCall } from '../contract/rules.ts'
import { AppError, messageOf } from '../kit/errors.ts'
import { issuesOf } from '../kit/issues.ts'
import { say } from '../kit/said.ts'
import { getAgent } from '../records/agents/agents.ts'
import type { ApprovalStore } from '../records/approvals/approvals.ts'
import type { FloorPlace } from '../records/approvals/floor.ts'
import { readChain } from '../records/approvals/chain.ts'
import { decideInChain, type Situation } from '../records/approvals/policy.ts'
import type { JobStore } from '../records/jobs/job-store.ts'
import { createRuleSet } from '../records/rules/rule-set.ts'
import { listAllRules, withRealFolder } from '../records/rules/rules.ts'
import { readSettings } from '../records/settings/settings.ts'
import type { Tool } from '../thinking/tools/tool.ts'
import { factsOf } from './gate.ts'

export type SimulateDeps = {
  db: Database
  jobs: JobStore
  approvals: Pick<ApprovalStore, 'readMarks'>
  tools: () => readonly Tool[]
  floor: () => FloorPlace
}

/**
 * What the policy would say of a call that nobody makes: the facts come from the real tool, the verdict from the real
 * decision, and nothing runs. Throws AppError tool_not_found, agent_not_found, job_not_found, or invalid_request for
 * arguments that the tool does not take.
 */
export async function simulateCall(deps: SimulateDeps, asked: SimulateCall): Promise<SimulatedCall> {
  const { db, jobs, approvals, floor } = deps
  const tool = deps.tools().find(({ name }) => name === asked.tool)
  if (tool === undefined) throw new AppError('tool_not_found', 'There is no such tool.')
  const job = asked.jobId === undefined ? null : jobs.getJob(db, asked.jobId)
  const agentId = asked.agentId ?? job?.agentId ?? null
  const agent = agentId === null ? null : getAgent(db, agentId)
  const args = tool.args.safeParse(asked.args)
  if (!args.success) {
    const issues = args.error.issues.flatMap((issue) => issuesOf({ ...issue, path: ['args', ...issue.path] }, { args: asked.args }, 'args'))
    throw new AppError('invalid_request', say('arguments_refused', { tool: tool.name }), { issues })
  }
  const above = job === null || asked.agentId !== undefined || asked.autonomy !== undefined ? [] : readChain(db, job.id).slice(1)
  const context = {
    onBehalfOf: above.map((link) => link.agentId),
    ...{ jobId: job?.id ?? '', agentId: agentId ?? '', callId: 'simulated' },
    ...{ folders: agent?.folders ?? [], closedFolders: floor().closedFolders, signal: new AbortController().signal },
  }
  const facts = await factsOf(tool, args.data, context).catch((thrown: unknown) => {
    throw new AppError('invalid_request', messageOf(thrown), { issues: [{ path: 'args', message: messageOf(thrown) }] })
  })
  const marks = asked.marks === undefined ? (job === null ? NO_MARKS : approvals.readMarks(db, job.id)) : supposed(asked.marks)
  const situation: Situation = {
    facts,
    agentId,
    marks,
    autonomy: asked.autonomy ?? agent?.autonomy ?? 'ask_when_it_matters',
    rules: createRuleSet([...listAllRules(db), ...(asked.rules ?? []).map(withRealFolder)]),
    brake: readSettings(db).brake,
    grants: new Map(),
    floor: floor(),
  }
  return { facts, decision: decideInChain(situation, above), marks }
}

function supposed({ untrusted, private: seen }: NonNullable<SimulateCall['marks']>): Marks {
  const mark: Mark = { seq: 0, cause: 'supposed', about: { code: 'supposed' } }
  return { untrusted: untrusted ? mark : null, private: seen ? mark : null, outside: null }
}
