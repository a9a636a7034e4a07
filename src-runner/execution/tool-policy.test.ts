import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { transact } from '../platform/db/database.ts'
import type { CallFacts } from '../contract/rules.ts'
import { createApprovals, type ApprovalStore } from '../domain/approvals/approvals.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import { createRuleBook } from '../domain/rules/rules.ts'
import { openDomainRig, replyOf, type DomainRig } from '../testing/domain-rig.ts'
import type { PolicyVerdict } from '../agent/loop/loop-types.ts'
import { defineTool } from '../agent/tools/tool.ts'
import { createDelegation } from './delegation.ts'
import { createParkedCalls } from './parked-calls.ts'
import { narrowestRuleFor } from './narrowest-rule.ts'
import { createToolPolicy, type ToolPolicy } from './tool-policy.ts'
import { StaleClaimError } from '../lib/errors.ts'
import { silentLog } from '../lib/log.ts'

const send = defineTool({
  name: 'send',
  description: 'Sends.',
  args: z.object({ to: z.string() }),
  effect: 'once',
  parallel: false,
  facts({ to }) {
    if (to === '') throw new Error('Name somebody.')
    const does = { leavesMachine: true, costsMoney: false, deletes: false, overwrites: false, runsCode: false }
    return { subject: to, paths: [], summary: `Send to ${to}`, ...does }
  },
  run: async () => ({ ok: true, output: 'sent' }),
})

describe('the policy', () => {
  let rig: DomainRig
  let approvals: ApprovalStore
  let claim: Claim
  let policy: ToolPolicy

  beforeEach(() => {
    rig = openDomainRig()
    const agent = rig.addAgent('Ada')
    const job = transact(rig.db, (tx) => rig.store.enqueue(tx, { agentId: agent.id, channel: 'api', task: 'Go' }))
    claim = transact(rig.db, (tx) => rig.store.claim(tx, job.id, 4))!.claim
    approvals = createApprovals({ clock: rig.clock, ids: rig.ids, jobs: rig.store })
    const { db, store: jobs, clock } = rig
    const delegation = createDelegation({ db, jobs, approvals })
    const guardrails = () => ({ closedFolders: [rig.folder], ownPorts: [] })
    const parts = { db, approvals, delegation, clock, guardrails, log: silentLog, parked: createParkedCalls() }
    policy = createToolPolicy({ ...parts, rules: createRuleBook(db) }, job, agent, claim)
    transact(db, (tx) =>
      jobs.recordReply(tx, claim, replyOf('I send.', { toolCalls: [{ callId: 'c', name: 'send', args: { to: 'bo' } }] })),
    )
  })
  afterEach(() => rig.close())

  function judge(args: Record<string, unknown>, startedBefore = false): Promise<PolicyVerdict> {
    const context = { jobId: claim.jobId, agentId: '', callId: 'c', folders: [], closedFolders: [], signal: new AbortController().signal }
    return policy.judge({ call: { callId: 'c', name: 'send', args }, tool: send, args, context, startedBefore, ahead: false })
  }
  const pending = () => approvals.list(rig.db, { status: 'pending', limit: 10 }).approvals
  const approve = () =>
    transact(rig.db, (tx) => approvals.answer(tx, { approvalId: pending()[0]!.id, decision: 'approve', remember: 'once' }))

  it('runs an approved call, and asks again for other arguments', async () => {
    expect(await judge({ to: 'bo' })).toEqual({ verdict: 'wait', status: 'awaiting_approval' })
    approve()
    expect(await judge({ to: 'mallory' })).toEqual({ verdict: 'wait', status: 'awaiting_approval' })
    expect(pending()).toMatchObject([{ args: { to: 'mallory' } }])
    transact(rig.db, (tx) => approvals.answer(tx, { approvalId: pending()[0]!.id, decision: 'reject', remember: 'once' }))
    expect(await judge({ to: 'mallory' })).toMatchObject({ verdict: 'deny' })
  })

  it('ignores the order of keys', async () => {
    const args = { to: 'bo', also: 'cy' }
    await judge(args)
    approve()
    expect(await judge({ also: 'cy', to: 'bo' })).toMatchObject({ verdict: 'run' })
  })

  it('creates one approval for a call', async () => {
    await Promise.all([judge({ to: 'bo' }), judge({ to: 'bo' }), judge({ to: 'bo' })])
    expect(pending()).toHaveLength(1)
  })

  it('creates no approval for an attempt without its claim', async () => {
    transact(rig.db, (tx) => rig.store.failStuck(tx, -1))
    await expect(judge({ to: 'bo' })).rejects.toThrow(StaleClaimError)
    expect(pending()).toEqual([])
    expect(() =>
      transact(rig.db, (tx) =>
        approvals.ask(tx, claim, {
          kind: 'unknown_outcome',
          callId: 'c',
          tool: 'send',
          args: {},
          facts: null,
          taints: approvals.readTaints(tx, claim.jobId),
        }),
      ),
    ).toThrow(StaleClaimError)
  })

  it('returns to the model why a call cannot work', async () => {
    expect(await judge({ to: '' })).toEqual({ verdict: 'answer', ok: false, addsTaint: [], output: 'Not run: Name somebody.' })
  })

  it('does not accept an approval of the call as an answer about its unknown outcome', async () => {
    await judge({ to: 'bo' })
    approve()
    expect(await judge({ to: 'bo' })).toMatchObject({ verdict: 'run' })
    transact(rig.db, (tx) => rig.store.recordToolStarted(tx, claim, { callId: 'c', name: 'send' }))
    expect(await judge({ to: 'bo' }, true)).toEqual({ verdict: 'wait', status: 'awaiting_approval' })
    expect(pending()).toMatchObject([{ kind: 'unknown_outcome' }])
  })
})

describe('the rule for "always"', () => {
  const facts = (more: Partial<CallFacts>): CallFacts => ({
    tool: 't',
    effect: 'once',
    subject: '',
    paths: [],
    summary: '',
    leavesMachine: false,
    costsMoney: false,
    deletes: false,
    overwrites: false,
    runsCode: false,
    ...more,
  })
  it.each<[string, Partial<CallFacts>, object | null]>([
    ['the folder of a path', { subject: 'Docs/a.md', paths: ['/home/ada/Docs/a.md'] }, { folder: '/home/ada/Docs', pattern: null }],
    ['the folder that holds all paths', { paths: ['/home/ada/Docs/a/x', '/home/ada/Docs/b/y'] }, { folder: '/home/ada/Docs' }],
    ['a folder on Windows', { paths: ['C:\\Users\\Ada\\a.md'] }, { folder: 'C:\\Users\\Ada' }],
    ['not the whole disk', { paths: ['/home/x', '/tmp/y'] }, null],
    ['not the top of a disk', { paths: ['/x'] }, null],
    [
      'the host of an address',
      { subject: 'https://example.com/a/b?c', leavesMachine: true },
      { pattern: 'https://example.com/*', folder: null },
    ],
    [
      'not a host that is only said to be one',
      { subject: 'https://example.com@evil.example/', leavesMachine: true },
      { pattern: 'https://example.com@evil.example/' },
    ],
    [
      'the exact command line in its folder',
      { subject: 'git status', runsCode: true, paths: ['/home/ada'] },
      { pattern: 'git status', folder: '/home/ada' },
    ],
    ['nothing for a file that runs later', { subject: 'a/.git/config', runsCode: true, runsLater: true, paths: ['/home/ada/a'] }, null],
    ['nothing for a command that runs what it does not name', { subject: 'node tool', runsCode: true, runsUnnamed: true }, null],
    ['nothing for a call whose subject does not say everything', { subject: 'own', deletes: true, subjectOmits: true }, null],
    ['no command with a star', { subject: 'rm *', runsCode: true }, null],
    ['exactly this, where nothing else is known', { subject: 'bo' }, { pattern: 'bo' }],
    ['nothing for nothing', { subject: '' }, null],
  ])('%s', (_what, given, expected) => {
    const rule = narrowestRuleFor(facts(given), 'agent')
    if (expected === null) expect(rule).toBeNull()
    else expect(rule).toMatchObject({ effect: 'allow', tool: 't', agentId: 'agent', ...expected })
  })
})
