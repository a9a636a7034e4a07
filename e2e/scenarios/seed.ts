import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src-runner/base/db/database.ts'
import { transact, type Tx } from '../../src-runner/base/db/transact.ts'
import { createJobTails } from '../../src-runner/base/events/job-tails.ts'
import type { Agent, CreateAgent, ModelRef } from '../../src-runner/contract/agents.ts'
import type { JobErrorCode } from '../../src-runner/contract/errors.ts'
import type { Job, JobChannel } from '../../src-runner/contract/jobs.ts'
import { createIds } from '../../src-runner/kit/ids.ts'
import { createAgent } from '../../src-runner/records/agents/agents.ts'
import type { Claim } from '../../src-runner/records/jobs/claim.ts'
import { createJobStore } from '../../src-runner/records/jobs/job-store.ts'
import { insertProvider } from '../../src-runner/records/providers/providers.ts'
import { changeSettings } from '../../src-runner/records/settings/settings.ts'
import { createHandClock, type HandClock } from '../../src-runner/testing/hand-clock.ts'

const MINUTE = 60_000
const NO_LIMIT = 1_000_000

export type SeededCall = { name: string; args: unknown; ok?: boolean; output: string }

/** A job as it went: each turn is what the model said and what its tools answered. */
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
  ending?: 'completed' | 'cancelled' | 'running' | 'pending' | { error: JobErrorCode; message: string }
}

/**
 * Fills a data folder through the product's own records, with a clock that is moved by hand: what comes out is what the
 * runner would have written on such a day, migrations and events included.
 */
export type Seed = {
  clock: HandClock
  agent(fields: CreateAgent): Agent
  provider(fields: { id: string; kind: 'anthropic' | 'openai' | 'google' | 'openai-compatible'; name: string; baseUrl?: string }): void
  defaultModel(model: ModelRef): void
  job(job: SeededJob): Job
  /** Many jobs share a transaction: one each would wait for the disk every time. */
  together<T>(work: () => T): T
  close(): void
}

export function openSeed(dataDir: string, startAt: number): Seed {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const clock = createHandClock(startAt)
  const ids = createIds(() => clock.now())
  const db = openDatabase({ file: join(dataDir, 'deckhand.db'), clock, ids })
  // A boot id of its own: what is left running here belongs to a process that is gone, as after a crash.
  const jobs = createJobStore({ db, clock, ids, bootId: ids.next(), tails: createJobTails() })
  let open: Tx | null = null
  const write = <T>(work: (tx: Tx) => T): T => (open ? work(open) : transact(db, work as (tx: Tx) => never))

  function playTurns(tx: Tx, claim: Claim, { turns, model }: SeededJob): void {
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
      for (const [at, { name, ok = true, output }] of calls.entries()) {
        clock.advance(300)
        jobs.recordToolResult(tx, claim, { callId: `call_${index}_${at}`, name, ok, output, durationMs: 300 })
      }
    }
  }

  return {
    clock,
    agent: (fields) => write((tx) => createAgent(tx, { clock, ids }, fields)),
    provider: ({ id, kind, name, baseUrl }) =>
      write((tx) => void insertProvider(tx, { clock }, { id, kind, name, baseUrl: baseUrl ?? null, hasKey: false, origin: 'user' })),
    defaultModel: (model) => write((tx) => void changeSettings(tx, { clock }, { defaultModel: model })),
    job(planned) {
      const { agent, task, title, channel = 'api', conversation, ending = 'completed' } = planned
      const job = write((tx) => jobs.enqueue(tx, { agentId: agent.id, channel, task, title, conversation }))
      clock.advance(200)
      if (ending === 'pending') return job
      // A transaction of its own: working time counts from when the claim is committed.
      const claimed = write((tx) => jobs.claim(tx, job.id, NO_LIMIT))
      if (claimed === null) throw new Error(`"${job.title}" cannot run: an earlier job of its conversation is unfinished`)
      return write((tx) => {
        playTurns(tx, claimed.claim, planned)
        if (ending === 'running') return jobs.getJob(tx, job.id)
        const text = planned.turns.at(-1)?.text ?? ''
        const settled = typeof ending === 'object' ? { ending: 'failed' as const, ...ending } : { ending, text }
        jobs.settle(tx, claimed.claim, settled)
        clock.advance(MINUTE)
        return jobs.getJob(tx, job.id)
      })
    },
    together: (work) =>
      transact(db, (tx) => {
        open = tx
        try {
          return work() as never
        } finally {
          open = null
        }
      }),
    close: () => db.close(),
  }
}
