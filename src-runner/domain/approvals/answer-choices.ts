import type { Approval, ResolveApproval } from '../../contract/approvals.ts'

export type Choice = { label: string } & Pick<ResolveApproval, 'decision' | 'answer'>

/** The buttons of an approval in their order, which `choose:<approvalId>:<n>` refers to. A question without choices has none. */
export function choicesOf({ kind, question, budget }: Approval): Choice[] {
  switch (kind) {
    case 'tool':
      return [
        { label: 'Approve', decision: 'approve' },
        { label: 'Reject', decision: 'reject' },
      ]
    case 'question':
      return (question?.choices ?? []).map((label) => ({ label, decision: 'approve', answer: label }))
    case 'unknown_outcome':
      return [
        { label: 'It happened', decision: 'approve', answer: 'happened' },
        { label: 'Run it again', decision: 'approve', answer: 'again' },
        { label: 'Stop the job', decision: 'reject' },
      ]
    case 'budget':
      return [
        { label: `Add $${(budget?.extensionUsd ?? 0).toFixed(2)}`, decision: 'approve' },
        { label: 'Stop here', decision: 'reject' },
      ]
  }
}

/** Whether the complete call must be shown before it can be approved. The message of a question or a limit is complete in itself. */
export function needsCompleteCall({ kind }: Pick<Approval, 'kind'>): boolean {
  return kind === 'tool' || kind === 'unknown_outcome'
}
