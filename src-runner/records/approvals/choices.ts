import type { Approval, ResolveApproval } from '../../contract/approvals.ts'

/** One way to answer an approval with a tap. */
export type Choice = { label: string } & Pick<ResolveApproval, 'decision' | 'answer'>

/**
 * The ways to answer with a tap, in the order in which they are shown; their places are what `choose:<approvalId>:<n>` counts.
 * A question without choices has none: it wants words.
 */
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

/** Whether its call has to be seen whole by whoever approves it. A question and a limit are told in the message itself. */
export function needsToBeWhole({ kind }: Pick<Approval, 'kind'>): boolean {
  return kind === 'tool' || kind === 'unknown_outcome'
}
