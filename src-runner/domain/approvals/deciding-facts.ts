import type { Approval } from '../../contract/approvals.ts'
import type { Taints } from '../../contract/rules.ts'

/** The parts of an approval that decide. */
type DecidingApproval = Pick<Approval, 'kind' | 'tool' | 'args' | 'facts' | 'question' | 'taints'>

/**
 * Whether a text shows everything that decides, so that a person who has read nothing else may approve. Every place that
 * offers to approve uses it: a menu, a notification, a chat with its attachments.
 */
export function isShownCompletely(approval: DecidingApproval, shown: string): boolean {
  const warning = warningOf(approval.taints)
  if (warning !== null && approval.kind !== 'budget' && !shown.includes(warning)) return false
  switch (approval.kind) {
    case 'budget':
      return true
    case 'question':
      return approval.question !== null && shown.includes(approval.question.text)
    case 'tool':
    case 'unknown_outcome':
      return shown.includes(isSummaryComplete(approval) ? approval.facts!.summary : callText(approval))
  }
}

/** The complete call with each argument; invisible characters are escaped. */
export function callText({ tool, args, facts }: Pick<DecidingApproval, 'tool' | 'args' | 'facts'>): string {
  const given = typeof args === 'object' && args !== null ? Object.entries(args) : []
  return visible([facts?.summary ?? '', `Tool: ${tool ?? ''}`, ...given.map(argumentText)].filter((line) => line !== '').join('\n'))
}

/** Whether the summary repeats every argument. For a write it only gives the size, so it never does. */
export function isSummaryComplete({ args, facts }: Pick<DecidingApproval, 'args' | 'facts'>): boolean {
  if (facts === null || WRITES.has(facts.effectOn?.code ?? '')) return false
  // The summary of a long command holds only its beginning, where every later word may occur as well.
  if (facts.argv !== undefined && !facts.summary.includes(facts.subject)) return false
  return visible(facts.summary) === facts.summary && textsIn(args).every((part) => facts.summary.includes(part))
}

const WRITES: ReadonlySet<string> = new Set(['effect_create', 'effect_replace', 'effect_change', 'effect_change_all'])

/** A warning to show beside the call, or null. */
export function warningOf({ untrusted }: Taints): string | null {
  return untrusted === null ? null : `This job has read text that anybody may have written: ${untrusted.cause}.`
}

function argumentText([name, value]: [string, unknown]): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function visible(text: string): string {
  return text.replace(/[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}
