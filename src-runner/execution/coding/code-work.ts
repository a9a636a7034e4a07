import { commitSoon, type Database } from '../../platform/db/database.ts'
import { GitFailed } from '../../platform/git/git-failed.ts'
import type { CodeTask } from '../../contract/code-tasks.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { StaleClaimError } from '../../lib/errors.ts'
import { findAgent } from '../../domain/agents/agents.ts'
import type { ApprovalStore } from '../../domain/approvals/approvals.ts'
import type { Reservations } from '../../domain/budgets/reservations.ts'
import { changeCodeTask, findCodingTurn, getCodeTask } from '../../domain/code-tasks/code-tasks.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import type { Attempt } from '../../domain/jobs/attempts.ts'
import { CodingSessionFailed, type CodingTurn } from '../../agent/coding/coding-session.ts'
import { timeLimitMessage } from '../../agent/loop/attempt.ts'
import { giveSignsOfLife } from '../../agent/loop/signs-of-life.ts'
import { createDelegation } from '../delegation.ts'
import { createJobBudget } from '../job-budget.ts'
import { createParkedCalls } from '../parked-calls.ts'
import { createToolPolicy, type ToolPolicyDeps } from '../tool-policy.ts'
import { failedWith, type CodeAttempt, type CodeEnd } from './code-attempt.ts'
import type { LiveCoding } from './live-coding.ts'
import type { LivePrograms } from './live-programs.ts'
import { createProgramStart, GO_ON, type ProgramStartDeps } from './program-start.ts'
import { createProgramTalk, type ProgramTalkDeps } from './program-talk.ts'
import type { WorkKeeper } from './work-keeper.ts'

export type CodeWorkDeps = ProgramStartDeps &
  ProgramTalkDeps &
  Omit<ToolPolicyDeps, 'parked' | 'delegation' | 'guardrails'> & {
    db: Database
    jobs: JobStore
    approvals: ApprovalStore
    reservations: Reservations
    ownPorts: () => readonly number[]
    programs: LivePrograms
    keeper: Pick<WorkKeeper, 'commit'>
  }

/**
 * Runs attempts at the tasks of coding programs. The program works in a worktree; what it asks is decided like the calls of a model,
 * and while a person is asked, it stays alive between attempts.
 */
export function createCodeWork(deps: CodeWorkDeps) {
  const { db, jobs, log, clock, programs, keeper, dataDir } = deps
  const startProgram = createProgramStart(deps)
  const talk = createProgramTalk(deps)

  async function perform(attempt: Attempt): Promise<void> {
    const { claim, job } = attempt
    try {
      const { outcome, change } = await giveSignsOfLife({ clock, alive: attempt.alive }, () => work(attempt))
      const error = outcome.kind === 'failed' ? outcome.error : undefined
      log.info({ jobId: job.id, attempt: claim.attempt, outcome: outcome.kind, error }, 'an attempt of a coding program ended')
      if (outcome.kind === 'aborted') return
      await commitSoon(db, (tx) => {
        if (change !== undefined) changeCodeTask(tx, job.id, change)
        return void jobs.settle(tx, claim, outcome)
      })
    } catch (thrown) {
      if (!(thrown instanceof StaleClaimError)) throw thrown
      // The job has ended without this attempt, perhaps before its program was parked.
      programs.endParked(job.id)
    } finally {
      deps.reservations.release(job.id)
    }
  }

  async function work(attempt: Attempt): Promise<CodeEnd> {
    const { job, claim, signal } = attempt
    const task = getCodeTask(db, job.id)
    const agent = findAgent(db, job.agentId)
    if (agent === null) return failedWith('agent_deleted', createMessage('job_agent_gone'))
    try {
      if (findCodingTurn(db, job.id)!.turnEndedAt !== null) return await finish(task, lastReplyOf(job.id))
      const waits = await askBudget(attempt)
      if (waits !== null) return waits
      const guardrails = () => ({ closedFolders: [dataDir], ownPorts: deps.ownPorts() })
      // A program waits with its whole session, and calls no MCP servers of ours.
      const policyDeps = { ...deps, parked: createParkedCalls(), delegation: createDelegation(deps), guardrails }
      const working: CodeAttempt = { attempt, agent, task, policy: createToolPolicy(policyDeps, job, agent, claim) }
      const known = programs.take(job.id)
      const started = known === null ? await startProgram(working) : { live: known, prompt: GO_ON }
      if (started === 'happened') return await finish(task, lastReplyOf(job.id))
      return 'live' in started ? await converse(working, started) : started
    } catch (thrown) {
      if (signal.aborted) return { outcome: { kind: 'aborted' } }
      if (thrown instanceof CodingSessionFailed) {
        log.warn({ jobId: job.id, code: thrown.code }, 'a coding program failed')
        return failedWith('coding_program_failed', thrown.shown)
      }
      if (thrown instanceof GitFailed)
        return failedWith('coding_git_failed', createMessage('job_code_git', { words: quote(thrown.message) }))
      throw thrown
    }
  }

  async function converse(working: CodeAttempt, { live, prompt }: { live: LiveCoding; prompt: string }): Promise<CodeEnd> {
    const { attempt, agent } = working
    const end = await talk(working, live, prompt)
    switch (end) {
      case 'stopped':
        return { outcome: { kind: 'aborted' } }
      case 'time_limit':
        return failedWith('time_limit', timeLimitMessage(agent.limits.maxWorkingMs))
      case 'asks':
        programs.park(attempt.job.id, live)
        return { outcome: { kind: 'waiting', status: 'awaiting_approval' } }
      case 'spends':
        return waitForMoney(attempt, live)
      default:
        return endTurn(working, live, end)
    }
  }

  /** A limit is reached, and a person is asked for more. The turn ends, and the program stays. */
  async function waitForMoney(attempt: Attempt, live: LiveCoding): Promise<CodeEnd> {
    const { id } = attempt.job
    await live.session.cancel()
    await live.turn?.catch(() => {})
    live.turn = null
    if (live.unrecorded.hasNews()) await commitSoon(db, (tx) => void jobs.recordReply(tx, attempt.claim, live.unrecorded.takeReply(false)))
    const end = await askBudget(attempt)
    if (end?.outcome.kind === 'failed') programs.end(id, live.session)
    else programs.park(id, live)
    // Somebody has raised it meanwhile.
    return end ?? { outcome: { kind: 'released' } }
  }

  /** null: it may go on. */
  async function askBudget({ claim, signal, job }: Attempt): Promise<CodeEnd | null> {
    const reserved = await createJobBudget(deps, claim).reserve(null, 0, signal)
    deps.reservations.release(job.id)
    if (reserved.reserved) return null
    return 'wait' in reserved ? { outcome: { kind: 'waiting', status: reserved.wait } } : failedWith('cost_limit', reserved.refused)
  }

  /** The program says that it is done. */
  async function endTurn(
    { attempt, task }: CodeAttempt,
    { session, unrecorded }: LiveCoding,
    { stopReason }: CodingTurn,
  ): Promise<CodeEnd> {
    await commitSoon(db, (tx) => {
      jobs.recordReply(tx, attempt.claim, unrecorded.takeReply(true))
      changeCodeTask(tx, task.jobId, { turnEndedAt: clock.now(), commands: [...task.commands, ...unrecorded.commands()].slice(-100) })
    })
    await session.stop()
    if (stopReason === 'refusal') return failedWith('model_refused', createMessage('job_code_refused', { program: unrecorded.programName }))
    return finish(getCodeTask(db, task.jobId), unrecorded.lastMessage())
  }

  function lastReplyOf(jobId: string): string {
    const replies = jobs.listSteps(db, jobId).flatMap((step) => (step.kind === 'reply' && step.text.trim() !== '' ? [step.text] : []))
    return replies.at(-1)?.trim() ?? ''
  }

  /** Commits what the program left, and ends the job with what it said. The same again after a crash. */
  async function finish(task: CodeTask, said: string): Promise<CodeEnd> {
    const { isWhole: _, ...change } = await keeper.commit(task)
    return { outcome: { kind: 'completed', text: said }, change }
  }

  return {
    perform: (attempt: Attempt) => programs.during(attempt.job.id, perform(attempt)),
  }
}
