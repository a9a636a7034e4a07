import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Message } from '../../contract/messages.ts'
import type { Database } from '../../platform/db/database.ts'
import { commitSoon, type Tx } from '../../platform/db/transact.ts'
import type { LiveJobStreams } from '../../platform/events/live-job-streams.ts'
import type { createGit } from '../../platform/git/create-git.ts'
import { GitFailed } from '../../platform/git/git-failed.ts'
import type { SandboxState, ShownPrograms } from '../../platform/sandbox/sandbox-types.ts'
import type { Agent } from '../../contract/agents.ts'
import { CODING_PROGRAM_NAMES, type CodingCli } from '../../contract/coding-programs.ts'
import type { CodeTask } from '../../contract/code-tasks.ts'
import type { JobErrorCode } from '../../contract/errors.ts'
import { CODE_START } from '../../contract/rules.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf, StaleClaimError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { plural } from '../../lib/text.ts'
import { findAgent } from '../../domain/agents/agents.ts'
import type { ApprovalStore } from '../../domain/approvals/approvals.ts'
import type { Reservations } from '../../domain/budgets/reservations.ts'
import { changeCodeTask, findCodeTask, findCodingTurn, getCodeTask, type CodeTaskChange } from '../../domain/code-tasks/code-tasks.ts'
import { hashOfCall } from '../../domain/rules/call-hash.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import type { AttemptOutcome } from '../../domain/jobs/settle-job.ts'
import type { Attempt } from '../../domain/jobs/worker.ts'
import { closedFoldersOf, type RuleSet } from '../../domain/rules/rule-set.ts'
import {
  CodingSessionFailed,
  type CodingCall,
  type CodingHandlers,
  type CodingSession,
  type CodingSessionOptions,
} from '../../agent/coding/coding-session.ts'
import { timeLimitMessage } from '../../agent/loop/attempt.ts'
import type { PolicyVerdict } from '../../agent/loop/loop-types.ts'
import { factsOf, type Tool, type ToolContext } from '../../agent/tools/tool.ts'
import { isInside } from '../../platform/protected-places/protected-places.ts'
import { recordedCall, toolOfCall, toolOfStart, type CodePlace } from './code-calls.ts'
import type { CodingProgramFinder } from './coding-program-finder.ts'
import { createDelegation } from '../delegation.ts'
import { createJobBudget } from '../job-budget.ts'
import { CODE_TAINTS, createToldSoFar, NO_USE, type LiveCoding } from './live-coding.ts'
import { createParkedSessions } from './parked-sessions.ts'
import { createParkedCalls } from '../parked-calls.ts'
import { createToolPolicy, type ToolPolicy } from '../tool-policy.ts'

export type CodeWorkDeps = {
  db: Database
  jobs: JobStore
  liveStreams: LiveJobStreams
  approvals: ApprovalStore
  reservations: Reservations
  rules: { read(): RuleSet }
  clock: Clock
  log: Log
  dataDir: string
  ownPorts: () => readonly number[]
  git: ReturnType<typeof createGit>
  sandbox: () => Promise<SandboxState>
  /** What the sandbox shows. `closed`: what the agent may not see. */
  programs: (closed: readonly string[]) => Promise<ShownPrograms>
  codingPrograms: CodingProgramFinder
  openSession: (options: CodingSessionOptions) => Promise<CodingSession>
}

type Outcome = AttemptOutcome | { kind: 'aborted' }
type Working = { attempt: Attempt; agent: Agent; policy: ToolPolicy; task: CodeTask; place: CodePlace }

const START_CALL = 'start'
const LIVE_EVERY_MS = 60_000
/** What the program is told after a break. */
const GO_ON =
  'You were interrupted while you worked on this task. Look at what you have changed in this folder so far, and go on where you stopped. Do not start over.'

/**
 * Runs attempts at the tasks of coding programs. The program works in a worktree; what it asks is decided like the calls of a model,
 * and while a person is asked, it stays alive between attempts.
 */
export function createCodeWork(deps: CodeWorkDeps) {
  const { db, jobs, log, clock, git, dataDir } = deps
  const parked = createParkedSessions(deps)
  /** Ends of jobs whose folders are being committed. */
  const wrappingUp = new Set<Promise<void>>()
  const ending = new Map<string, Promise<void>>()

  const write = <T>(work: (tx: Tx) => T) => commitSoon(db, (tx) => void work(tx))
  const folderOf = (jobId: string) => join(dataDir, 'code', jobId)

  async function perform(attempt: Attempt): Promise<void> {
    const { claim, job } = attempt
    const stopSigns = clock.every(LIVE_EVERY_MS, attempt.alive)
    try {
      const { outcome, change } = await work(attempt)
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
      await parked.end(job.id)
    } finally {
      stopSigns()
      deps.reservations.settle(job.id)
    }
  }

  async function work(attempt: Attempt): Promise<{ outcome: Outcome; change?: CodeTaskChange }> {
    const { job, claim } = attempt
    const task = getCodeTask(db, job.id)
    const agent = findAgent(db, job.agentId)
    if (agent === null) return { outcome: failed('agent_deleted', createMessage('job_agent_gone')) }
    try {
      if (findCodingTurn(db, job.id)!.turnEndedAt !== null) return await finish(task, lastReplyOf(job.id))
      const budget = await askBudget(attempt)
      if (budget !== null) return { outcome: budget }
      const guardrails = () => ({ closedFolders: [dataDir], ownPorts: deps.ownPorts() })
      // A program waits with its whole session, and calls no MCP servers of ours.
      const none = createParkedCalls()
      const policy = createToolPolicy({ ...deps, parked: none, delegation: createDelegation(deps), guardrails }, job, agent, claim)
      const known = parked.take(job.id)
      if (known !== null) return await converse({ attempt, agent, policy, task, place: known.place }, known)
      return await start({ attempt, agent, policy, task })
    } catch (thrown) {
      if (attempt.signal.aborted) return { outcome: { kind: 'aborted' } }
      if (thrown instanceof CodingSessionFailed) {
        log.warn({ jobId: job.id, code: thrown.code }, 'a coding program failed')
        return endBadly(job.id, failed('coding_program_failed', thrown.shown))
      }
      if (thrown instanceof GitFailed)
        return { outcome: failed('coding_git_failed', createMessage('job_code_git', { words: quote(thrown.message) })) }
      throw thrown
    }
  }

  /** Makes the worktree, asks if the program must run outside of the sandbox, and opens a session. */
  async function start({ attempt, agent, policy, task }: Omit<Working, 'place'>): Promise<{ outcome: Outcome; change?: CodeTaskChange }> {
    const { job, claim, signal } = attempt
    const { cli, repository, branch, baseCommit, internet } = task
    const found = await deps.codingPrograms.find(cli)
    if (found === null) {
      const program = CODING_PROGRAM_NAMES[cli]
      return { outcome: failed('coding_program_failed', createMessage('job_code_program_missing', { program })) }
    }
    const sandbox = await deps.sandbox()
    const sandboxed = sandbox.works && found.runsInSandbox
    const folder = folderOf(job.id)
    await git.addWorktree({ repository, folder, branch, commit: baseCommit })
    await write((tx) => changeCodeTask(tx, job.id, { folder, sandboxed }))
    const place: CodePlace = { cli, repository, sandboxed, internet, folder }
    const working: Working = { attempt, agent, policy, task, place }
    const turn = findCodingTurn(db, job.id)!
    const isNew = turn.sessionId === null
    const tool = toolOfStart(place, found.program)
    const args = { program: CODING_PROGRAM_NAMES[cli], folder: repository, branch, sandbox: sandboxed }
    if (!jobs.listSteps(db, job.id).some(({ kind }) => kind === 'reply'))
      await write((tx) => jobs.recordReply(tx, claim, startReply(cli, args)))
    const verdict = await judge(working, { callId: START_CALL, tool, args, startedBefore: isNew && turn.prompts > 0 })
    if (verdict.verdict === 'wait') return { outcome: { kind: 'waiting', status: verdict.status } }
    // It did finish, as the person says.
    if (verdict.verdict === 'answer' && verdict.ok) return finish(task, lastReplyOf(job.id))
    if (verdict.verdict !== 'run') {
      const words = quote(verdict.verdict === 'deny' ? verdict.reason : verdict.output)
      return endBadly(job.id, failed('coding_not_allowed', createMessage('job_code_not_allowed', { words })))
    }
    const { env, writable, secrets } = await found.makeHome(job.id, sandboxed)
    const closed = closedFor(agent, task, folder)
    const programs = await deps.programs([dataDir, ...closed])
    signal.throwIfAborted()
    const options: CodingSessionOptions = {
      ...{ cli, program: found.program, folder, internet, env, signal, clock },
      sandbox: sandboxed ? sandbox : { ...sandbox, kind: 'none', works: false, setup: null },
      programs,
      writable: [folder, ...writable],
      // Its objects hold the closed files too.
      readable: [...(closed.length > 0 ? [] : [join(repository, '.git')]), ...(await foldersOfProgram(found.program, programs.shown))],
      closed,
      onLog: (text) => log.debug({ jobId: job.id, cli, text }, 'a coding program wrote to its log'),
      ...(turn.sessionId === null ? {} : { loadSessionId: turn.sessionId }),
    }
    const session = await deps.openSession(options).catch(async (thrown: unknown) => {
      // It does not know the session any more, so a person decides at the next attempt.
      if (thrown instanceof CodingSessionFailed && thrown.code === 'refused' && turn.sessionId !== null) return null
      throw thrown
    })
    if (session === null) {
      await write((tx) => changeCodeTask(tx, job.id, { sessionId: null }))
      return { outcome: { kind: 'released' } }
    }
    const { inputTokens: input, outputTokens: output, cachedTokens: cached, costUsd } = job
    const before = isNew ? NO_USE : { input, output, cached, costMicros: Math.round(costUsd * 1_000_000) }
    const live: LiveCoding = { session, place, turn: null, told: createToldSoFar({ place, numbered: turn.prompts + 1, before, secrets }) }
    try {
      await write((tx) => {
        if (isNew) jobs.recordToolStarted(tx, claim, { callId: START_CALL, name: CODE_START, leftMachine: true })
        const decision = policy.decisionOf(START_CALL)
        if (decision !== undefined) deps.approvals.recordDecision(tx, claim, decision)
        const outputText = `${args.program} works in ${folder}.`
        const result = { callId: START_CALL, name: CODE_START, ok: true, output: outputText, durationMs: 0 }
        if (isNew) jobs.recordToolResult(tx, claim, { ...result, addsTaint: CODE_TAINTS, leftMachine: true })
        changeCodeTask(tx, job.id, { sessionId: session.canLoad ? session.sessionId : null, prompts: turn.prompts + 1 })
      })
    } catch (thrown) {
      await session.stop()
      throw thrown
    }
    // It may not have heard of the task before the break.
    return converse(working, live, isNew ? job.task : `${GO_ON}\n\nThe task:\n\n${job.task}`)
  }

  /** Talks to the program until its turn is over, it has to wait, or the attempt must end. */
  async function converse(
    working: Working,
    live: LiveCoding,
    prompt: string = GO_ON,
  ): Promise<{ outcome: Outcome; change?: CodeTaskChange }> {
    const { attempt, agent, task } = working
    const { job, claim, signal } = attempt
    const { session, told } = live
    const talk = listen(working, live)
    const timeUp = new AbortController()
    const leftMs = agent.limits.maxWorkingMs - job.workingMs
    const stopTimer = clock.after(Math.max(0, leftMs), () => timeUp.abort())
    const stopped = Promise.withResolvers<'stopped'>()
    const stop = () => stopped.resolve('stopped')
    for (const one of [signal, timeUp.signal]) {
      one.addEventListener('abort', stop, { once: true })
      if (one.aborted) stop()
    }
    try {
      const turn = live.turn === null ? null : session.resume(talk.handlers)
      live.turn = turn ?? session.prompt(prompt, talk.handlers)
      live.turn.catch(() => {})
      const end = await Promise.race([live.turn, talk.paused, stopped.promise, talk.broken])
      await talk.settled()
      if (end === 'stopped') {
        // Its processes end beside this: Stop takes effect at once.
        endSession(job.id, session)
        if (signal.aborted) {
          if (told.hasNews()) await write((tx) => jobs.recordReply(tx, claim, told.takeReply(true, { interrupted: true })))
          return { outcome: { kind: 'aborted' } }
        }
        return await endBadly(job.id, failed('time_limit', timeLimitMessage(agent.limits.maxWorkingMs)), live, working)
      }
      if (end === 'asks') {
        parked.park(job.id, live)
        return { outcome: { kind: 'waiting', status: 'awaiting_approval' } }
      }
      if (end === 'spends') return await waitForMoney(working, live)
      await write((tx) => {
        jobs.recordReply(tx, claim, told.takeReply(true))
        changeCodeTask(tx, job.id, { turnEndedAt: clock.now(), commands: [...task.commands, ...told.commands()].slice(-100) })
      })
      await session.stop()
      if (end.stopReason === 'refusal')
        return await endBadly(job.id, failed('model_refused', createMessage('job_code_refused', { program: told.programName })))
      return await finish(getCodeTask(db, job.id), told.lastMessage())
    } catch (thrown) {
      endSession(job.id, session)
      if (thrown instanceof CodingSessionFailed && told.hasNews())
        await write((tx) => jobs.recordReply(tx, claim, told.takeReply(true, { interrupted: true })))
      throw thrown
    } finally {
      stopTimer()
      for (const one of [signal, timeUp.signal]) one.removeEventListener('abort', stop)
    }
  }

  /** A limit is reached, and a person is asked for more. The turn ends, and the program stays. */
  async function waitForMoney({ attempt }: Working, live: LiveCoding): Promise<{ outcome: Outcome; change?: CodeTaskChange }> {
    await live.session.cancel()
    await live.turn?.catch(() => {})
    live.turn = null
    if (live.told.hasNews()) await write((tx) => jobs.recordReply(tx, attempt.claim, live.told.takeReply(false)))
    const outcome = await askBudget(attempt)
    if (outcome?.kind === 'waiting') parked.park(attempt.job.id, live)
    else if (outcome !== null) endSession(attempt.job.id, live.session)
    // Somebody has raised it meanwhile.
    else {
      parked.park(attempt.job.id, live)
      return { outcome: { kind: 'released' } }
    }
    return { outcome }
  }

  /** null: it may go on. */
  async function askBudget({ claim, signal, job }: Attempt): Promise<Outcome | null> {
    const reserved = await createJobBudget(deps, claim).reserve(null, 0, signal)
    deps.reservations.settle(job.id)
    if (reserved.reserved) return null
    return 'wait' in reserved ? { kind: 'waiting', status: reserved.wait } : failed('cost_limit', reserved.refused)
  }

  /** The handlers of one attempt. What the program tells is recorded in its order, one commit after the other. */
  function listen(working: Working, { told }: LiveCoding) {
    const { attempt } = working
    const { claim, alive } = attempt
    const paused = Promise.withResolvers<'asks' | 'spends'>()
    const broken = Promise.withResolvers<never>()
    broken.promise.catch(() => {})
    let queue: Promise<unknown> = Promise.resolve()
    let isPaused = false
    const inOrder = <T>(step: () => Promise<T>): Promise<T> => {
      const next = queue.then(step)
      queue = next.catch((thrown: unknown) => broken.reject(thrown as Error))
      return next
    }
    const pause = (why: 'asks' | 'spends') => {
      isPaused = true
      paused.resolve(why)
    }
    const flush = async () => {
      if (told.hasNews()) await write((tx) => jobs.recordReply(tx, claim, told.takeReply(false)))
    }
    const checkMoney = async () => {
      if (told.freshMicros() === 0 || isPaused) return
      await write((tx) => jobs.recordReply(tx, claim, told.takeReply(false)))
      const { over } = await deps.reservations.reserve(claim.jobId, { estimateMicros: null, unrecordedMicros: 0 }, attempt.signal)
      deps.reservations.settle(claim.jobId)
      if (over !== null) pause('spends')
    }
    const handlers: CodingHandlers = {
      text(delta) {
        alive()
        void inOrder(async () => {
          told.text(delta)
          deps.liveStreams.delta(claim, delta)
        })
      },
      thinking(delta) {
        alive()
        void inOrder(async () => told.thinking(delta))
      },
      usage(usage) {
        void inOrder(async () => {
          told.usage(usage)
          await checkMoney()
        })
      },
      toolCall(call) {
        alive()
        void inOrder(async () => {
          if (!told.isOpen(call)) return
          told.call(call)
          if (call.status !== 'completed' && call.status !== 'failed') return
          await flush()
          await write((tx) => jobs.recordToolResult(tx, claim, told.takeResult(call)))
        })
      },
      permission: (call) =>
        inOrder(async () => {
          alive()
          told.call(call)
          const answer = await decide(working, told, call, flush)
          if (answer === 'later') pause('asks')
          return answer
        }),
    }
    return { handlers, paused: paused.promise, broken: broken.promise, settled: () => queue }
  }

  /** Decides a request. What the program did not live to hear is answered as a person decided it. */
  async function decide(
    working: Working,
    told: LiveCoding['told'],
    call: CodingCall,
    flush: () => Promise<void>,
  ): Promise<'allow' | 'deny' | 'later'> {
    const { attempt, place, policy } = working
    const { claim, job } = attempt
    const tool = toolOfCall(call, place)
    const { args } = recordedCall('', call, place)
    const facts = await factsOf(tool, args as Record<string, unknown>, contextOf(working, '')).catch(() => null)
    const earlier = facts === null ? null : findUnheard(job.id, told.idOf(call.callId), hashOfCall(tool.name, args, facts))
    if (earlier !== null) told.rename(call.callId, earlier)
    await flush()
    const callId = told.idOf(call.callId)
    const verdict = await judge(working, { callId, tool, args: args as Record<string, unknown>, startedBefore: false })
    if (verdict.verdict === 'wait') return 'later'
    const decision = policy.decisionOf(callId)
    await write((tx) => {
      if (verdict.verdict === 'run') {
        if (decision?.facts.effect === 'once')
          jobs.recordToolStarted(tx, claim, { callId, name: tool.name, leftMachine: facts?.leavesMachine ?? true })
      } else {
        const reason = verdict.verdict === 'deny' ? verdict.reason : verdict.output.replace(/^Not run: /, '')
        jobs.recordToolResult(tx, claim, told.refused(call, reason))
      }
      if (decision !== undefined) deps.approvals.recordDecision(tx, claim, decision)
    })
    return verdict.verdict === 'run' ? 'allow' : 'deny'
  }

  /** The call of an earlier process that asked the same, was answered or is open, and neither ran nor was refused. */
  function findUnheard(jobId: string, callId: string, hash: string): string | null {
    const { approvals: asked } = deps.approvals.list(db, { jobId, limit: 200 })
    const heard = new Set(jobs.listSteps(db, jobId).flatMap((step) => (step.kind === 'reply' ? [] : [step.callId])))
    if (asked.some((approval) => approval.callId === callId)) return null
    return asked.find((approval) => approval.kind === 'tool' && approval.hash === hash && !heard.has(approval.callId!))?.callId ?? null
  }

  function judge(
    working: Working,
    call: { callId: string; tool: Tool; args: Record<string, unknown>; startedBefore: boolean },
  ): Promise<PolicyVerdict> {
    const { callId, tool, args, startedBefore } = call
    const question = { call: { callId, name: tool.name, args }, tool, args, startedBefore, ahead: false }
    return working.policy.judge({ ...question, context: contextOf(working, callId) })
  }

  function contextOf({ attempt, agent }: Working, callId: string): ToolContext {
    const { job, signal } = attempt
    return { jobId: job.id, agentId: agent.id, callId, folders: agent.folders, closedFolders: [dataDir], signal }
  }

  /** Folders that rules close to the agent, as they are in the worktree. */
  function closedFor(agent: Agent, { repository }: CodeTask, folder: string): string[] {
    const closed = closedFoldersOf(deps.rules.read(), agent.id)
    return closed.filter((one) => isInside(repository, one)).map((one) => folder + one.slice(repository.length))
  }

  function lastReplyOf(jobId: string): string {
    const replies = jobs.listSteps(db, jobId).flatMap((step) => (step.kind === 'reply' && step.text.trim() !== '' ? [step.text] : []))
    return replies.at(-1)?.trim() ?? ''
  }

  /** Commits what the program left, and ends the job. The same again after a crash. */
  async function finish(task: CodeTask, said: string): Promise<{ outcome: Outcome; change: CodeTaskChange }> {
    const change = await commitWork(task)
    const { fileCount = 0, additions = 0, deletions = 0 } = change
    const left =
      fileCount === 0
        ? 'No files were changed.'
        : `Branch ${task.branch}: ${plural(fileCount, 'file')} changed (+${additions} −${deletions}).`
    return { outcome: { kind: 'completed', text: [said, left].filter((part) => part !== '').join('\n\n') }, change }
  }

  /** Keeps what the program has done so far. */
  async function endBadly(
    jobId: string,
    outcome: Outcome,
    live?: LiveCoding,
    working?: Working,
  ): Promise<{ outcome: Outcome; change?: CodeTaskChange }> {
    if (live !== undefined && working !== undefined) {
      if (live.told.hasNews())
        await write((tx) => jobs.recordReply(tx, working.attempt.claim, live.told.takeReply(true, { interrupted: true })))
      await live.session.stop()
    }
    await ending.get(jobId)
    return { outcome, change: await commitWork(getCodeTask(db, jobId)).catch(() => ({})) }
  }

  async function commitWork(task: CodeTask): Promise<CodeTaskChange> {
    const { jobId, repository, branch, baseCommit: base, title, folder } = task
    if (folder === null) return {}
    const { commit, leftOut } = await git.commitAll({ repository, folder, branch, base, message: title, now: clock.now() })
    const changes = await git.changes({ repository, base, commit })
    const { bytes } = await git.sizeOf(folder)
    log.debug({ jobId, files: changes.fileCount }, 'the work of a coding program was committed')
    return { ...changes, leftOut, sizeBytes: bytes, result: changes.fileCount > 0 ? 'ready' : 'none' }
  }

  function endSession(jobId: string, session: CodingSession): void {
    const end = session.stop().finally(() => {
      if (ending.get(jobId) === end) ending.delete(jobId)
    })
    ending.set(jobId, end)
  }

  /** After a job ended without its attempt, or was stopped: ends its program, and keeps what it has done. */
  function wrapUp(jobId: string): void {
    const task = findCodeTask(db, jobId)
    if (task === null) return
    const work = (async () => {
      await Promise.all([parked.end(jobId), ending.get(jobId)])
      await deps.codingPrograms.forget(jobId)
      if (task.folder === null || task.result !== 'none' || task.jobStatus === 'completed') return
      const change = await commitWork(task)
      await write((tx) => changeCodeTask(tx, jobId, change))
    })().catch((error: unknown) => log.warn({ error, jobId }, `the work of a coding program was not committed: ${messageOf(error)}`))
    wrappingUp.add(work)
    void work.finally(() => wrappingUp.delete(work))
  }

  const stopListening = db.onEvents((event) => {
    if (event.type === 'job.finished') wrapUp(event.payload.jobId)
  })

  return {
    /** Whether the job is one of a coding program. */
    isOf: (jobId: string) => findCodeTask(db, jobId) !== null,
    perform,
    /** Ends every program. */
    async stop(): Promise<void> {
      stopListening()
      await Promise.all([parked.endAll(), ...ending.values(), ...wrappingUp])
    },
  }
}

/** Where it lies, if it is in none of the usual places that the sandbox shows. */
async function foldersOfProgram(program: string, shown: readonly string[]): Promise<string[]> {
  const places = await Promise.all([realpath(dirname(program)), realpath(program).then(dirname)])
  return [...new Set(places)].filter((place) => !shown.some((one) => isInside(one, place)))
}

function failed(error: JobErrorCode, message: Message): Extract<AttemptOutcome, { kind: 'failed' }> {
  return { kind: 'failed', error, message }
}

/** The step from which the start of the program follows. */
function startReply(cli: CodingCli, args: Record<string, unknown>) {
  return {
    ...{ text: '', reasoning: '', toolCalls: [{ callId: START_CALL, name: CODE_START, args }] },
    ...{ model: { providerId: cli, model: cli }, usage: { input: 0, output: 0, cached: 0 } },
    ...{ estimated: false, costMicros: 0, priced: true, interrupted: false, durationMs: 0 },
  }
}
