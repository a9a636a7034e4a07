import type { Translate } from '../../../resources/locales/translate.ts'
import type { Approval, ResolveApproval } from '../../contract/approvals.ts'

export type Choice = { label: string } & Pick<ResolveApproval, 'decision' | 'answer'>

/** The buttons of an approval in their order, which `choose:<approvalId>:<n>` refers to. A question without choices has none. */
export function choicesOf(t: Translate, { kind, question, budget }: Approval): Choice[] {
  switch (kind) {
    case 'tool':
      return [
        { label: t('outbound.choice.approve'), decision: 'approve' },
        { label: t('outbound.choice.reject'), decision: 'reject' },
      ]
    case 'question':
      return answersTo(t, question)
    case 'unknown_outcome':
      return [
        { label: t('outbound.choice.happened'), decision: 'approve', answer: 'happened' },
        { label: t('outbound.choice.again'), decision: 'approve', answer: 'again' },
        { label: t('outbound.choice.stopJob'), decision: 'reject' },
      ]
    case 'budget':
      return [
        { label: t('outbound.choice.extend', { moreUsd: budget?.extensionUsd ?? 0 }), decision: 'approve' },
        { label: t('outbound.choice.stopBudget'), decision: 'reject' },
      ]
  }
}

function answersTo(t: Translate, question: Approval['question']): Choice[] {
  const yes = (label: string, answer: string): Choice => ({ label, decision: 'approve', answer })
  const none: Choice = { label: t('outbound.choice.noAnswer'), decision: 'reject' }
  if (question?.form === 'yes_no') return [yes(t('outbound.choice.yes'), 'yes'), yes(t('outbound.choice.no'), 'no'), none]
  if (question?.form === 'done') return [yes(t('outbound.choice.done'), 'done'), none]
  return (question?.choices ?? []).map((label) => yes(label, label))
}

/** Whether the complete call must be shown before it can be approved. The message of a question or a limit is complete in itself. */
export function needsCompleteCall({ kind }: Pick<Approval, 'kind'>): boolean {
  return kind === 'tool' || kind === 'unknown_outcome'
}
