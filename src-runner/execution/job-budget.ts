import type { Message } from '../contract/messages.ts'
import { createMessage } from '../lib/messages.ts'
import { commitSoon, type Database } from '../platform/db/database.ts'
import type { Approval } from '../contract/approvals.ts'
import { NO_TAINTS } from '../contract/rules.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import type { SpendingLimit } from '../domain/budgets/spending-limits.ts'
import type { Reservations } from '../domain/budgets/reservations.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import { toUsd } from '../lib/micros.ts'
import type { LoopBudget, Reserved } from '../agent/loop/loop-types.ts'

/** At a spending limit the person is asked. The job fails only if the person refuses, or does not answer and it is still reached. */
export function createJobBudget(
  { db, approvals, reservations }: { db: Database; approvals: ApprovalStore; reservations: Reservations },
  claim: Claim,
): LoopBudget {
  return {
    async reserve(estimateMicros, unrecordedMicros, signal): Promise<Reserved> {
      const answered = approvals.findLatestBudget(db, claim.seq)
      if (answered?.status === 'rejected') return { reserved: false, refused: refusalOf(answered) }
      const { over } = await reservations.reserve(claim.jobId, { estimateMicros, unrecordedMicros }, signal)
      if (over === null) return { reserved: true }
      if (answered?.status === 'expired') return { reserved: false, refused: refusalOf(answered) }
      await askForMore(over)
      return { reserved: false, wait: 'awaiting_approval' }
    },
    release: (unrecordedMicros) => reservations.release(claim.jobId, unrecordedMicros),
  }

  async function askForMore({ scope, owner, period, baseMicros, limitMicros, spentMicros }: SpendingLimit): Promise<void> {
    const budget = { scope, limitUsd: toUsd(limitMicros), spentUsd: toUsd(spentMicros), extensionUsd: toUsd(baseMicros) }
    const taints = NO_TAINTS
    await commitSoon(db, (tx) => void approvals.ask(tx, claim, { kind: 'budget', args: { scope, owner, period }, budget, taints }))
  }
}

function refusalOf({ budget, status, note }: Approval): Message {
  const { scope, limitUsd } = budget!
  const why = createMessage(`spent_${scope}_${status === 'expired' ? 'silent' : 'refused'}`, { limitUsd })
  return note === null || note === '' ? why : createMessage('spent_with_note', { why, note })
}
