import { renderMessage, type Translate } from '../../../resources/locales/translate.ts'
import type { Approval } from '../../contract/approvals.ts'
import type { JobStatus } from '../../contract/jobs.ts'
import type { Message } from '../../contract/messages.ts'
import { callText, isSummaryComplete, summaryOf, warningsOf } from '../approvals/deciding-facts.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { shortCodeOf } from '../approvals/short-code.ts'

/** What agents write to people over channels, as Markdown, in the language of `t`. */

const MAX_PREVIEW_CHARS = 600
const MAX_PREVIEW_LINES = 8
/** A call that needs more than this is attached as a file. */
const MAX_QUOTED_CHARS = 1500
const MAX_BEGINNING_CHARS = 600
const MAX_BUTTON_CHARS = 30
const ATTACHMENT_NAME = 'approval.txt'
const MAX_REASON_CHARS = 300
const MAX_NAME_CHARS = 80

export type EndedJob = {
  status: JobStatus
  agentName: string
  title: string
  result: string | null
  errorMessage: Message | null
}

/** The reply to a message. Only the owner learns why a job failed, because the reason may reveal something of their machine. */
export function replyText(t: Translate, { status, result, errorMessage }: EndedJob, isOwner: boolean): string {
  const reply = result?.trim() ?? ''
  if (status === 'completed') return reply === '' ? t('outbound.done') : reply
  const why = isOwner && errorMessage ? ` ${renderMessage(t, errorMessage)}` : ''
  const note = status === 'cancelled' ? t('outbound.stopped') : `${t('outbound.failed')}${why}`
  return reply === '' ? note : `${reply}\n\n_${isOwner ? plain(note) : note}_`
}

/** Tells the owner that a run of a webhook or a schedule succeeded. */
export function confirmationText(t: Translate, { agentName, result }: EndedJob, origin: string, link: string): string {
  const lines = firstLines(result ?? '')
  const title = t('outbound.finished', { agent: nameOf(agentName), origin: nameOf(origin) })
  return [title, ...(lines === '' ? [] : [lines]), link].join('\n\n')
}

/** The parts of an approval that its message shows. */
export type AskedApproval = Pick<
  Approval,
  | 'id'
  | 'kind'
  | 'agentName'
  | 'jobTitle'
  | 'reason'
  | 'facts'
  | 'args'
  | 'taints'
  | 'decision'
  | 'question'
  | 'tool'
  | 'budget'
  | 'createdAt'
  | 'expiresAt'
>

/**
 * The question, with the facts in our words and apart from what the agent and others wrote. `hasButtons`: the chat shows the
 * answers as buttons, which WhatsApp does not.
 */
export function approvalText(t: Translate, approval: AskedApproval, link: string, hasButtons = true): string {
  const { agentName, jobTitle, kind, reason, decision, expiresAt, createdAt } = approval
  const hours = Math.max(1, Math.round((expiresAt - createdAt) / 3_600_000))
  const changed = decision?.decidedBy.source === 'changed' ? [plain(renderMessage(t, decision.decidedBy.reason))] : []
  const warnings = kind === 'budget' ? [] : warningsOf(approval)
  const words = kind === 'tool' ? reason.trim() : ''
  return [
    approval.question?.server === undefined
      ? t(`outbound.approval.${kind}`, { agent: nameOf(agentName) })
      : t('outbound.approval.serverQuestion', { agent: nameOf(agentName), server: nameOf(approval.question.server) }),
    ...questionText(t, approval, hasButtons),
    ...changed,
    ...warnings.map((warning) => `⚠️ ${plain(renderMessage(t, warning))}`),
    ...(words === '' ? [] : [`${t('outbound.approval.reason')} ${quoted(cut(words, MAX_REASON_CHARS))}`]),
    t('outbound.approval.job', { title: nameOf(jobTitle) }),
    `${howToAnswer(t, approval, hasButtons)} ${t('outbound.approval.expires', { hours })}`.trim(),
    link,
  ].join('\n\n')
}

/** The complete call as a file, if it is too long for the message. */
export function attachmentsFor(t: Translate, approval: AskedApproval): { name: string; text: string }[] {
  if (approval.kind !== 'tool' && approval.kind !== 'unknown_outcome') return []
  const text = completeText(t, approval)
  return text.length <= MAX_QUOTED_CHARS ? [] : [{ name: ATTACHMENT_NAME, text }]
}

function completeText(t: Translate, approval: AskedApproval): string {
  return isSummaryComplete(t, approval) ? summaryOf(t, approval.facts) : callText(t, approval)
}

/** Whether the message shows each choice with its number. */
export function areNumbered(choices: readonly string[], hasButtons: boolean): boolean {
  return choices.length > 0 && !(hasButtons && choices.every((choice) => choice.length <= MAX_BUTTON_CHARS))
}

/** The choices as text, where no button shows them: a phone cuts its label. */
function choicesText(choices: readonly string[], hasButtons: boolean): string[] {
  if (!areNumbered(choices, hasButtons)) return []
  return [choices.map((choice, n) => `${n + 1}. ${plain(choice)}`).join('\n')]
}

function questionText(t: Translate, approval: AskedApproval, hasButtons: boolean): string[] {
  const { kind, question, budget } = approval
  switch (kind) {
    case 'tool':
    case 'unknown_outcome':
      if (attachmentsFor(t, approval).length === 0) return [fenced(completeText(t, approval))]
      return [fenced(cut(callText(t, approval), MAX_BEGINNING_CHARS)), t('outbound.approval.attached', { file: ATTACHMENT_NAME })]
    case 'question':
      if (question?.server !== undefined) {
        const address = question.url === undefined ? [] : [fenced(question.url)]
        return [quoted(question.text), ...address, ...choicesText(question.choices, hasButtons)]
      }
      return [question?.text ?? '', ...choicesText(question?.choices ?? [], hasButtons)]
    case 'budget': {
      if (budget === null) return []
      const { scope, spentUsd, limitUsd, extensionUsd } = budget
      return [t('outbound.approval.budgetText', { scope, spentUsd, limitUsd, moreUsd: extensionUsd })]
    }
  }
}

function howToAnswer(t: Translate, { id, kind, question }: AskedApproval, hasButtons: boolean): string {
  const code = shortCodeOf(id)
  if (kind !== 'question') return hasButtons ? t('outbound.approval.tapOrWrite', { code }) : t('outbound.approval.write', { code })
  if (question?.form !== undefined) return ''
  if (question?.server !== undefined && question.choices.length === 0) return t('outbound.approval.writeToServer', { code })
  return question === null || question.choices.length === 0 || !hasButtons
    ? t('outbound.approval.writeAnswer', { code })
    : t('outbound.approval.tapOrAnswer', { code })
}

/** That a schedule has reached its spending limit, sent once for each of its local days. */
export function exhaustedText(
  t: Translate,
  { name, agentName, dailyBudgetUsd }: { name: string; agentName: string; dailyBudgetUsd: number },
  link: string,
): string {
  const text = t('outbound.exhausted', { schedule: nameOf(name), agent: nameOf(agentName), limitUsd: dailyBudgetUsd })
  return [text, link].join('\n\n')
}

/** Where the details are. `screen`: where in the window, for a dashboard that cannot be opened from another device. */
export function linkText(
  t: Translate,
  base: string | null,
  { path, screen }: { path: string; screen: 'activity' | 'approvals' | 'automations' },
): string {
  return base === null ? t('outbound.linkInApp', { screen: t(`shell.nav.${screen}`) }) : t('outbound.link', { address: `${base}${path}` })
}

/** The beginning of a result, without half a code block: a fence that was cut open would swallow what follows. */
function firstLines(result: string): string {
  const text = result.trim()
  const lines = text.split('\n')
  const short = cut(lines.slice(0, MAX_PREVIEW_LINES).join('\n').trimEnd(), MAX_PREVIEW_CHARS)
  const shown = lines.length > MAX_PREVIEW_LINES && !short.endsWith('…') ? `${short}\n…` : short
  const isOpen = (shown.match(/^\s*```/gm) ?? []).length % 2 === 1
  return isOpen ? `${shown}\n\`\`\`` : shown
}

function cut(text: string, most: number): string {
  const chars = [...text]
  return chars.length <= most ? text : `${chars.slice(0, most - 1).join('')}…`
}

/** Names and sentences of people on one line, with nothing in them that Markdown would read. */
function nameOf(text: string): string {
  return plain(cut(visibleText(text).replace(/\s+/g, ' ').trim(), MAX_NAME_CHARS))
}

/** What Markdown reads anywhere in a line. Taints that mean something at its beginning alone are left as they are. */
function plain(text: string): string {
  return text.replace(/[\\`*_[\]<>~]/g, '\\$&')
}

/** Escapes Markdown in paths and addresses, which others choose. */
function fenced(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}\n${text}\n${fence}`
}

function quoted(text: string): string {
  return `\n${visibleText(text)
    .split(/[\n\v\f\u2028\u2029]/)
    .map((line) => `> ${plain(line)}`)
    .join('\n')}`
}
