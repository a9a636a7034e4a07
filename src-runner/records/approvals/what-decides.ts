import type { Approval } from '../../contract/approvals.ts'
import type { Marks } from '../../contract/rules.ts'

/** What is asked, as far as it decides. */
type DecidingApproval = Pick<Approval, 'kind' | 'tool' | 'args' | 'facts' | 'question' | 'marks'>

/**
 * Whether everything that decides is in these words, so that a person who has read nothing else may approve. The one test
 * for every place that offers to: a menu, a notification, a chat with what is attached to the message.
 */
export function isShownWhole(approval: DecidingApproval, shown: string): boolean {
  const warning = warningOf(approval.marks)
  if (warning !== null && approval.kind !== 'budget' && !shown.includes(warning)) return false
  switch (approval.kind) {
    case 'budget':
      return true
    case 'question':
      return approval.question !== null && shown.includes(approval.question.text)
    case 'tool':
    case 'unknown_outcome':
      return shown.includes(isSaidBySummary(approval) ? approval.facts!.summary : callText(approval))
  }
}

/** The whole call, each argument word for word; characters that cannot be seen are written out. */
export function callText({ tool, args, facts }: Pick<DecidingApproval, 'tool' | 'args' | 'facts'>): string {
  const given = typeof args === 'object' && args !== null ? Object.entries(args) : []
  return visible([facts?.summary ?? '', `Tool: ${tool ?? ''}`, ...given.map(argumentText)].filter((line) => line !== '').join('\n'))
}

/** The summary repeats every argument. Of a file it tells the size, which says nothing of what is written. */
export function isSaidBySummary({ args, facts }: Pick<DecidingApproval, 'args' | 'facts'>): boolean {
  if (facts === null || WRITES.has(facts.effectOn?.code ?? '')) return false
  // Of a long command it has the beginning alone, and every later word may occur there too.
  if (facts.argv !== undefined && !facts.summary.includes(facts.subject)) return false
  return visible(facts.summary) === facts.summary && textsIn(args).every((part) => facts.summary.includes(part))
}

const WRITES = new Set(['create', 'replace', 'change'])

/** What a person has to know beside the call; null: nothing. */
export function warningOf({ untrusted }: Marks): string | null {
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
