import type { Database } from '../base/db/database.ts'
import { commitSoon } from '../base/db/transact.ts'
import type { Approval } from '../contract/approvals.ts'
import { NO_MARKS } from '../contract/rules.ts'
import type { ApprovalStore } from '../records/approvals/approvals.ts'
import type { Cap } from '../records/budgets/caps.ts'
import type { Ledger } from '../records/budgets/ledger.ts'
import { LostClaim, type Claim } from '../records/jobs/claim.ts'
import { toUsd } from '../records/micros.ts'
import { ClaimLost, type Money, type Reserved } from '../thinking/loop/loop-types.ts'

/** The purse of one attempt. A cap that is reached is asked about; a job fails only when nobody adds to it. */
export function createMoney({ db, approvals, ledger }: { db: Database; approvals: ApprovalStore; ledger: Ledger }, claim: Claim): Money {
  return {
    async reserve(estimateMicros, unrecordedMicros, signal): Promise<Reserved> {
      const answered = approvals.findLatestBudget(db, claim.seq)
      if (answered?.status === 'rejected' || answered?.status === 'expired') return { reserved: false, refused: refusalOf(answered) }
      const { over } = await ledger.reserve(claim.jobId, { estimateMicros, unrecordedMicros }, signal)
      if (over === null) return { reserved: true }
      await askForMore(over)
      return { reserved: false, wait: 'awaiting_approval' }
    },
    settle: () => ledger.settle(claim.jobId),
  }

  async function askForMore({ scope, owner, period, baseMicros, limitMicros, spentMicros }: Cap): Promise<void> {
    const budget = { scope, limitUsd: toUsd(limitMicros), spentUsd: toUsd(spentMicros), extensionUsd: toUsd(baseMicros) }
    const marks = NO_MARKS
    try {
      await commitSoon(db, (tx) => void approvals.ask(tx, claim, { kind: 'budget', args: { scope, owner, period }, budget, marks }))
    } catch (thrown) {
      throw thrown instanceof LostClaim ? new ClaimLost(thrown.message) : thrown
    }
  }
}

const WHOSE = {
  job: 'The job reached its limit of',
  agent_day: "The agent reached today's limit of",
  agent_month: "The agent reached this month's limit of",
  app_day: "All agents together reached today's limit of",
} as const

function refusalOf({ budget, status, note }: Approval): string {
  const { scope, limitUsd } = budget!
  const why = status === 'expired' ? 'nobody said whether it may spend more' : 'it may not spend more'
  return `${WHOSE[scope]} $${limitUsd.toFixed(2)}, and ${why}.${note === null || note === '' ? '' : ` ${note}`}`
}
