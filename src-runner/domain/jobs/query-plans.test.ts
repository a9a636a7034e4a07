import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import { JOB_STATUSES } from '../../contract/jobs.ts'
import { plansOf as readPlans, type QueryPlan } from '../../testing/query-plans.ts'
import { openDomainRig, replyOf, type DomainRig } from '../../testing/domain-rig.ts'
import { listAgents } from '../agents/agents.ts'
import { moveExpiry } from '../approvals/answer-approval.ts'
import { listApprovals } from '../approvals/approvals.ts'
import { readSpendingLimits } from '../budgets/spending-limits.ts'
import { deleteConversation, listConversations, listMessages } from '../conversations/conversations.ts'
import { changeSettings } from '../settings/settings.ts'
import { readSpend } from '../spend/spend.sql.ts'
import type { JobFilter } from './list-jobs.sql.ts'
import { QUEUED_AGENTS } from './queue.sql.ts'

let rig: DomainRig
let agentId: string
let conversationId: string

beforeAll(() => {
  rig = openDomainRig()
  agentId = rig.addAgent('Ada').id
  conversationId = write((tx) => rig.store.enqueue(tx, { agentId, channel: 'chat', task: 'Hello' })).conversationId!
})
afterAll(() => rig.close())

function write<T>(work: (tx: Tx) => T): T {
  return transact<unknown>(rig.db, work) as T
}

/** Every statement that `act` runs, with its query plan. */
function plansOf(act: () => void): QueryPlan[] {
  return readPlans(rig.db, act)
}

/** Scans of small tables, scans with a limit (the search queue) and full-text lookups. */
const SMALL = /^SCAN (agents$|with_jobs|search_queue|search_mark|(job_search|job_terms) VIRTUAL TABLE|CONSTANT|\d+ CONSTANT)/

function slowParts(plans: { sql: string; plan: string[] }[]): string[] {
  return plans.flatMap(({ sql, plan }) =>
    plan
      .filter(
        (line) => (line.startsWith('SCAN ') && !SMALL.test(line) && !/USING (COVERING )?INDEX/.test(line)) || /TEMP B-TREE/.test(line),
      )
      .map((line) => `${line} in ${sql.replace(/\s+/g, ' ')}`),
  )
}

const FILTERS: Record<string, Partial<JobFilter>> = {
  everything: {},
  'one state': { status: ['failed'] },
  'what waits to be run': { status: ['pending'] },
  'what runs': { status: ['running'] },
  'what waits to be run, of a channel': { status: ['pending'], channel: 'webhook' },
  'several states': { status: ['failed', 'completed', 'running'] },
  'all states': { status: [...JOB_STATUSES] },
  'an agent': { agentId: 'a' },
  'an agent and states': { agentId: 'a', status: ['failed', 'cancelled'] },
  'a channel': { channel: 'webhook' },
  'a channel and a state': { channel: 'webhook', status: ['failed'] },
  'a channel and the most frequent state': { channel: 'webhook', status: ['completed'] },
  'agent, channel, state and time': { agentId: 'a', channel: 'chat', status: ['failed'], from: 5, to: 10 },
  'a span of time': { from: 0, to: Number.MAX_SAFE_INTEGER },
  'jobs of a parent': { parentJobId: 'p' },
  'jobs of a parent, agent, channel, state and time': {
    parentJobId: 'p',
    agentId: 'a',
    channel: 'delegation',
    status: ['failed'],
    from: 5,
  },
  'a workspace': { entityId: 'e' },
  'a workspace, an agent, states and a channel': { entityId: 'e', agentId: 'a', status: ['failed'], channel: 'chat' },
  'a workspace and states': { entityId: 'e', status: ['failed', 'pending'] },
  'words in a workspace': { q: 'hello', entityId: 'e' },
  words: { q: 'hello' },
  'words, parent, agent, state, channel and time': {
    q: 'hello',
    parentJobId: 'p',
    agentId: 'a',
    status: ['completed', 'pending'],
    channel: 'chat',
    from: 0,
  },
}

describe('lists of jobs walk an index and sort nothing', () => {
  test.each(Object.keys(FILTERS))('%s', (name) => {
    const plans = plansOf(() => void rig.store.listJobs(rig.db, { ...FILTERS[name], limit: 50 }))
    expect(plans.length).toBeGreaterThan(0)
    expect(slowParts(plans)).toEqual([])
  })
})

test('finds delegated jobs by their own index', () => {
  const plans = plansOf(() => void rig.store.listJobs(rig.db, { parentJobId: 'p', agentId: 'a', status: ['failed', 'running'], limit: 50 }))
  expect(plans.flatMap(({ plan }) => plan).filter((line) => line.startsWith('SEARCH agent_jobs '))).toEqual([
    // First how far to examine, then the jobs.
    'SEARCH agent_jobs USING COVERING INDEX agent_jobs_by_parent (parent_job_id=? AND rowid>? AND rowid<?)',
    'SEARCH agent_jobs USING INDEX agent_jobs_by_parent (parent_job_id=? AND rowid>? AND rowid<?)',
  ])
})

describe('other queries walk an index and sort nothing', () => {
  const READINGS: Record<string, () => unknown> = {
    'a job': () => rig.store.findJob(rig.db, 'x'),
    steps: () => rig.store.listSteps(rig.db, rig.store.listJobs(rig.db, { limit: 1 }).jobs[0]!.id),
    counts: () => rig.store.countJobs(rig.db),
    'running jobs': () => rig.store.listRunningJobs(rig.db),
    'jobs of a conversation': () => rig.store.listJobsOfConversation(rig.db, conversationId),
    'number of jobs of a conversation': () => rig.store.countJobsOfConversation(rig.db, conversationId),
    conversations: () => listConversations(rig.db, { limit: 50 }),
    'counts of a workspace': () => rig.store.countJobs(rig.db, 'e'),
    'conversations of a workspace': () => listConversations(rig.db, { entityId: 'e', limit: 50 }),
    'conversations of an agent': () => listConversations(rig.db, { agentId, limit: 50 }),
    messages: () => listMessages(rig.db, conversationId),
    'jobs by their ids': () => rig.store.listJobsByIds(rig.db, ['j']),
    agents: () => listAgents(rig.db, { limit: 50 }),
  }
  test.each(Object.keys(READINGS))('%s', (name) => {
    const plans = plansOf(() => void READINGS[name]!())
    expect(plans.length).toBeGreaterThan(0)
    expect(slowParts(plans)).toEqual([])
  })

  test('reads spend only of the requested time', () => {
    const plans = plansOf(() => void readSpend(rig.db, { by: 'agent', from: 100, to: 200_000_000 }))
    expect(plans.flatMap(({ plan }) => plan).filter((line) => /^(SCAN|SEARCH) (step|spend)/.test(line))).toEqual([
      'SEARCH step USING INDEX job_steps_replies_by_time (created_at>? AND created_at<?)',
      'SEARCH spend_of_deleted USING PRIMARY KEY (bucket_at>? AND bucket_at<?)',
      'SEARCH spend_days USING PRIMARY KEY (day_at>? AND day_at<?)',
    ])
  })
})

test('reads spend of a budget only for its day and month', () => {
  write((tx) => changeSettings(tx, rig, { dayBudgetUsd: 5 }))
  rig.db.prepare('UPDATE agents SET day_budget_micros = 1, month_budget_micros = 1').run()
  const [job] = rig.store.listJobs(rig.db, { limit: 1 }).jobs
  const plans = plansOf(() => expect(readSpendingLimits(rig.db, job!.id, rig.clock.now(), 'UTC')).toHaveLength(4))
  expect(new Set(plans.flatMap(({ plan }) => plan).filter((line) => line.includes('spend_')))).toEqual(
    new Set([
      'SEARCH spend_agent_buckets USING PRIMARY KEY (agent_id=? AND bucket_at>? AND bucket_at<?)',
      'SEARCH spend_buckets USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
    ]),
  )
})

test('reads only the approvals of a workspace', () => {
  const lines = (filter: object) => plansOf(() => void listApprovals(rig.db, { ...filter, limit: 50 })).flatMap(({ plan }) => plan)
  const [every, pending] = [lines({ entityId: 'e' }), lines({ entityId: 'e', status: 'pending' })]
  expect(every).toContain('SEARCH approvals USING INDEX approvals_by_entity (entity_id=? AND rowid<?)')
  expect(every).toContain('SEARCH approvals USING COVERING INDEX approvals_by_entity_and_status (entity_id=? AND status=?)')
  expect(pending).toContain('SEARCH approvals USING INDEX approvals_by_entity_and_status (entity_id=? AND status=? AND rowid<?)')
  expect([...every, ...pending].filter((line) => /^SCAN|TEMP B-TREE/.test(line))).toEqual([])
})

test('moves the expiry of pending approvals only', () => {
  const plans = write((tx) => plansOf(() => moveExpiry(tx, 0)))
  expect(plans.flatMap(({ plan }) => plan)).toEqual(['SEARCH approvals USING COVERING INDEX approvals_by_status (status=?)'])
})

test('finds the next job agent by agent, however long the queue is', () => {
  const plan = rig.db.connection
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${QUEUED_AGENTS}`)
    .all()
    .map((row) => row.detail)
  expect(plan.filter((line) => line.includes('agent_jobs'))).toEqual([
    'SEARCH agent_jobs USING COVERING INDEX agent_jobs_by_agent',
    'SEARCH agent_jobs USING COVERING INDEX agent_jobs_by_agent (agent_id>?)',
    'SEARCH job EXISTS USING COVERING INDEX agent_jobs_by_agent (agent_id=? AND status=?)',
  ])
})

test('finds the jobs below one that wait for a person by their parents', () => {
  const lines = plansOf(() => void rig.store.listAskingBelow(rig.db, 'j')).flatMap(({ plan }) => plan)
  const searches = lines.filter((line) => line.startsWith('SEARCH'))
  expect(searches).toEqual([
    'SEARCH agent_jobs USING INDEX agent_jobs_one_per_call (parent_job_id=? AND parent_call_id>?)',
    'SEARCH job USING INDEX agent_jobs_one_per_call (parent_job_id=? AND parent_call_id>?)',
    'SEARCH job USING INDEX agent_jobs_id_unique (id=?)',
  ])
  expect(lines.filter((line) => /^SCAN (?!below|CONSTANT)/.test(line))).toEqual([])
})

test('scans no table in the life of a job, nor when its conversation is deleted', () => {
  const used: { sql: string; plan: string[] }[] = []
  const doIn = (work: (tx: Tx) => unknown) =>
    write((tx) => {
      used.push(...plansOf(() => void work(tx)))
    })
  doIn((tx) => rig.store.enqueue(tx, { agentId, channel: 'chat', task: 'Another', conversation: 'new' }))
  doIn((tx) => {
    const { claim } = rig.store.claimNext(tx, 4)!
    rig.store.recordReply(tx, claim, replyOf('one'))
    rig.store.recordReply(tx, claim, replyOf('two', { model: { providerId: 'demo', model: 'b' } }))
    rig.store.recordToolResult(tx, claim, { callId: 'a', name: 't', ok: true, output: '', durationMs: 1 })
    rig.store.heartbeat(tx, [claim])
    rig.store.settle(tx, claim, { kind: 'waiting', status: 'awaiting_approval' })
    rig.store.wake(tx, claim.jobId)
    rig.store.cancel(tx, claim.jobId)
    rig.store.retry(tx, claim.jobId)
    rig.store.rescue(tx)
    rig.store.failStuck(tx, 1000)
  })
  doIn((tx) => deleteConversation(tx, { jobs: rig.store }, conversationId))
  expect(used.length).toBeGreaterThan(20)
  expect(slowParts(used)).toEqual([])
})
