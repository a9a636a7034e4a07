import type { Approval } from '../../../src-runner/contract/approvals.ts'
import type { TurnItem } from './turn.ts'

export type TurnRow = TurnItem | { kind: 'decision'; key: string; approval: Approval }

/** Each decision once: under the call that it is about, and at the end while that is not known or where there is none. */
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

/** Some providers number their calls again in each reply: one that was answered before the question is another call. */
function isAbout(approval: Approval, item: TurnItem): boolean {
  if (item.kind !== 'tool' || approval.callId !== item.callId) return false
  return item.result === null || item.result.createdAt >= approval.createdAt
}
