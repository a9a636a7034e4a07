import type { Message } from '../../src-runner/contract/messages.ts'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { transact, type Database, type Tx } from '../../src-runner/platform/db/database.ts'
import { openDatabase } from '../../src-runner/platform/db/open-database.ts'
import { createLiveJobStreams } from '../../src-runner/platform/events/live-job-streams.ts'
import type { Agent, CreateAgent, ModelRef } from '../../src-runner/contract/agents.ts'
import type { Approval, ResolveApproval } from '../../src-runner/contract/approvals.ts'
import type { JobErrorCode } from '../../src-runner/contract/errors.ts'
import type { Job, JobChannel } from '../../src-runner/contract/jobs.ts'
import { type Taint, type CallFacts, NO_TAINTS, type RecordedDecision, type RuleText } from '../../src-runner/contract/rules.ts'
import { createIds, type Ids } from '../../src-runner/lib/ids.ts'
import { silentLog } from '../../src-runner/lib/log.ts'
import { createAgent } from '../../src-runner/domain/agents/agents.ts'
import { createApprovals } from '../../src-runner/domain/approvals/approvals.ts'
import { decide } from '../../src-runner/domain/approvals/policy.ts'
import type { Claim } from '../../src-runner/domain/jobs/claim-job.ts'
import type { AttemptOutcome } from '../../src-runner/domain/jobs/settle-job.ts'
import { createJobStore, type JobStore } from '../../src-runner/domain/jobs/job-store.ts'
import { createJobSearch } from '../../src-runner/domain/jobs/search-jobs.sql.ts'
import { insertProvider } from '../../src-runner/domain/providers/providers.ts'
import { createRuleSet } from '../../src-runner/domain/rules/rule-set.ts'
import { createRule, listAllRules } from '../../src-runner/domain/rules/rules.ts'
import { createScheduleStore, type ScheduleStore } from '../../src-runner/domain/schedules/schedule-store.ts'
import { changeSettings } from '../../src-runner/domain/settings/settings.ts'
import { createHandClock, type HandClock } from '../../src-runner/testing/hand-clock.ts'
import { AskPersonArgs } from '../../src-runner/agent/tools/ask-person/ask-person.ts'
import { narrowestRuleFor } from '../../src-runner/execution/narrowest-rule.ts'

const MINUTE = 60_000
const NO_LIMIT = 1_000_000

export type SeededCall = {
  name: string
  args: unknown
  ok?: boolean
  /** Left out: it waits for a person. */
  output?: string
  addsTaint?: readonly Taint[]
  /** The facts that the policy decides on. Left out: no decision was recorded. */
  facts?: Partial<CallFacts> & Pick<CallFacts, 'subject' | 'summary'>
  /** The person's answer before it ran. */
  answered?: Omit<ResolveApproval, 'approvalId' | 'remember'> & Partial<Pick<ResolveApproval, 'remember'>>
  /** It was running when the process died. */
  brokeOff?: boolean
}

/** A job to seed: each turn has the model's reply and the results of its tools. */
export type SeededJob = {
  agent: Agent
  task: string
  title?: string
  channel?: JobChannel
  conversation?: string | 'new' | null
  turns: Array<{
    text: string
    reasoning?: string
    calls?: SeededCall[]
    costMicros?: number
    inputTokens?: number
    outputTokens?: number
    seconds?: number
  }>
  model?: ModelRef
  /** `waiting`: for approvals of the calls without an output. `budget`: for a higher spending limit. */
  outcome?:
    | 'completed'
    | 'cancelled'
    | 'running'
    | 'pending'
    | 'waiting'
    /** A no-op result. */
    | 'no_op'
    | { error: JobErrorCode; message: Message }
    | { budget: NonNullable<Approval['budget']> }
}

/**
 * Fills a data folder through the product's own stores, with a clock that is advanced by hand. The result is what the runner
 * would have written, with migrations and events.
 */
export type Seed = {
  clock: HandClock
  agent(fields: CreateAgent): Agent
  provider(fields: { id: string; kind: 'anthropic' | 'openai' | 'google' | 'openai-compatible'; name: string; baseUrl?: string }): void
  defaultModel(model: ModelRef): void
  rule(rule: RuleText): void
  job(job: SeededJob): Job
  /** Plays a job that a webhook or a schedule has made. */
  play(job: Job, planned: Pick<SeededJob, 'agent' | 'turns' | 'model' | 'outcome'>): Job
  /** The stores for seeding automations. */
  parts: SeedParts
  /** Seeds many jobs in one transaction, because each commit waits for the disk. */
  together<T>(work: () => T): T
  close(): void
}

export type SeedParts = { db: Database; ids: Ids; jobs: JobStore; schedules: ScheduleStore; write<T>(work: (tx: Tx) => T): T }

export function openSeed(dataDir: string, startAt: number): Seed {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const clock = createHandClock(startAt)
  const ids = createIds(() => clock.now())
  const db = openDatabase({ file: join(dataDir, 'deckhand.db'), clock, ids })
  // With its own boot id, jobs left running here look like those of a crashed process.
  const jobs: JobStore = createJobStore({
    db,
    clock,
    ids,
    bootId: ids.next(),
    liveStreams: createLiveJobStreams(),
    hooks: { ended: (tx, job) => schedules.jobEnded(tx, job), waiting: (tx, job) => schedules.jobWaits(tx, job) },
  })
  const schedules: ScheduleStore = createScheduleStore({ clock, ids, log: silentLog, jobs })
  const approvals = createApprovals({ clock, ids, jobs })
  let open: Tx | null = null
  const write = <T>(work: (tx: Tx) => T): T => (open ? work(open) : transact(db, work as (tx: Tx) => never))

  function decideOn(tx: Tx, claim: Claim, agent: Agent, callId: string, { name, facts }: SeededCall): RecordedDecision | undefined {
    if (facts === undefined) return undefined
    const quiet = { leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false }
    const whole: CallFacts = { tool: name, effect: 'read', paths: [], ...quiet, ...facts }
    const taints = approvals.readTaints(tx, claim.jobId)
    const rules = createRuleSet(listAllRules(tx))
    const guardrails = { closedFolders: [dataDir], ownPorts: [] }
    const situation = {
      facts: whole,
      autonomy: agent.autonomy,
      agentId: agent.id,
      rules,
      taints,
      pauseAll: false,
      grants: new Map(),
      guardrails,
    }
    return { callId, tool: name, facts: whole, decision: decide(situation), taints, decidedAt: clock.now() }
  }

  function ask(tx: Tx, claim: Claim, callId: string, call: SeededCall, decided: RecordedDecision | undefined): string {
    const asked = { callId, tool: call.name, args: call.args, taints: approvals.readTaints(tx, claim.jobId) }
    if (call.brokeOff) {
      jobs.recordToolStarted(tx, claim, { callId, name: call.name })
      return approvals.ask(tx, claim, { kind: 'unknown_outcome', ...asked, facts: decided?.facts ?? null })
    }
    if (call.name === 'ask_person') {
      const { question: text, choices = [] } = AskPersonArgs.parse(call.args)
      return approvals.ask(tx, claim, { kind: 'question', ...asked, question: { text, choices } })
    }
    if (decided === undefined) throw new Error(`the policy was told nothing of ${call.name}, so it cannot ask`)
    const { facts, decision } = decided
    // Only what the agent's autonomy asks for may be allowed for longer.
    const isOpen = decision.decidedBy.source === 'level'
    const offers = isOpen
      ? {
          alwaysRule: narrowestRuleFor(facts, jobs.getJob(tx, claim.jobId).agentId),
          mayRemember: ['once' as const, 'job' as const, 'always' as const],
        }
      : { alwaysRule: null, mayRemember: ['once' as const] }
    return approvals.ask(tx, claim, { kind: 'tool', ...asked, facts, decision, ...offers }, decided)
  }

  function playCall(tx: Tx, claim: Claim, agent: Agent, callId: string, call: SeededCall): void {
    const { name, ok = true, output, addsTaint, answered } = call
    clock.advance(300)
    const decided = decideOn(tx, claim, agent, callId, call)
    if (output === undefined) return void ask(tx, claim, callId, call, decided)
    if (answered !== undefined) {
      const approvalId = ask(tx, claim, callId, call, decided)
      clock.advance(2 * MINUTE)
      approvals.answer(tx, { remember: 'once', ...answered, approvalId })
    } else if (decided !== undefined) approvals.recordDecision(tx, claim, decided)
    jobs.recordToolResult(tx, claim, { callId, name, ok, output, addsTaint, leftMachine: decided?.facts.leavesMachine, durationMs: 300 })
  }

  function play(job: Job, planned: Pick<SeededJob, 'agent' | 'turns' | 'model' | 'outcome'>): Job {
    const { outcome = 'completed' } = planned
    clock.advance(200)
    if (outcome === 'pending') return job
    // In its own transaction, because working time counts from the commit of the claim.
    const claimed = write((tx) => jobs.claim(tx, job.id, NO_LIMIT))
    if (claimed === null) throw new Error(`"${job.title}" cannot run: an earlier job of its conversation is unfinished`)
    return write((tx) => {
      playTurns(tx, claimed.claim, planned)
      if (outcome === 'running') return jobs.getJob(tx, job.id)
      if (typeof outcome === 'object' && 'budget' in outcome) {
        const args = { scope: outcome.budget.scope, owner: job.id, period: '' }
        approvals.ask(tx, claimed.claim, { kind: 'budget', args, budget: outcome.budget, taints: NO_TAINTS })
      }
      jobs.settle(tx, claimed.claim, settledAs(outcome, planned.turns.at(-1)?.text ?? ''))
      clock.advance(MINUTE)
      return jobs.getJob(tx, job.id)
    })
  }

  function playTurns(tx: Tx, claim: Claim, { agent, turns, model }: Pick<SeededJob, 'agent' | 'turns' | 'model'>): void {
    for (const [index, turn] of turns.entries()) {
      const ms = (turn.seconds ?? 4) * 1000
      clock.advance(ms)
      const calls = turn.calls ?? []
      jobs.recordReply(tx, claim, {
        text: turn.text,
        reasoning: turn.reasoning ?? '',
        toolCalls: calls.map(({ name, args }, at) => ({ callId: `call_${index}_${at}`, name, args })),
        model: model ?? { providerId: 'demo', model: 'demo' },
        usage: { input: turn.inputTokens ?? 900, output: turn.outputTokens ?? Math.ceil(turn.text.length / 4), cached: 0 },
        estimated: false,
        costMicros: turn.costMicros ?? 0,
        priced: true,
        interrupted: false,
        durationMs: ms,
      })
      for (const [at, call] of calls.entries()) playCall(tx, claim, agent, `call_${index}_${at}`, call)
    }
  }

  return {
    clock,
    agent: (fields) => write((tx) => createAgent(tx, { clock, ids }, fields)),
    provider: ({ id, kind, name, baseUrl }) =>
      write((tx) => void insertProvider(tx, { clock }, { id, kind, name, baseUrl: baseUrl ?? null, hasKey: false, origin: 'user' })),
    defaultModel: (model) => write((tx) => void changeSettings(tx, { clock }, { defaultModel: model })),
    rule: (rule) => write((tx) => void createRule(tx, { clock, ids }, rule, 'person')),
    job(planned) {
      const { agent, task, title, channel = 'api', conversation } = planned
      return play(
        write((tx) => jobs.enqueue(tx, { agentId: agent.id, channel, task, title, conversation })),
        planned,
      )
    },
    play,
    parts: { db, ids, jobs, schedules, write },
    together: (work) =>
      transact(db, (tx) => {
        open = tx
        try {
          return work() as never
        } finally {
          open = null
        }
      }),
    close() {
      // The runner indexes in small batches, so with many jobs the newest would be found late.
      createJobSearch(db).catchUp()
      db.close()
    },
  }
}

function settledAs(outcome: Exclude<NonNullable<SeededJob['outcome']>, 'running' | 'pending'>, text: string): AttemptOutcome {
  if (outcome === 'waiting' || (typeof outcome === 'object' && 'budget' in outcome)) return { kind: 'waiting', status: 'awaiting_approval' }
  if (outcome === 'no_op') return { kind: 'completed', text, noOp: true }
  return typeof outcome === 'object' ? { kind: 'failed', ...outcome } : { kind: outcome, text }
}
