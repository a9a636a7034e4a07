import fc from 'fast-check'
import { expect, it } from 'vitest'
import { transact } from '../../platform/db/database.ts'
import { isTerminal } from '../../contract/jobs.ts'
import { NO_TAINTS } from '../../contract/rules.ts'
import { AppError, StaleClaimError } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { openDomainRig, replyOf } from '../../testing/domain-rig.ts'
import { walkRuns } from '../../testing/walk-runs.ts'
import type { Claim } from '../jobs/claim-job.ts'
import { createApprovals } from './approvals.ts'

const HOUR = 3_600_000

/** What can happen to a job and to what it asks, in any order. Numbers choose among the calls, the claims and the approvals. */
const Happening = fc.oneof(
  fc.record({ do: fc.constant('claim' as const), n: fc.nat(2) }),
  fc.record({
    do: fc.constant('ask' as const),
    n: fc.nat(9),
    call: fc.nat(2),
    kind: fc.constantFrom('tool', 'unknown_outcome', 'question', 'budget'),
  }),
  fc.record({ do: fc.constant('sleep' as const), n: fc.nat(9) }),
  fc.record({ do: fc.constant('complete' as const), n: fc.nat(9) }),
  fc.record({ do: fc.constantFrom('approve' as const, 'reject' as const), n: fc.nat(9) }),
  fc.record({ do: fc.constant('cancel' as const), n: fc.nat(2) }),
  fc.record({ do: fc.constant('pass' as const), n: fc.nat(30) }),
  fc.record({ do: fc.constant('crash' as const), n: fc.nat(0) }),
)

it('answers each approval once, keeps no job waiting without one, and keeps none after its job has ended', () => {
  fc.assert(
    fc.property(fc.array(Happening, { minLength: 5, maxLength: 60 }), (happenings) => {
      const rig = openDomainRig()
      try {
        const agent = rig.addAgent('Ada')
        const jobs = [0, 1, 2].map(
          () => transact(rig.db, (tx) => rig.store.enqueue(tx, { agentId: agent.id, channel: 'api', task: 'Go' })).id,
        )
        const claims: Claim[] = []
        const ids: string[] = []
        const closed = new Map<string, string>()
        const approvals = () => createApprovals({ clock: rig.clock, ids: rig.ids, jobs: rig.store })
        const tolerate = (work: () => void) => {
          try {
            work()
          } catch (thrown) {
            if (!(thrown instanceof StaleClaimError || thrown instanceof AppError)) throw thrown
          }
        }
        const act = (one: (typeof happenings)[number]): void => {
          const claim = claims.length === 0 ? undefined : claims[one.n % claims.length]!
          switch (one.do) {
            case 'claim': {
              const claimed = transact(rig.db, (tx) => rig.store.claim(tx, jobs[one.n]!, 3))
              if (claimed !== null) claims.push(claimed.claim)
              return
            }
            case 'ask': {
              if (claim === undefined) return
              const call = { callId: `c${one.call}`, tool: 'send' }
              const asked = {
                tool: { kind: 'tool', ...call, facts: FACTS, decision: DECISION, alwaysRule: null, mayRemember: ['once' as const] },
                question: { kind: 'question', ...call, question: { text: 'Which?', choices: [] } },
                unknown_outcome: { kind: 'unknown_outcome', ...call },
                budget: { kind: 'budget', budget: { scope: 'job', limitUsd: 1, spentUsd: 1, extensionUsd: 1 } },
              } as const
              const args = one.kind === 'budget' ? { scope: 'job', owner: claim.jobId, period: '' } : { to: 'bo' }
              return tolerate(() => {
                const { kind } = one
                ids.push(
                  transact(rig.db, (tx) =>
                    approvals().ask(tx, claim, { ...asked[kind], mayRemember: ['once'], args, taints: NO_TAINTS } as never),
                  ),
                )
              })
            }
            case 'sleep':
              // As the loop does: it waits only when something is asked that nobody has answered, or was a moment ago.
              if (claim === undefined || approvals().listPendingOf(rig.db, claim.jobId).length === 0) return
              return tolerate(
                () => void transact(rig.db, (tx) => rig.store.settle(tx, claim, { kind: 'waiting', status: 'awaiting_approval' })),
              )
            case 'complete':
              if (claim === undefined) return
              return tolerate(
                () => void transact(rig.db, (tx) => rig.store.settle(tx, claim, { kind: 'completed', text: 'x' }, replyOf('x'))),
              )
            case 'approve':
            case 'reject': {
              const approvalId = ids[one.n % Math.max(1, ids.length)]
              if (approvalId === undefined) return
              return tolerate(() => {
                transact(rig.db, (tx) =>
                  approvals().answer(tx, {
                    approvalId,
                    decision: one.do === 'approve' ? 'approve' : 'reject',
                    remember: 'once',
                    answer: 'happened',
                  }),
                )
                expect(closed.has(approvalId)).toBe(false)
              })
            }
            case 'cancel':
              return tolerate(() => void transact(rig.db, (tx) => rig.store.cancel(tx, jobs[one.n]!)))
            case 'pass':
              rig.clock.advance(one.n * HOUR)
              return void transact(rig.db, (tx) => approvals().expireDue(tx))
            case 'crash':
              rig.reboot()
              return void transact(rig.db, (tx) => rig.store.rescue(tx))
          }
        }
        for (const one of happenings) {
          act(one)
          const store = approvals()
          for (const id of ids) {
            const { status } = store.get(rig.db, id)
            // What was answered, expired or withdrawn stays so.
            if (closed.has(id)) expect(status).toBe(closed.get(id))
            if (status !== 'pending') closed.set(id, status)
          }
          for (const id of jobs) {
            const { status } = rig.store.getJob(rig.db, id)
            const pending = store.listPendingOf(rig.db, id)
            if (isTerminal(status)) expect(pending).toEqual([])
            if (status === 'awaiting_approval') expect(pending.length).toBeGreaterThan(0)
            expect(new Set(pending.map(({ callId }) => callId)).size).toBe(pending.length)
          }
        }
      } finally {
        rig.close()
      }
    }),
    { numRuns: walkRuns(60) },
  )
})

const FACTS = {
  tool: 'send',
  effect: 'once',
  subject: 'bo',
  paths: [],
  summary: 'Send',
  leavesMachine: true,
  costsMoney: false,
  deletes: false,
  overwrites: false,
  runsCode: false,
} as const
const ENTRY = { source: 'level', verdict: 'ask', ruleId: null, reason: createMessage('policy_asks_first') } as const
const DECISION = { verdict: 'ask', decidedBy: ENTRY, overruled: [] } as const
