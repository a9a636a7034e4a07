import type { Message } from '../contract/messages.ts'
import { commitSoon, type Tx } from '../platform/db/database.ts'
import type { LiveJobStreams } from '../platform/events/live-job-streams.ts'
import type { Services } from '../platform/services.ts'
import type { Agent, ModelRef } from '../contract/agents.ts'
import { createMessage } from '../lib/messages.ts'
import { randomBoundary } from '../lib/untrusted-text.ts'
import { nameFolders, type NamedFolder } from '../agent/files/folder-paths.ts'
import { findAgent } from '../domain/agents/agents.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import { readChain } from '../domain/approvals/delegation-chain.sql.ts'
import type { Reservations } from '../domain/budgets/reservations.ts'
import type { Blobs } from '../domain/files/blobs.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import type { Attempt } from '../domain/jobs/attempts.ts'
import { closedFoldersOf, deniedFoldersOf, scanFilterFor, type RuleSet } from '../domain/rules/rule-set.ts'
import { readSettings } from '../domain/settings/settings.ts'
import { runLoop } from '../agent/loop/loop.ts'
import { createContextWindows, type ContextWindows } from '../agent/loop/context-windows.ts'
import type { LoopDeps, LoopOutcome, LoopInput, RecordedReply } from '../agent/loop/loop-types.ts'
import type { Trash } from '../agent/files/trash.ts'
import type { ModelSource } from '../agent/providers/model.ts'
import { RETURN_RESULT } from '../agent/tools/return-result/return-result.ts'
import type { Tool } from '../agent/tools/tool.ts'
import { createAgentMemory, takePromptMemories } from './agent-memory.ts'
import type { CodeTasks } from './coding/code-tasks.ts'
import { createDelegation } from './delegation.ts'
import { readEarlierTurns } from './earlier-turns.ts'
import type { SamplingModels } from './mcp/sampling.ts'
import { createFileJournal, resolveStartedChanges } from './file-journal.ts'
import { createToolPolicy, type ToolPolicy, type ToolPolicyDeps } from './tool-policy.ts'
import { createJobBudget } from './job-budget.ts'
import { createJobResults } from './kept-results.ts'
import { buildPrompt, guestOf } from './prompt.ts'
import { transcriptOf } from './transcript.ts'
import { createScheduleCursor, takeCursor } from './schedule-cursor.ts'
import { skillDraftTask, skillJobOf } from './skill-drafts.ts'
import { StaleClaimError } from '../lib/errors.ts'

export type AgentWorkDeps = Pick<Services, 'db' | 'hub' | 'clock' | 'ids' | 'log'> & {
  jobs: JobStore
  liveStreams: LiveJobStreams
  models: ModelSource
  /** File contents before and after changes. */
  blobs: Blobs
  trash?: Trash
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
  /** Closed to every tool. */
  dataDir: string
  tools: () => readonly Tool[]
  /** The tools of MCP servers that an agent has. */
  mcpTools: (agentId: string) => Promise<Tool[]>
  approvals: ApprovalStore
  codeTasks?: CodeTasks
  rules: { read(): RuleSet }
  parked: ToolPolicyDeps['parked']
  reservations: Reservations
  sampling: Pick<SamplingModels, 'during'>
  /** Deckhand's own ports: closed to every tool. */
  ownPorts: () => readonly number[]
  /** IANA name. */
  timezone: () => string
}

/**
 * Runs one attempt at a job: builds the prompt from what is recorded, runs the loop, and settles the job. Does not settle
 * an attempt that was stopped: the worker knows why.
 */
export function createAgentWork(deps: AgentWorkDeps): (attempt: Attempt) => Promise<void> {
  const windows = createContextWindows(deps.clock)
  return async (attempt) => {
    try {
      await settle(deps, attempt.claim, await work(deps, windows, attempt))
    } catch (thrown) {
      if (!(thrown instanceof StaleClaimError)) throw thrown
    } finally {
      deps.reservations.release(attempt.claim.jobId)
    }
  }
}

async function work(deps: AgentWorkDeps, windows: ContextWindows, attempt: Attempt): Promise<LoopOutcome> {
  const { db } = deps
  const agent = findAgent(db, attempt.job.agentId)
  if (agent === null) return failed('agent_deleted', createMessage('job_agent_gone'))
  const models = modelsOf(agent, readSettings(db).defaultModel)
  if (models.length === 0) {
    return failed('agent_has_no_model', createMessage('job_no_model', { agentName: agent.name }))
  }
  const guardrails = () => ({ closedFolders: [deps.dataDir], ownPorts: deps.ownPorts() })
  const policy = createToolPolicy({ ...deps, delegation: createDelegation(deps), guardrails }, attempt.job, agent, attempt.claim)
  const input = await inputFor(deps, attempt, agent, models)
  const loopDeps: LoopDeps = {
    models: deps.models,
    windows,
    budget: createJobBudget(deps, attempt.claim),
    policy: policy.judge,
    record: recorderFor(deps, attempt.claim, policy),
    progress: progressFor(deps, attempt),
    clock: deps.clock,
    random: deps.random,
  }
  return deps.sampling.during({ ...attempt, ...input }, () => runLoop(input, loopDeps))
}

function failed(error: 'agent_deleted' | 'agent_has_no_model', message: Message): LoopOutcome {
  return { kind: 'failed', error, message, text: '' }
}

/** The agent's own model, or the default, then the fallbacks. */
export function modelsOf(agent: Pick<Agent, 'model' | 'fallbacks'>, defaultModel: ModelRef | null): ModelRef[] {
  const first = agent.model ?? defaultModel
  const all = first === null ? agent.fallbacks : [first, ...agent.fallbacks]
  return all.filter((ref, i) => all.findIndex((other) => other.providerId === ref.providerId && other.model === ref.model) === i)
}

async function inputFor(deps: AgentWorkDeps, { job, claim, signal }: Attempt, agent: Agent, models: ModelRef[]): Promise<LoopInput> {
  const { db, jobs, clock, dataDir, tools, mcpTools, rules, timezone } = deps
  const journalDeps = { ...deps, closedFolders: [dataDir] }
  // Before a call runs again, find out whether it took effect the first time.
  await resolveStartedChanges(journalDeps, job.id)
  // A guest's job has no memories in its prompt. The agent can recall them; then its answer waits for the person.
  const about = skillJobOf(db, jobs, job)
  const memory = guestOf(job) === null && about === null ? await takePromptMemories(deps, job.id, agent.id) : undefined
  const cursor = await takeCursor(deps, job)
  const [, ...above] = readChain(db, job.id).map(({ agentId }) => agentId)
  const chain = [agent.id, ...above]
  // As set now: a folder that the person takes away, or denies, is closed at once.
  const folders = () => findAgent(db, agent.id)?.folders ?? []
  const inChain = <T>(read: (set: RuleSet, agentId: string, named: NamedFolder[]) => T[]) => {
    const [set, named] = [rules.read(), nameFolders(folders())]
    return chain.flatMap((one) => read(set, one, named))
  }
  const { messages, startedCallIds } = transcriptOf(jobs.listSteps(db, job.id), jobs.listReplyParts(db, job.id))
  // A job that writes a skill works from a record alone.
  const task = about === null ? job.task : skillDraftTask(about, jobs.listSteps(db, about.id), randomBoundary)
  return {
    models,
    prompt: buildPrompt({
      agent,
      job: { ...job, task },
      memory,
      cursor,
      ...readEarlierTurns(db, jobs, job),
      now: clock.now(),
      timezone: timezone(),
    }),
    transcript: messages,
    startedCallIds,
    tools: [
      ...tools()
        .filter(({ channels }) => channels?.includes(job.channel) ?? true)
        .filter(({ name }) => about === null || name === RETURN_RESULT)
        .flatMap((tool) => (tool.forAgent === undefined ? tool : (tool.forAgent(agent.id) ?? []))),
      ...(about === null ? await mcpTools(agent.id) : []),
    ],
    toolContext: {
      jobId: job.id,
      agentId: agent.id,
      onBehalfOf: above,
      get folders() {
        return folders()
      },
      get closedFolders() {
        return [dataDir, ...inChain(closedFoldersOf)]
      },
      get hiddenFolders() {
        return inChain(deniedFoldersOf).map(({ path }) => path)
      },
      scanFilter: (call) => scanFilterFor(rules.read(), call, chain),
      journal: createFileJournal(journalDeps, { claim, agentId: agent.id }),
      trash: deps.trash,
      results: createJobResults(deps, claim),
      memory: createAgentMemory(deps, {
        claim,
        agentId: agent.id,
        isUntrusted: () => deps.approvals.readTaints(db, job.id).untrusted !== null,
      }),
      cursor: createScheduleCursor(deps, claim, job),
    },
    limits: agent.limits,
    postponed: jobs.findPostponed(db, job.id),
    used: { turns: job.turns, toolCalls: job.toolCalls, costMicros: Math.round(job.costUsd * 1_000_000), workingMs: job.workingMs },
    signal,
  }
}

function recorderFor({ db, jobs, approvals }: AgentWorkDeps, claim: Claim, policy: ToolPolicy): LoopDeps['record'] {
  const write = (step: (tx: Tx) => unknown): Promise<void> => commitSoon(db, (tx) => void step(tx))
  const leaves = (callId: string) => policy.decisionOf(callId)?.facts.leavesMachine ?? false
  /** In the commit of the step that follows from it. */
  const recordDecision = (tx: Tx, callId: string) => {
    const decision = policy.decisionOf(callId)
    if (decision !== undefined) approvals.recordDecision(tx, claim, decision)
  }
  return {
    reply: (reply) => write((tx) => jobs.recordReply(tx, claim, reply)),
    toolStarted: (call) =>
      write((tx) => {
        jobs.recordToolStarted(tx, claim, { ...call, leftMachine: leaves(call.callId) })
        recordDecision(tx, call.callId)
      }),
    toolResult: ({ ran, ...result }) =>
      write((tx) => {
        jobs.recordToolResult(tx, claim, { ...result, leftMachine: ran && leaves(result.callId) })
        recordDecision(tx, result.callId)
      }),
  }
}

function progressFor({ liveStreams, hub }: AgentWorkDeps, { job, claim, alive }: Attempt): LoopDeps['progress'] {
  return {
    delta(text) {
      alive()
      liveStreams.delta(claim, text)
    },
    reset: () => liveStreams.reset(claim),
    alive,
    tool(call) {
      alive()
      liveStreams.tool(claim, call)
    },
    toolOutput(callId, text) {
      alive()
      liveStreams.toolOutput(claim, callId, text)
    },
    activity(activity, detail, until) {
      alive()
      hub.publishLive({ type: 'job.progress', payload: { jobId: job.id, activity, detail, until } })
    },
  }
}

async function settle({ db, jobs, log }: AgentWorkDeps, claim: Claim, outcome: LoopOutcome): Promise<void> {
  // Codes only: texts are the person's, and they are in the database.
  const error = outcome.kind === 'failed' ? outcome.error : undefined
  log.info({ jobId: claim.jobId, attempt: claim.attempt, outcome: outcome.kind, error }, 'an attempt ended')
  if (outcome.kind === 'aborted') return
  const lastReply: RecordedReply | undefined = outcome.kind === 'completed' ? (outcome.reply ?? undefined) : undefined
  await commitSoon(db, (tx) => jobs.settle(tx, claim, outcome, lastReply))
}
