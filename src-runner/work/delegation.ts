import type { Database } from '../base/db/database.ts'
import { commitSoon } from '../base/db/transact.ts'
import type { Agent } from '../contract/agents.ts'
import { isTerminal, type Job } from '../contract/jobs.ts'
import type { Brings } from '../contract/rules.ts'
import { listAgents } from '../records/agents/agents.ts'
import type { ApprovalStore } from '../records/approvals/approvals.ts'
import { LostClaim, type Claim } from '../records/jobs/claim.ts'
import type { JobStore } from '../records/jobs/job-store.ts'
import type { GateQuestion, GateVerdict } from '../thinking/loop/loop-types.ts'
import { DelegateArgs } from '../thinking/tools/delegate/delegate.ts'
import { guestOf } from './guest.ts'

/** How many jobs deep work is handed on: a job, three below it, and no further. */
export const MAX_DEPTH = 3

export type Delegation = {
  /** What a call that was begun before comes to now: still waiting, or the child's result. null: it was not begun. */
  look(job: Job, callId: string): GateVerdict | null
  /** The answer to a call that begins nothing: it asks who there is, or names nobody. null: it would begin a job. */
  answerAtOnce(job: Job, agent: Agent, args: Record<string, unknown>): GateVerdict | null
  /** Begins it, once for each call. Throws LostClaim. */
  begin(job: Job, agent: Agent, claim: Claim, question: GateQuestion): Promise<GateVerdict>
}

const WAIT: GateVerdict = { verdict: 'wait', status: 'awaiting_child' }

/**
 * Work that an agent gives to another one. The child is a job like any other, known by the call that it answers: however
 * often the parent is started again, it finds the same child. The child's end wakes the parent in the same commit.
 */
export function createDelegation({
  db,
  jobs,
  approvals,
}: {
  db: Database
  jobs: JobStore
  approvals: Pick<ApprovalStore, 'readMarks'>
}): Delegation {
  function look(job: Job, callId: string): GateVerdict | null {
    const child = jobs.findChildOfCall(db, job.id, callId)
    if (child === null) return null
    return isTerminal(child.status) ? resultOf(child) : WAIT
  }

  /** What the child has seen comes along with what it says. */
  function resultOf(child: Job): GateVerdict {
    const marks = approvals.readMarks(db, child.id)
    const brings: Brings[] = []
    if (marks.private !== null) brings.push('private')
    if (marks.untrusted !== null) brings.push('untrusted')
    const output = child.output === null ? [] : [`Result: ${JSON.stringify(child.output)}`]
    const said = child.result === null || child.result === '' ? [] : [child.result]
    if (child.status === 'completed') return { verdict: 'answer', ok: true, output: [...said, ...output].join('\n\n'), brings }
    const why = child.status === 'cancelled' ? 'was stopped by the person' : `failed: ${child.errorMessage ?? child.error ?? ''}`
    return { verdict: 'answer', ok: false, output: [`${child.agentName} ${why}`, ...said, ...output].join('\n\n'), brings }
  }

  function find(job: Job, agent: Agent, args: Record<string, unknown>): { helper: Agent; task: string } | { answer: GateVerdict } {
    const wanted = DelegateArgs.parse(args)
    const others = listAgents(db, { entityId: agent.entityId, limit: 200 }).agents.filter(({ id }) => id !== agent.id)
    const helper = others.find(({ name, slug }) => isSameName(name, wanted.agent) || slug === wanted.agent)
    if (helper === undefined) {
      const names =
        others.length === 0 ? 'There are no other agents.' : `The other agents are: ${others.map(({ name }) => name).join(', ')}.`
      const output = wanted.agent === undefined ? names : `Not run: there is no agent '${wanted.agent}'. ${names}`
      return { answer: { verdict: 'answer', ok: wanted.agent === undefined, output } }
    }
    if (wanted.task === '') return { answer: { verdict: 'answer', ok: false, output: 'Not run: say in `task` what is to be done.' } }
    if (jobs.depthOf(db, job.id) >= MAX_DEPTH) {
      const reason = `work is handed on at most ${MAX_DEPTH} times, and this job is the last of such a row.`
      return { answer: { verdict: 'deny', reason } }
    }
    return { helper, task: wanted.task }
  }

  function answerAtOnce(job: Job, agent: Agent, args: Record<string, unknown>): GateVerdict | null {
    const found = find(job, agent, args)
    return 'answer' in found ? found.answer : null
  }

  async function begin(job: Job, agent: Agent, claim: Claim, { call, args }: GateQuestion): Promise<GateVerdict> {
    const found = find(job, agent, args)
    if ('answer' in found) return found.answer
    await commitSoon(db, (tx) => {
      if (!jobs.isHeld(tx, claim)) throw new LostClaim(claim)
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

  return { look, answerAtOnce, begin }
}

function isSameName(name: string, wanted: string | undefined): boolean {
  return wanted !== undefined && name.normalize().toLowerCase() === wanted.normalize().toLowerCase()
}
