import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { commitSoon } from '../../platform/db/database.ts'
import type { createGit } from '../../platform/git/create-git.ts'
import { isInside } from '../../platform/protected-places/places-by-path.ts'
import type { SandboxState, ShownPrograms } from '../../platform/sandbox/sandbox-types.ts'
import type { Services } from '../../platform/services.ts'
import { CODING_PROGRAM_NAMES, type CodingCli } from '../../contract/coding-programs.ts'
import { CODE_START } from '../../contract/rules.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import type { ApprovalStore } from '../../domain/approvals/approvals.ts'
import { readChain } from '../../domain/approvals/delegation-chain.sql.ts'
import { changeCodeTask, findCodingTurn } from '../../domain/code-tasks/code-tasks.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import { deniedFoldersOf, type RuleSet } from '../../domain/rules/rule-set.ts'
import { nameFolders } from '../../agent/files/folder-paths.ts'
import { CodingSessionFailed, type CodingSession, type CodingSessionOptions } from '../../agent/coding/coding-session.ts'
import { failedWith, type CodeAttempt, type CodeEnd } from './code-attempt.ts'
import { toolOfStart, type CodePlace } from './code-calls.ts'
import type { CodingProgramFinder, ReadyProgram } from './coding-program-finder.ts'
import { CODE_TAINTS, createUnrecordedOutput, NO_USE, type LiveCoding } from './live-coding.ts'
import { judgeCall } from './permission-requests.ts'

export type ProgramStartDeps = Pick<Services, 'db' | 'clock' | 'log'> & {
  jobs: JobStore
  approvals: Pick<ApprovalStore, 'recordDecision'>
  rules: { read(): RuleSet }
  dataDir: string
  git: Pick<ReturnType<typeof createGit>, 'addWorktree'>
  sandbox: () => Promise<SandboxState>
  /** What the sandbox shows. `closed`: what the agent may not see. */
  shownPrograms: (closed: readonly string[]) => Promise<ShownPrograms>
  codingPrograms: Pick<CodingProgramFinder, 'find'>
  openSession: (options: CodingSessionOptions) => Promise<CodingSession>
}

/** A program that is ready for its prompt, or how the attempt ends instead. `happened`: it did its work earlier, a person says. */
export type ProgramStart = { live: LiveCoding; prompt: string } | CodeEnd | 'happened'

/** A program that may be started now. */
type Ready = { found: ReadyProgram; place: CodePlace; sandbox: SandboxState; turn: NonNullable<ReturnType<typeof findCodingTurn>> }

const START_CALL = 'start'

/** What the program is told after a break. */
export const GO_ON =
  'You were interrupted while you worked on this task. Look at what you have changed in this folder so far, and go on where you stopped. Do not start over.'

/** Makes the worktree, asks if the program must run outside of the sandbox, and opens a session. */
export function createProgramStart(deps: ProgramStartDeps) {
  const { db, jobs, log, clock, git, dataDir } = deps

  async function start(working: CodeAttempt): Promise<ProgramStart> {
    const ready = await prepare(working)
    if (ready === null) {
      const program = CODING_PROGRAM_NAMES[working.task.cli]
      return failedWith('coding_program_failed', createMessage('job_code_program_missing', { program }))
    }
    const refused = await askToStart(working, ready)
    if (refused !== null) return refused
    const opened = await open(working, ready)
    if (opened === null) {
      // The next attempt asks a person.
      await commitSoon(db, (tx) => void changeCodeTask(tx, working.task.jobId, { sessionId: null }))
      return { outcome: { kind: 'released' } }
    }
    const live = liveOf(working, ready, opened)
    await recordStart(working, ready, opened.session)
    const { task } = working.attempt.job
    // It may not have heard of the task before the break.
    return { live, prompt: isNew(ready) ? task : `${GO_ON}\n\nThe task:\n\n${task}` }
  }

  /** null: the program is not installed. */
  async function prepare({ attempt, task }: CodeAttempt): Promise<Ready | null> {
    const { jobId, cli, repository, branch, baseCommit, internet } = task
    const found = await deps.codingPrograms.find(cli)
    if (found === null) return null
    const sandbox = await deps.sandbox()
    const sandboxed = sandbox.works && found.runsInSandbox
    const folder = join(dataDir, 'code', jobId)
    // First, so that a folder is never forgotten.
    await commitSoon(db, (tx) => void changeCodeTask(tx, jobId, { folder, sandboxed }))
    await git.addWorktree({ repository, folder, branch, commit: baseCommit })
    const place: CodePlace = { cli, repository, sandboxed, internet, folder }
    const turn = findCodingTurn(db, jobId)!
    if (!jobs.listSteps(db, jobId).some(({ kind }) => kind === 'reply'))
      await commitSoon(db, (tx) => void jobs.recordReply(tx, attempt.claim, startReply(cli, startArgs(place, branch))))
    return { found, place, sandbox, turn }
  }

  /** null: it may start. */
  async function askToStart(working: CodeAttempt, ready: Ready): Promise<CodeEnd | 'happened' | null> {
    const { place, found, turn } = ready
    const tool = toolOfStart(place, found.program)
    const startedBefore = isNew(ready) && turn.prompts > 0
    const args = startArgs(place, working.task.branch)
    const verdict = await judgeCall(working, dataDir, { callId: START_CALL, tool, args, startedBefore })
    if (verdict.verdict === 'run') return null
    if (verdict.verdict === 'wait') return { outcome: { kind: 'waiting', status: verdict.status } }
    if (verdict.verdict === 'answer' && verdict.ok) return 'happened'
    const words = quote(verdict.verdict === 'deny' ? verdict.reason : verdict.output)
    return failedWith('coding_not_allowed', createMessage('job_code_not_allowed', { words }))
  }

  /** null: it does not know the session any more. */
  async function open({ attempt, agent, task }: CodeAttempt, { found, place, sandbox, turn }: Ready) {
    const { cli, folder, sandboxed, repository, internet } = place
    const { env, writable, secrets } = await found.makeHome(task.jobId, sandboxed)
    const [rules, named] = [deps.rules.read(), nameFolders(agent.folders)]
    const closed = closedIn(
      place,
      readChain(db, task.jobId).flatMap(({ agentId }) => deniedFoldersOf(rules, agentId, named).map(({ path }) => path)),
    )
    const programs = await deps.shownPrograms([dataDir, ...closed])
    attempt.signal.throwIfAborted()
    try {
      const session = await deps.openSession({
        cli,
        program: found.program,
        folder,
        internet,
        env,
        signal: attempt.signal,
        clock,
        sandbox: sandboxed ? sandbox : { ...sandbox, kind: 'none', works: false, setup: null },
        programs,
        writable: [folder, ...writable],
        // Its objects hold the closed files too.
        readable: [...(closed.length > 0 ? [] : [join(repository, '.git')]), ...(await foldersOfProgram(found.program, programs.shown))],
        closed,
        onLog: (text) => log.debug({ jobId: task.jobId, cli, text }, 'a coding program wrote to its log'),
        onSetAside: (setAside) => log.warn({ jobId: task.jobId, cli, setAside }, 'a coding program left files that run by themselves'),
        ...(turn.sessionId === null ? {} : { loadSessionId: turn.sessionId }),
      })
      return { session, secrets }
    } catch (thrown) {
      if (thrown instanceof CodingSessionFailed && thrown.code === 'refused' && turn.sessionId !== null) return null
      throw thrown
    }
  }

  /** Ends the program if it cannot be recorded. */
  async function recordStart({ attempt, policy, task }: CodeAttempt, ready: Ready, session: CodingSession): Promise<void> {
    const { place, turn } = ready
    try {
      await commitSoon(db, (tx) => {
        const call = { callId: START_CALL, name: CODE_START, leftMachine: true }
        if (isNew(ready)) jobs.recordToolStarted(tx, attempt.claim, call)
        const decision = policy.decisionOf(START_CALL)
        if (decision !== undefined) deps.approvals.recordDecision(tx, attempt.claim, decision)
        const output = `${CODING_PROGRAM_NAMES[place.cli]} works in ${place.folder}.`
        if (isNew(ready)) jobs.recordToolResult(tx, attempt.claim, { ...call, ok: true, output, durationMs: 0, addsTaint: CODE_TAINTS })
        const sessionId = session.canLoad ? session.sessionId : null
        changeCodeTask(tx, task.jobId, { sessionId, prompts: turn.prompts + 1 })
      })
    } catch (thrown) {
      await session.stop()
      throw thrown
    }
  }

  return start
}

/** It continues no conversation. */
function isNew({ turn }: Ready): boolean {
  return turn.sessionId === null
}

function liveOf({ attempt: { job } }: CodeAttempt, ready: Ready, opened: { session: CodingSession; secrets: string[] }): LiveCoding {
  const { place, turn } = ready
  const { inputTokens: input, outputTokens: output, cachedTokens: cached, costUsd } = job
  const before = isNew(ready) ? NO_USE : { input, output, cached, costMicros: Math.round(costUsd * 1_000_000) }
  const unrecorded = createUnrecordedOutput({ place, numbered: turn.prompts + 1, before, secrets: opened.secrets })
  return { session: opened.session, place, turn: null, unrecorded }
}

function startArgs({ cli, repository, sandboxed }: CodePlace, branch: string): Record<string, unknown> {
  return { program: CODING_PROGRAM_NAMES[cli], folder: repository, branch, sandbox: sandboxed }
}

/** The step from which the start of the program follows. */
function startReply(cli: CodingCli, args: Record<string, unknown>) {
  return {
    text: '',
    reasoning: '',
    toolCalls: [{ callId: START_CALL, name: CODE_START, args }],
    model: { providerId: cli, model: cli },
    usage: { input: 0, output: 0, cached: 0 },
    estimated: false,
    costMicros: 0,
    priced: true,
    interrupted: false,
    durationMs: 0,
  }
}

/** Closed folders of the repository, as they are in the worktree. */
function closedIn({ repository, folder }: CodePlace, closed: readonly string[]): string[] {
  return closed.filter((one) => isInside(repository, one)).map((one) => folder + one.slice(repository.length))
}

/** Where it lies, if it is in none of the usual places that the sandbox shows. */
async function foldersOfProgram(program: string, shown: readonly string[]): Promise<string[]> {
  const places = await Promise.all([realpath(dirname(program)), realpath(program).then(dirname)])
  return [...new Set(places)].filter((place) => !shown.some((one) => isInside(one, place)))
}
