import type { Approval } from '../../src-runner/contract/approvals.ts'
import type { CallFacts } from '../../src-runner/contract/rules.ts'
import { moneyText } from '../kit/numbers.ts'
import type { Words } from '../kit/words/words.ts'
import { effectText, saidIn } from '../kit/words/telling.ts'

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

/** The same at the head of a card, under which the command stands by itself. */
export function sentenceOf(approval: Approval, words: Words, locale: string): string {
  const effect = approval.facts?.effectOn
  if (commandOf(approval) === null || effect?.code !== 'run') return headlineOf(approval, words, locale)
  return effect.shell === null ? words.approvals.runIn(effect.folder) : words.approvals.runShellIn(effect.folder, effect.shell)
}

/** The whole command line of a call that runs a program. */
export function commandOf({ kind, facts }: Pick<Approval, 'kind' | 'facts'>): string | null {
  const isCall = kind === 'tool' || kind === 'unknown_outcome'
  return isCall && facts?.argv !== undefined ? facts.subject : null
}

/** Whether the head of the card says all that the arguments say. */
export function isSaidWhole(approval: Approval, words: Words, locale: string): boolean {
  const { args } = approval
  if (typeof args !== 'object' || args === null) return args === null || args === undefined
  const sentence = sentenceOf(approval, words, locale)
  return Object.values(args).every((value) => typeof value === 'string' && sentence.includes(value))
}

export type Risk = { text: string; /** Worth a second look. */ isHigh: boolean }

/** What is risky about a call, the worst alone. null: nothing that the sentence above does not say. */
export function riskOf(approval: Approval, words: Words, locale: string): Risk | null {
  const text = words.approvals.risk
  if (approval.budget !== null) return { text: budgetSentence(approval.budget, words, locale), isHigh: false }
  if (approval.kind === 'unknown_outcome') return { text: words.approvals.outcomeText, isHigh: false }
  const { facts, marks } = approval
  if (approval.kind !== 'tool' || facts === null) return null
  const effect = facts.effectOn
  const high = (sentence: string): Risk => ({ text: sentence, isHigh: true })
  const low = (sentence: string): Risk => ({ text: sentence, isHigh: false })
  if (canLeave(facts) && marks.untrusted !== null && marks.private !== null) return high(text.leak)
  if (facts.boxed === false) {
    const why = effect?.code === 'run' && effect.why !== undefined ? saidIn(words, '', effect.why) : ''
    return high(`${text.unboxed} ${why}`.trim())
  }
  if (facts.runsLater === true) return high(text.runsLater)
  if (facts.deletes && effect?.code === 'delete' && (effect.forGood || effect.lost)) return high(text.deletesForGood)
  if (facts.leavesMachine && !facts.runsCode) return low(marks.private === null ? text.leaves : text.leavesPrivate)
  if (facts.deletes) return low(effect?.code === 'delete' ? text.trash : text.deletes)
  if (facts.overwrites) return low(text.overwrites)
  if (facts.runsCode) return low(facts.leavesMachine ? text.boxedWithNetwork : text.boxed)
  if (facts.costsMoney) return low(text.costs)
  return marks.untrusted === null ? null : low(text.untrusted)
}

/** Whether anything can leave the machine by this call. */
function canLeave({ leavesMachine, runsCode, boxed }: CallFacts): boolean {
  return leavesMachine || (runsCode && boxed !== true)
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
