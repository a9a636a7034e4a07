import { createMemo, type JSX } from 'solid-js'
import type { Approval } from '../../src-runner/contract/approvals.ts'
import { KeyedFor } from '../ui/KeyedFor.tsx'
import { ApprovalCard } from './ApprovalCard.tsx'

/** What waits, and what was seen waiting here: an answered card says how it ended instead of vanishing. */
export function ApprovalCards(props: { approvals: readonly Approval[]; withoutReason?: boolean }): JSX.Element {
  const seen = new Map<string, Approval>()
  const shown = createMemo(() => {
    for (const approval of props.approvals) {
      if (approval.status === 'pending' || seen.has(approval.id)) seen.set(approval.id, approval)
    }
    return [...seen.values()].toSorted((a, b) => a.createdAt - b.createdAt)
  })
  return (
    <div class="my-1 flex flex-col gap-3 empty:hidden">
      <KeyedFor each={shown()} keyOf={(approval) => approval.id}>
        {(approval) => <ApprovalCard compact approval={approval()} withoutReason={props.withoutReason} />}
      </KeyedFor>
    </div>
  )
}
