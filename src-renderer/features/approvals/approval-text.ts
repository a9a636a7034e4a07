import type { Message } from '../../../src-runner/contract/messages.ts'
import type { Approval } from '../../../src-runner/contract/approvals.ts'
import type { CallFacts } from '../../../src-runner/contract/rules.ts'
import { lookAlikesIn } from '../../../resources/locales/look-alikes.ts'
import { moneyText } from '../../../resources/locales/numbers.ts'
import { t } from '../../lib/language.ts'
import { messageText } from '../../lib/message-text.ts'
import { visibleText } from '../../lib/visible-text.ts'

type Asked = Pick<Approval, 'kind' | 'agentName' | 'tool' | 'facts' | 'question' | 'budget'>

/** An approval in one line: the effect of the call, the question, or the limit. */
export function headlineOf(approval: Asked): string {
  switch (approval.kind) {
    case 'question':
      if (approval.question?.server !== undefined)
        return t('approvals.serverAsksText', { server: approval.question.server, text: approval.question.text })
      return approval.question?.text ?? t('approvals.wants.question', { agent: approval.agentName })
    case 'budget':
      return approval.budget === null
        ? t('approvals.wants.budget', { agent: approval.agentName })
        : t(`approvals.budgetOf.${approval.budget.scope}`)
    case 'tool':
    case 'unknown_outcome':
      return (
        (approval.facts !== null && effectText(approval.facts)) || t('approvals.useTool', { tool: approval.tool ?? t('common.unknown') })
      )
  }
}

/** The same for the head of a card, which shows the command separately. */
export function sentenceOf(approval: Approval): string {
  if (approval.question?.server !== undefined) return t('approvals.serverAsks', { server: approval.question.server })
  const effect = approval.facts === null ? undefined : runOf(approval.facts)
  if (commandOf(approval) === null || effect === undefined) return headlineOf(approval)
  const { folder, shell } = effect.params as Record<string, string>
  return effect.code === 'effect_run'
    ? t('approvals.runIn', { folder: folder! })
    : t('approvals.runShellIn', { folder: folder!, shell: shell! })
}

/** The effect of a call in one line. */
export function effectText({ effectOn, summary }: Pick<CallFacts, 'effectOn' | 'summary'>): string {
  return effectOn === undefined ? visibleText(summary) : messageText(effectOn)
}

type Run = Extract<Message, { code: 'effect_run' | 'effect_run_shell' }>

function runOf({ effectOn }: CallFacts): Run | undefined {
  const effect = effectOn?.code === 'effect_unsandboxed' ? effectOn.params.effect : effectOn
  return typeof effect === 'object' && 'code' in effect && (effect.code === 'effect_run' || effect.code === 'effect_run_shell')
    ? effect
    : undefined
}

/** The full command line of a call that runs a program, or null. */
export function commandOf({ kind, facts, tool, args }: Pick<Approval, 'kind' | 'facts' | 'tool' | 'args'>): string | null {
  const isCall = kind === 'tool' || kind === 'unknown_outcome'
  // The subject of a coding program's command has other paths.
  if (isCall && tool === 'code_command') {
    const { command } = (args ?? {}) as { command?: unknown }
    return typeof command === 'string' ? command : null
  }
  return isCall && facts?.argv !== undefined ? facts.subject : null
}

/** The name of the coding program that wants to do it, or null. */
export function programOf({ tool, facts }: Pick<Approval, 'tool' | 'facts'>): string | null {
  if (!tool?.startsWith('code_') || facts?.effectOn === undefined) return null
  const { program } = facts.effectOn.params as { program?: unknown }
  return typeof program === 'string' ? program : null
}

/** Whether the head of the card contains all arguments. */
export function headContainsArguments(approval: Approval): boolean {
  const { args, facts } = approval
  if (typeof args !== 'object' || args === null) return args === null || args === undefined
  // Of the arguments for a server's tool, the sentence may have the beginning only, and another value may be quoted in it.
  if (facts?.effectOn?.code === 'effect_mcp' && facts.effectOn.params.args !== facts.subject) return false
  const sentence = sentenceOf(approval)
  return Object.values(args).every((value) => typeof value === 'string' && sentence.includes(value))
}

export type Risk = { text: string; /** Worth a second look. */ isHigh: boolean }

/** Warnings of what can look like something else, as every surface shows them. */
export function lookAlikesOf({ kind, facts, args, question }: Approval): string[] {
  return kind === 'budget' ? [] : lookAlikesIn([facts?.subject, facts?.paths, args, question?.url]).map(messageText)
}

/** The worst risk of a call, or null when the headline already says everything. */
export function riskOf(approval: Approval, locale: string): Risk | null {
  if (approval.budget !== null) return { text: budgetSentence(approval.budget, locale), isHigh: false }
  if (approval.kind === 'unknown_outcome') return { text: t('approvals.outcomeText'), isHigh: false }
  const { facts, taints } = approval
  if (approval.kind !== 'tool' || facts === null) return null
  const effect = facts.effectOn
  const high = (sentence: string): Risk => ({ text: sentence, isHigh: true })
  const low = (sentence: string): Risk => ({ text: sentence, isHigh: false })
  if (canLeave(facts) && taints.untrusted !== null && taints.private !== null) return high(t('approvals.risk.leak'))
  if (facts.sandboxed === false) {
    const why = effect?.code === 'effect_unsandboxed' ? effect.params.why : null
    const text = typeof why === 'object' && why !== null && 'code' in why ? messageText(why) : ''
    return high(`${t('approvals.risk.unsandboxed')} ${text}`.trim())
  }
  if (facts.runsLater === true) return high(t('approvals.risk.runsLater'))
  const isForGood = effect?.code === 'effect_delete_for_good' || (effect?.code === 'effect_delete' && effect.params.lost === 'yes')
  if (facts.deletes && isForGood) return high(t('approvals.risk.deletesForGood'))
  if (facts.leavesMachine && !facts.runsCode)
    return low(taints.private === null ? t('approvals.risk.leaves') : t('approvals.risk.leavesPrivate'))
  if (facts.deletes) return low(effect?.code === 'effect_delete' ? t('approvals.risk.trash') : t('approvals.risk.deletes'))
  if (facts.overwrites) return low(t('approvals.risk.overwrites'))
  if (facts.runsCode) {
    const held = facts.leavesMachine ? t('approvals.risk.sandboxedWithNetwork') : t('approvals.risk.sandboxed')
    return low(facts.runsUnnamed === true ? `${held} ${t('messages.approval_runs_unnamed')}` : held)
  }
  if (facts.costsMoney) return low(t('approvals.risk.costs'))
  return taints.untrusted === null ? null : low(t('approvals.risk.untrusted'))
}

/** Whether the call can send anything out of the machine. */
function canLeave({ leavesMachine, readsFrom, runsCode, sandboxed }: CallFacts): boolean {
  return leavesMachine || readsFrom !== undefined || (runsCode && sandboxed !== true)
}

/** The outcome of an approval in a few words. */
export function outcomeOf(approval: Pick<Approval, 'kind' | 'status' | 'remember' | 'answer'>): string {
  if (approval.status === 'expired' || approval.status === 'withdrawn') return t(`approvals.done.${approval.status}`)
  const isYes = approval.status === 'approved'
  switch (approval.kind) {
    case 'question':
      return isYes ? t('approvals.done.answeredQuestion') : t('approvals.done.noAnswer')
    case 'unknown_outcome':
      return isYes ? (approval.answer === 'again' ? t('approvals.done.again') : t('approvals.done.happened')) : t('approvals.done.stopped')
    case 'budget':
      return isYes ? t('approvals.done.extended') : t('approvals.done.stopped')
    case 'tool':
      if (!isYes) return t('approvals.done.rejected')
      return { once: t('approvals.done.approvedOnce'), job: t('approvals.done.approvedJob'), always: t('approvals.done.approvedAlways') }[
        approval.remember ?? 'once'
      ]
  }
}

export function budgetSentence(budget: NonNullable<Approval['budget']>, locale: string): string {
  return t(`approvals.budgetText.${budget.scope}`, { spent: moneyText(budget.spentUsd, locale), limit: moneyText(budget.limitUsd, locale) })
}
