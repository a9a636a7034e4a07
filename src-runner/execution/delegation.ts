import { englishText } from '../lib/messages.ts'
import type { Database } from '../platform/db/database.ts'
import type { Agent } from '../contract/agents.ts'
import { isTerminal, type Job } from '../contract/jobs.ts'
import { Taint } from '../contract/rules.ts'
import { listAgents } from '../domain/agents/agents.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import type { PolicyQuestion, PolicyVerdict } from '../agent/loop/loop-types.ts'
import { DelegateArgs } from '../agent/tools/delegate/delegate.ts'
import { commitClaimed } from './commit-claimed.ts'
import { guestOf } from './prompt.ts'

/** How many levels of jobs may be below a job. */
export const MAX_DEPTH = 3

export type Delegation = ReturnType<typeof createDelegation>

const WAIT: PolicyVerdict = { verdict: 'wait', status: 'awaiting_child' }

/**
 * Work that an agent gives to another one. The child job is found by the call that started it, so a restarted parent finds
 * the same child. The child's end wakes the parent in the same commit.
 */
export function createDelegation({ db, jobs, approvals }: { db: Database; jobs: JobStore; approvals: Pick<ApprovalStore, 'readTaints'> }) {
  /** The state of a call that has started a job: still waiting, or the result. null: it has not. */
  function verdictOfChild(job: Job, callId: string): PolicyVerdict | null {
    const child = jobs.findChildOfCall(db, job.id, callId)
    if (child === null) return null
    return isTerminal(child.status) ? resultOf(child) : WAIT
  }

  /** The child's taints come with its result. */
  function resultOf(child: Job): PolicyVerdict {
    const taints = approvals.readTaints(db, child.id)
    const addsTaint = Taint.options.filter((taint) => taints[taint] !== null)
    const output = child.output === null ? [] : [`Result: ${JSON.stringify(child.output)}`]
    const said = child.result === null || child.result === '' ? [] : [child.result]
    if (child.status === 'completed') return { verdict: 'answer', ok: true, output: [...said, ...output].join('\n\n'), addsTaint }
    const why =
      child.status === 'cancelled'
        ? 'was stopped by the person'
        : `failed: ${child.errorMessage === null ? (child.error ?? '') : englishText(child.errorMessage)}`
    return { verdict: 'answer', ok: false, output: [`${child.agentName} ${why}`, ...said, ...output].join('\n\n'), addsTaint }
  }

  function find(job: Job, agent: Agent, args: Record<string, unknown>): { helper: Agent; task: string } | { answer: PolicyVerdict } {
    const given = DelegateArgs.parse(args)
    const others = listAgents(db, { entityId: agent.entityId, limit: 200 }).agents.filter(({ id }) => id !== agent.id)
    const helper = others.find(({ name, slug }) => isSameName(name, given.agent) || slug === given.agent)
    if (helper === undefined) {
      const names =
        others.length === 0 ? 'There are no other agents.' : `The other agents are: ${others.map(({ name }) => name).join(', ')}.`
      const output = given.agent === undefined ? names : `Not run: there is no agent '${given.agent}'. ${names}`
      return { answer: { verdict: 'answer', ok: given.agent === undefined, output } }
    }
    if (given.task === '')
      return { answer: { verdict: 'answer', ok: false, output: 'Not run: say in `task` what the other agent should do.' } }
    if (jobs.depthOf(db, job.id) >= MAX_DEPTH) {
      const reason = `delegated work may be delegated at most ${MAX_DEPTH} times, and this job is at that limit.`
      return { answer: { verdict: 'deny', reason } }
    }
    return { helper, task: given.task }
  }

  /** The answer to a call that starts no job. null: it would start one. */
  function verdictAtOnce(job: Job, agent: Agent, args: Record<string, unknown>): PolicyVerdict | null {
    const found = find(job, agent, args)
    return 'answer' in found ? found.answer : null
  }

  /** Starts the job, once for each call. Rejects with StaleClaimError. */
  async function start(job: Job, agent: Agent, claim: Claim, { call, args }: PolicyQuestion): Promise<PolicyVerdict> {
    const found = find(job, agent, args)
    if ('answer' in found) return found.answer
    await commitClaimed({ db, jobs }, claim, (tx) => {
      const guest = guestOf(job)
      const forGuest = guest === null ? {} : { isGuest: true, personName: guest.name }
      const context = { delegatedBy: agent.name, parentJobId: job.id, ...forGuest }
      jobs.enqueue(tx, {
        ...{ agentId: found.helper.id, channel: 'delegation', task: found.task, context },
        parentJobId: job.id,
        parentCallId: call.callId,
      })
    })
    return WAIT
  }

  return { verdictOfChild, verdictAtOnce, start }
}

function isSameName(name: string, given: string | undefined): boolean {
  return given !== undefined && name.normalize().toLowerCase() === given.normalize().toLowerCase()
}
