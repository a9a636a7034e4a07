import { isDeepStrictEqual } from 'node:util'
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

/** Whether the summary repeats every argument whole. For a write it only gives the size, so it never does. */
export function isSummaryComplete(t: Translate, { args, facts }: Pick<Approval, 'args' | 'facts'>): boolean {
  if (facts === null || WRITES.has(facts.effectOn?.code ?? '')) return false
  const summary = summaryOf(t, facts)
  // The summary of a long command holds only its beginning, where every later word may occur as well.
  if (facts.argv !== undefined && !summary.includes(facts.subject)) return false
  if (lookAlikesIn([facts.subject, facts.paths, args]).length > 0) return false
  return visible(summary) === summary && hasEach(summary, partsOf(args, facts))
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
  const text = valueText(value)
  return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Each argument as a summary that is not cut repeats it. */
function partsOf(args: unknown, { subject, argv, effectOn }: CallFacts): string[] {
  if (effectOn?.code === 'effect_mcp') return [subject]
  const given = typeof args === 'object' && args !== null ? Object.values(args) : []
  return given.map((value) => (isDeepStrictEqual(value, argv) ? subject : valueText(value)))
}

/** Whether the text has each part in a place of its own: a part that is left out may occur inside a longer one. */
function hasEach(text: string, parts: readonly string[]): boolean {
  let rest = text
  for (const part of parts.toSorted((a, b) => b.length - a.length)) {
    if (!rest.includes(part)) return false
    rest = rest.replace(part, '\0')
  }
  return true
}

/** What cannot be seen, looks like nothing, or changes the direction of writing. An emoji may choose its look. */
const HIDDEN = /[^\P{C}\n\t]|(?!(?<=[\p{Extended_Pictographic}\d#*])\ufe0f)[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

function visible(text: string): string {
  return text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}
