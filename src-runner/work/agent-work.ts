import type { Database } from '../base/db/database.ts'
import { commitSoon, type Tx } from '../base/db/transact.ts'
import type { EventHub } from '../base/events/event-hub.ts'
import type { JobTails } from '../base/events/job-tails.ts'
import type { Agent, ModelRef } from '../contract/agents.ts'
import type { Clock } from '../kit/clock.ts'
import type { Ids } from '../kit/ids.ts'
import type { Log } from '../kit/log.ts'
import { say, saidAs } from '../kit/said.ts'
import { findAgent } from '../records/agents/agents.ts'
import type { ApprovalStore } from '../records/approvals/approvals.ts'
import { readChain } from '../records/approvals/chain.ts'
import type { Ledger } from '../records/budgets/ledger.ts'
import type { Blobs } from '../records/files/blobs.ts'
import { LostClaim, type Claim } from '../records/jobs/claim.ts'
import type { JobStore } from '../records/jobs/job-store.ts'
import type { Attempt } from '../records/jobs/worker.ts'
import { closedFoldersOf, type RuleSet } from '../records/rules/rule-set.ts'
import { readSettings } from '../records/settings/settings.ts'
import { runLoop } from '../thinking/loop/loop.ts'
import { createWindowBook, type WindowBook } from '../thinking/loop/window-book.ts'
import { ClaimLost, type LoopDeps, type LoopEnding, type LoopInput, type RecordedReply } from '../thinking/loop/loop-types.ts'
import type { Trash } from '../thinking/folder-access/trash.ts'
import type { ModelSource } from '../thinking/models/model.ts'
import type { Tool } from '../thinking/tools/tool.ts'
import { createAgentMemory, takePromptMemories } from './agent-memory.ts'
import { createDelegation } from './delegation.ts'
import { readEarlierTurns } from './earlier-turns.ts'
import { createFileJournal, resolveStartedChanges } from './file-journal.ts'
import { guestOf } from './guest.ts'
import { createGate, type Gate } from './gate.ts'
import { createMoney } from './money.ts'
import { buildPrompt } from './prompt.ts'
import { transcriptOf } from './transcript.ts'
import { createWatchState, takeWatch } from './watch.ts'

export type AgentWorkDeps = {
  db: Database
  jobs: JobStore
  tails: JobTails
  hub: EventHub
  models: ModelSource
  clock: Clock
  ids: Ids
  log: Log
  /** Contents of files before and after jobs changed them. */
  blobs: Blobs
  trash?: Trash
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
  /** Closed to every tool. */
  dataDir: string
  /** What agents can do now. */
  tools: () => readonly Tool[]
  approvals: ApprovalStore
  rules: { read(): RuleSet }
  ledger: Ledger
  /** Ports of this machine that Deckhand itself answers on: closed to every tool. */
  ownPorts: () => readonly number[]
  /** IANA name. */
  timezone: () => string
}

/**
 * What the worker does with a job of an agent: puts the prompt together from what is recorded, runs the loop, and
 * settles the job with its ending. Settles nothing when the attempt was stopped: the worker knows why it was.
 */
export function createAgentWork(deps: AgentWorkDeps): (attempt: Attempt) => Promise<void> {
  const windows = createWindowBook(deps.clock)
  return async (attempt) => {
    try {
      await settle(deps, attempt.claim, await work(deps, windows, attempt))
    } catch (thrown) {
      // Somebody else's job by now. Nothing was written, and nothing is left to do.
      if (!(thrown instanceof ClaimLost || thrown instanceof LostClaim)) throw thrown
    } finally {
      deps.ledger.settle(attempt.claim.jobId)
    }
  }
}

async function work(deps: AgentWorkDeps, windows: WindowBook, attempt: Attempt): Promise<LoopEnding> {
  const { db } = deps
  const agent = findAgent(db, attempt.job.agentId)
  if (agent === null) return failed('agent_deleted', say('job_agent_gone'))
  const models = modelsOf(agent, readSettings(db).defaultModel)
  if (models.length === 0) {
    return failed('agent_has_no_model', say('job_no_model', { agentName: agent.name }))
  }
  const floor = () => ({ closedFolders: [deps.dataDir], ownPorts: deps.ownPorts() })
  const gate = createGate({ ...deps, delegation: createDelegation(deps), floor }, attempt.job, agent, attempt.claim)
  return runLoop(await inputFor(deps, attempt, agent, models), {
    models: deps.models,
    windows,
    money: createMoney(deps, attempt.claim),
    gate: gate.judge,
    record: recorderFor(deps, attempt.claim, gate),
    progress: progressFor(deps, attempt),
    clock: deps.clock,
    random: deps.random,
  })
}

function failed(error: 'agent_deleted' | 'agent_has_no_model', message: string): LoopEnding {
  return { ending: 'failed', error, message, text: '' }
}

/** The agent's own model, else the workspace's, then the fallbacks; each once. */
export function modelsOf(agent: Pick<Agent, 'model' | 'fallbacks'>, defaultModel: ModelRef | null): ModelRef[] {
  const first = agent.model ?? defaultModel
  const wanted = first === null ? agent.fallbacks : [first, ...agent.fallbacks]
  return wanted.filter((ref, i) => wanted.findIndex((other) => other.providerId === ref.providerId && other.model === ref.model) === i)
}

async function inputFor(deps: AgentWorkDeps, { job, claim, signal }: Attempt, agent: Agent, models: ModelRef[]): Promise<LoopInput> {
  const { db, jobs, clock, dataDir, tools, rules, timezone } = deps
  // What was changed is looked at whatever the rules say by now.
  const journalDeps = { ...deps, closedFolders: [dataDir] }
  // Before a call is run again it has to be known whether it took effect the first time.
  await resolveStartedChanges(journalDeps, job.id)
  // What the agent remembers of the person is not laid out before a guest. It can recall it, and then its answer waits.
  const memory = guestOf(job) === null ? await takePromptMemories(deps, job.id, agent.id) : undefined
  const watch = await takeWatch(deps, job)
  const [, ...above] = readChain(db, job.id).map(({ agentId }) => agentId)
  const { messages, startedCallIds } = transcriptOf(jobs.listSteps(db, job.id), jobs.listReplyParts(db, job.id))
  return {
    models,
    prompt: buildPrompt({ agent, job, memory, watch, ...readEarlierTurns(db, jobs, job), now: clock.now(), timezone: timezone() }),
    transcript: messages,
    startedCallIds,
    tools: tools().filter(({ channels }) => channels?.includes(job.channel) ?? true),
    toolContext: {
      jobId: job.id,
      agentId: agent.id,
      onBehalfOf: above,
      folders: agent.folders,
      closedFolders: [dataDir, ...[agent.id, ...above].flatMap((one) => closedFoldersOf(rules.read(), one))],
      journal: createFileJournal(journalDeps, { claim, agentId: agent.id }),
      trash: deps.trash,
      memory: createAgentMemory(deps, {
        claim,
        agentId: agent.id,
        isUntrusted: () => deps.approvals.readMarks(db, job.id).untrusted !== null,
      }),
      watch: createWatchState(deps, claim, job),
    },
    limits: agent.limits,
    postponed: jobs.timesPostponed(db, job.id),
    // The row counts with every step, in the same commit.
    used: { turns: job.turns, toolCalls: job.toolCalls, costMicros: Math.round(job.costUsd * 1_000_000), workingMs: job.workingMs },
    signal,
  }
}

function recorderFor({ db, jobs, approvals }: AgentWorkDeps, claim: Claim, gate: Gate): LoopDeps['record'] {
  const write = async (step: (tx: Tx) => unknown): Promise<void> => {
    try {
      await commitSoon(db, (tx) => void step(tx))
    } catch (thrown) {
      throw thrown instanceof LostClaim ? new ClaimLost(thrown.message) : thrown
    }
  }
  const leaves = (callId: string) => gate.decisionOf(callId)?.facts.leavesMachine ?? false
  /** In the commit of the step that follows from it: no decision without its consequence, and no commit of its own. */
  const recordDecision = (tx: Tx, callId: string) => {
    const decision = gate.decisionOf(callId)
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

function progressFor({ tails, hub }: AgentWorkDeps, { job, claim, alive }: Attempt): LoopDeps['progress'] {
  return {
    delta(text) {
      alive()
      tails.delta(claim, text)
    },
    reset: () => tails.reset(claim),
    moved: alive,
    tool(call) {
      alive()
      tails.tool(claim, call)
    },
    toolOutput(callId, text) {
      alive()
      tails.toolOutput(claim, callId, text)
    },
    activity(activity, detail, until) {
      alive()
      hub.publishLive({ type: 'job.progress', payload: { jobId: job.id, activity, detail, ...saidAs('detailSaid', detail), until } })
    },
  }
}

async function settle({ db, jobs, log }: AgentWorkDeps, claim: Claim, ending: LoopEnding): Promise<void> {
  // Codes only: what was said and asked is the person's, and stands in the database.
  const error = ending.ending === 'failed' ? ending.error : undefined
  log.info({ jobId: claim.jobId, attempt: claim.attempt, ending: ending.ending, error }, 'an attempt ended')
  if (ending.ending === 'aborted') return
  const lastReply: RecordedReply | undefined = ending.ending === 'completed' ? (ending.reply ?? undefined) : undefined
  await commitSoon(db, (tx) => jobs.settle(tx, claim, ending, lastReply))
}
