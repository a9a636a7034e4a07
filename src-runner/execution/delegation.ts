import { AppError } from '../lib/errors.ts'
import { englishText } from '../lib/messages.ts'
import { plural } from '../lib/text.ts'
import type { Database } from '../platform/db/database.ts'
import type { Agent } from '../contract/agents.ts'
import { isTerminal, type Job } from '../contract/jobs.ts'
import { Taint } from '../contract/rules.ts'
import { listAgents } from '../domain/agents/agents.ts'
import { findCodeTask } from '../domain/code-tasks/code-tasks.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import type { NewJob } from '../domain/jobs/enqueue-job.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import type { PolicyQuestion, PolicyVerdict } from '../agent/loop/loop-types.ts'
import { CODE_TASK, CodeTaskArgs, folderFor, programFor } from '../agent/tools/code-task/code-task.ts'
import { DELEGATE, DelegateArgs } from '../agent/tools/delegate/delegate.ts'
import type { CodeTasks } from './coding/code-tasks.ts'
import { commitClaimed } from './commit-claimed.ts'
import { guestOf } from './prompt.ts'

/** How many levels of jobs may be below a job. */
export const MAX_DEPTH = 3

export type Delegation = ReturnType<typeof createDelegation>

/** Tools whose calls start a job. */
export const CHILD_TOOLS: ReadonlySet<string> = new Set([DELEGATE, CODE_TASK])

const WAIT: PolicyVerdict = { verdict: 'wait', status: 'awaiting_child' }

export type DelegationDeps = {
  db: Database
  jobs: JobStore
  approvals: Pick<ApprovalStore, 'readTaints'>
  /** Absent in jobs of coding programs, which delegate nothing. */
  codeTasks?: Pick<CodeTasks, 'examine' | 'attach' | 'installed'>
}

/**
 * Work that an agent gives to another one. The child job is found by the call that started it, so a restarted parent finds
 * the same child. The child's end wakes the parent in the same commit.
 */
export function createDelegation({ db, jobs, approvals, codeTasks }: DelegationDeps) {
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
    if (child.status === 'completed')
      return { verdict: 'answer', ok: true, output: [...said, ...leftBy(child), ...output].join('\n\n'), addsTaint }
    const why =
      child.status === 'cancelled'
        ? 'was stopped by the person'
        : `failed: ${child.errorMessage === null ? (child.error ?? '') : englishText(child.errorMessage)}`
    return { verdict: 'answer', ok: false, output: [`${child.agentName} ${why}`, ...said, ...output].join('\n\n'), addsTaint }
  }

  /** For the model. People see the fields of the task. */
  function leftBy(child: Job): string[] {
    const task = findCodeTask(db, child.id)
    if (task === null) return []
    const { branch, fileCount, additions, deletions, leftOut } = task
    if (fileCount === 0) return ['No files were changed.']
    const without = leftOut.length === 0 ? '' : ` ${plural(leftOut.length, 'more file')} could not be committed.`
    return [`Branch ${branch}: ${plural(fileCount, 'file')} changed (+${additions} −${deletions}).${without}`]
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
    const tooDeep = verdictAtDepth(job)
    return tooDeep === null ? { helper, task: given.task } : { answer: tooDeep }
  }

  function verdictAtDepth(job: Job): PolicyVerdict | null {
    if (jobs.depthOf(db, job.id) < MAX_DEPTH) return null
    return { verdict: 'deny', reason: `delegated work may be delegated at most ${MAX_DEPTH} times, and this job is at that limit.` }
  }

  /** The answer to a call that starts no job. null: it would start one. */
  function verdictAtOnce(tool: string, job: Job, agent: Agent, args: Record<string, unknown>): PolicyVerdict | null {
    if (tool === CODE_TASK) return verdictAtDepth(job)
    const found = find(job, agent, args)
    return 'answer' in found ? found.answer : null
  }

  /** Starts the job, once for each call. Rejects with StaleClaimError. */
  async function start(job: Job, agent: Agent, claim: Claim, question: PolicyQuestion): Promise<PolicyVerdict> {
    if (question.tool.name === CODE_TASK) return startProgram(job, agent, claim, question)
    const found = find(job, agent, question.args)
    if ('answer' in found) return found.answer
    await commitClaimed({ db, jobs }, claim, (tx) => void jobs.enqueue(tx, childOf(job, agent, question, found.helper.id, found.task)))
    return WAIT
  }

  /** A job of a coding program, for the same agent. */
  async function startProgram(job: Job, agent: Agent, claim: Claim, question: PolicyQuestion): Promise<PolicyVerdict> {
    const { task, folder, program, internet } = CodeTaskArgs.parse(question.args)
    const cli = programFor(program, codeTasks!.installed())
    const given = { cli, internet, folder: folderFor(folder, question.context) }
    const prepared = await codeTasks!.examine(agent, given, question.context.onBehalfOf).catch((thrown: unknown) => {
      if (thrown instanceof AppError) return thrown
      throw thrown
    })
    if (prepared instanceof AppError) return { verdict: 'answer', ok: false, output: `Not run: ${prepared.message}` }
    await commitClaimed({ db, jobs }, claim, (tx) =>
      codeTasks!.attach(tx, jobs.enqueue(tx, childOf(job, agent, question, agent.id, task)), prepared),
    )
    return WAIT
  }

  function childOf(job: Job, agent: Agent, { call }: PolicyQuestion, agentId: string, task: string): NewJob {
    const guest = guestOf(job)
    const forGuest = guest === null ? {} : { isGuest: true, personName: guest.name }
    const context = { delegatedBy: agent.name, parentJobId: job.id, ...forGuest }
    return { agentId, channel: 'delegation', task, context, parentJobId: job.id, parentCallId: call.callId }
  }

  return { verdictOfChild, verdictAtOnce, start }
}

function isSameName(name: string, given: string | undefined): boolean {
  return given !== undefined && name.normalize().toLowerCase() === given.normalize().toLowerCase()
}
