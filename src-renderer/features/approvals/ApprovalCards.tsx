import { createMemo, type JSX } from 'solid-js'
import type { Approval } from '../../../src-runner/contract/approvals.ts'
import { KeyedFor } from '../../ui/KeyedFor.tsx'
import { ApprovalCard } from './ApprovalCard.tsx'

/** Pending approvals, and those that were pending here: an answered card shows its outcome instead of vanishing. */
export function useSeenOpen(approvals: () => readonly Approval[]): () => Approval[] {
  const seen = new Set<string>()
  return createMemo(() => {
    for (const { id, status } of approvals()) if (status === 'pending') seen.add(id)
    return approvals()
      .filter(({ id }) => seen.has(id))
      .toSorted((a, b) => a.createdAt - b.createdAt)
  })
}

/** The approvals of a job as cards. */
export function ApprovalCards(props: { approvals: readonly Approval[] }): JSX.Element {
  const shown = useSeenOpen(() => props.approvals)
  return (
    <div class="my-1 flex flex-col gap-3 empty:hidden">
      <KeyedFor each={shown()} keyOf={(approval) => approval.id}>
        {(approval) => <ApprovalCard approval={approval()} />}
      </KeyedFor>
    </div>
  )
}
