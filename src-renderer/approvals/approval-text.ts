import type { Approval } from '../../src-runner/contract/approvals.ts'
import { moneyText } from '../kit/numbers.ts'
import type { Words } from '../kit/words/words.ts'
import { effectText } from '../kit/words/telling.ts'

type Asked = Pick<Approval, 'kind' | 'agentName' | 'tool' | 'facts' | 'question' | 'budget'>

/** What is to be decided, in one line: the effect in words, the question, the limit. */
export function headlineOf(approval: Asked, words: Words, locale: string): string {
  const text = words.approvals
  switch (approval.kind) {
    case 'question':
      return approval.question?.text ?? text.wants.question(approval.agentName)
    case 'budget':
      return approval.budget === null ? text.wants.budget(approval.agentName) : text.budgetOf[approval.budget.scope]
    case 'tool':
    case 'unknown_outcome':
      return (approval.facts !== null && effectText(approval.facts, words, locale)) || text.useTool(approval.tool ?? words.common.unknown)
  }
}

/** How a decision ended, in a few words. */
export function endingOf(approval: Pick<Approval, 'kind' | 'status' | 'remember' | 'answer'>, words: Words): string {
  const text = words.approvals.done
  if (approval.status === 'expired' || approval.status === 'withdrawn') return text[approval.status]
  const isYes = approval.status === 'approved'
  switch (approval.kind) {
    case 'question':
      return isYes ? text.answeredQuestion : text.noAnswer
    case 'unknown_outcome':
      return isYes ? (approval.answer === 'again' ? text.again : text.happened) : text.stopped
    case 'budget':
      return isYes ? text.extended : text.stopped
    case 'tool':
      if (!isYes) return text.rejected
      return { once: text.approvedOnce, job: text.approvedJob, always: text.approvedAlways }[approval.remember ?? 'once']
  }
}

export function budgetSentence(budget: NonNullable<Approval['budget']>, words: Words, locale: string): string {
  return words.approvals.budgetText[budget.scope](moneyText(budget.spentUsd, locale), moneyText(budget.limitUsd, locale))
}
