import { lookAlikesIn } from '../../../resources/locales/look-alikes.ts'
import { renderMessage, type Translate } from '../../../resources/locales/translate.ts'
import type { Approval } from '../../contract/approvals.ts'
import type { Message } from '../../contract/messages.ts'
import type { CallFacts } from '../../contract/rules.ts'
import { createMessage } from '../../lib/messages.ts'

/** The complete call with each argument; invisible characters are escaped. */
export function callText(t: Translate, { tool, args, facts }: Pick<Approval, 'tool' | 'args' | 'facts'>): string {
  const given = typeof args === 'object' && args !== null ? Object.entries(args) : []
  const lines = [summaryOf(t, facts), t('outbound.approval.callTool', { tool: tool ?? '' }), ...given.map(argumentText)]
  return visible(lines.filter((line) => line !== '').join('\n'))
}

/** What the call would do, in the language of `t`; empty if that is not known. */
export function summaryOf(t: Translate, facts: CallFacts | null): string {
  return facts?.effectOn === undefined ? (facts?.summary ?? '') : renderMessage(t, facts.effectOn)
}

/** Whether the summary repeats every argument. For a write it only gives the size, so it never does. */
export function isSummaryComplete(t: Translate, { args, facts }: Pick<Approval, 'args' | 'facts'>): boolean {
  if (facts === null || WRITES.has(facts.effectOn?.code ?? '')) return false
  const summary = summaryOf(t, facts)
  // The summary of a long command holds only its beginning, where every later word may occur as well.
  if (facts.argv !== undefined && !summary.includes(facts.subject)) return false
  if (lookAlikesIn([facts.subject, facts.paths, args]).length > 0) return false
  return visible(summary) === summary && textsIn(args).every((part) => summary.includes(part))
}

const WRITES: ReadonlySet<string> = new Set(['effect_create', 'effect_replace', 'effect_change', 'effect_change_all'])

/** Warnings to show beside the call. */
export function warningsOf({
  args,
  facts,
  taints: { untrusted },
  question,
}: Pick<Approval, 'args' | 'facts' | 'taints' | 'question'>): Message[] {
  const read = untrusted === null ? [] : [createMessage('approval_warning', { cause: untrusted.cause })]
  const open = facts?.runsUnnamed === true ? [createMessage('approval_runs_unnamed')] : []
  return [...read, ...open, ...lookAlikesIn([facts?.subject, facts?.paths, args, question?.url])]
}

function argumentText([name, value]: [string, unknown]): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** What cannot be seen, looks like nothing, or changes the direction of writing. An emoji may choose its look. */
const HIDDEN = /[^\P{C}\n\t]|(?!(?<=[\p{Extended_Pictographic}\d#*])\ufe0f)[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

function visible(text: string): string {
  return text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}
