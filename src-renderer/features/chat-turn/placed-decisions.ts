import type { Approval } from '../../../src-runner/contract/approvals.ts'
import type { TurnItem } from './turn.ts'

export type TurnRow = TurnItem | { kind: 'decision'; key: string; approval: Approval }

/** Places each approval once: under its call, or at the end when it has none or the call is not known yet. */
export function withDecisions(items: readonly TurnItem[], approvals: readonly Approval[]): TurnRow[] {
  const placed = new Set<string>()
  const rowOf = (approval: Approval): TurnRow => ({ kind: 'decision', key: `decision:${approval.id}`, approval })
  const rows = items.flatMap((item): TurnRow[] => {
    const own = approvals.filter((approval) => !placed.has(approval.id) && isAbout(approval, item))
    for (const { id } of own) placed.add(id)
    return [item, ...own.map(rowOf)]
  })
  return [...rows, ...approvals.filter(({ id }) => !placed.has(id)).map(rowOf)]
}

/** Some providers repeat call ids in each reply: a call with a result from before the approval is another call. */
function isAbout(approval: Approval, item: TurnItem): boolean {
  if (item.kind !== 'tool' || approval.callId !== item.callId) return false
  return item.result === null || item.result.createdAt >= approval.createdAt
}
