import type { Message } from '../../contract/messages.ts'
import { englishText } from '../../lib/messages.ts'
import type { Approval } from '../../contract/approvals.ts'
import type { JobStatus } from '../../contract/jobs.ts'
import { shortCodeOf } from '../approvals/short-code.ts'
import { callText, isSummaryComplete, isShownCompletely, warningOf } from '../approvals/deciding-facts.ts'

/** What agents write to people over channels, as Markdown. Pure: everything that is said comes in. */

const MOST_PREVIEW_CHARS = 600
const MOST_PREVIEW_LINES = 8
/** A call that needs more than this is attached as a file. */
const MOST_QUOTED_CHARS = 1500
const MOST_BEGINNING_CHARS = 600
const MOST_BUTTON_CHARS = 30
const ATTACHMENT_NAME = 'approval.txt'
const MOST_REASON_CHARS = 300
const MOST_NAME_CHARS = 80

export type EndedJob = {
  status: JobStatus
  agentName: string
  title: string
  result: string | null
  errorMessage: Message | null
}

/** The answer to a message. To strangers nothing is said of why a job failed: that may tell of the owner's machine. */
export function replyText({ status, result, errorMessage }: EndedJob, isOwner: boolean): string {
  const said = result?.trim() ?? ''
  if (status === 'completed') return said === '' ? 'Done. There was nothing to say about it.' : said
  const why = isOwner && errorMessage ? ` ${englishText(errorMessage)}` : ''
  const ending = status === 'cancelled' ? 'This was stopped before it was finished.' : `I could not finish this.${why}`
  return said === '' ? ending : `${said}\n\n_${isOwner ? plain(ending) : ending}_`
}

/** That a webhook's or a schedule's run succeeded. */
export function confirmationText({ agentName, result }: EndedJob, origin: string, link: string): string {
  const lines = firstLines(result ?? '')
  return [`✅ **${nameOf(agentName)}** finished “${nameOf(origin)}”.`, ...(lines === '' ? [] : [lines]), link].join('\n\n')
}

/** A job of somebody who may not decide waits for the owner. */
export const WAITS_FOR_OWNER = 'I have to ask the person I work for before I go on. I will answer here afterwards.'

/** An answer to a guest waits for the owner to read it. */
export const HELD_FOR_OWNER = 'I will show my answer to the person I work for before I send it.'

/** What is said of an approval. */
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

/** What is asked, with the facts in our words, apart from what the agent and others wrote. */
export function approvalText(approval: AskedApproval, link: string): string {
  const { agentName, jobTitle, kind, reason, expiresAt, createdAt } = approval
  const hours = Math.max(1, Math.round((expiresAt - createdAt) / 3_600_000))
  const asked = askedText(approval)
  const again = approval.decision?.decidedBy.source === 'changed' ? [plain(approval.decision.decidedBy.text)] : []
  const warning = kind === 'budget' ? null : warningOf(approval.taints)
  const why = kind === 'tool' && reason.trim() !== '' ? [`It says: ${quoted(cut(reason.trim(), MOST_REASON_CHARS))}`] : []
  return [
    `**${nameOf(agentName)}** ${HEADS[kind]}`,
    ...asked,
    ...again,
    ...(warning === null ? [] : [`⚠️ ${plain(warning)}`]),
    ...why,
    `Job: “${nameOf(jobTitle)}”`,
    `${howToAnswer(approval)} Without an answer it is refused in ${hours} ${hours === 1 ? 'hour' : 'hours'}.`,
    link,
  ].join('\n\n')
}

/** The whole call, where it is too long for the message. */
export function attachmentsFor(approval: AskedApproval): { name: string; text: string }[] {
  if (approval.kind !== 'tool' && approval.kind !== 'unknown_outcome') return []
  const text = isSummaryComplete(approval) ? approval.facts!.summary : callText(approval)
  return text.length <= MOST_QUOTED_CHARS ? [] : [{ name: ATTACHMENT_NAME, text }]
}

/** Whether a person who reads the message and what is attached to it knows everything that decides. */
export function showsEverything(approval: AskedApproval): boolean {
  const attached = attachmentsFor(approval).map(({ text }) => text)
  const own = attached.length > 0 ? attached : [isSummaryComplete(approval) ? approval.facts!.summary : callText(approval)]
  return isShownCompletely(approval, [...own, approval.question?.text ?? '', warningOf(approval.taints) ?? ''].join('\n'))
}

/** A phone cuts the label of a button. */
function choicesText(choices: readonly string[]): string[] {
  if (choices.every((choice) => choice.length <= MOST_BUTTON_CHARS)) return []
  return [choices.map((choice, n) => `${n + 1}. ${plain(choice)}`).join('\n')]
}

const HEADS: Record<Approval['kind'], string> = {
  tool: 'needs your approval.',
  question: 'asks:',
  unknown_outcome: 'does not know whether this happened:',
  budget: 'has reached a limit.',
}

function askedText(approval: AskedApproval): string[] {
  const { kind, question, budget } = approval
  const attached = attachmentsFor(approval)
  switch (kind) {
    case 'tool':
    case 'unknown_outcome':
      return attached.length === 0
        ? [fenced(isSummaryComplete(approval) ? approval.facts!.summary : callText(approval))]
        : [
            fenced(cut(callText(approval), MOST_BEGINNING_CHARS)),
            `This is the beginning. The whole is in the file ${ATTACHMENT_NAME} above.`,
          ]
    case 'question':
      return [question?.text ?? '', ...choicesText(question?.choices ?? [])]
    case 'budget':
      return budget === null
        ? []
        : [
            `It has spent ${dollars(budget.spentUsd)} of the ${dollars(budget.limitUsd)} ${SCOPES[budget.scope]}, and going on may cost more. May it have ${dollars(budget.extensionUsd)} more?`,
          ]
  }
}

const SCOPES: Record<NonNullable<Approval['budget']>['scope'], string> = {
  job: 'for this job',
  agent_day: 'for this agent today',
  agent_month: 'for this agent this month',
  app_day: 'for all agents today',
}

function howToAnswer(approval: AskedApproval): string {
  const { id, kind, question } = approval
  const code = shortCodeOf(id)
  if (kind === 'question') {
    const tap = question !== null && question.choices.length > 0 ? 'Tap an answer, or write' : 'Write'
    return `${tap} \`answer ${code}\` and your words.`
  }
  if (!showsEverything(approval)) return `Tap a button, or write \`reject ${code}\`. To approve it, open Deckhand.`
  return `Tap a button, or write \`approve ${code}\` or \`reject ${code}\`.`
}

/** That a schedule has used up its budget, said once for each of its local days. */
export function exhaustedText(
  { name, agentName, dailyBudgetUsd }: { name: string; agentName: string; dailyBudgetUsd: number },
  link: string,
): string {
  return [
    `⏸ “${nameOf(name)}” of **${nameOf(agentName)}** has used up its budget of ${dollars(dailyBudgetUsd)} for today. It goes on by itself tomorrow.`,
    link,
  ].join('\n\n')
}

/** Where to find it. `screen`: where it is in the window, for a dashboard that has no address to open from elsewhere. */
export function linkTo(base: string | null, { path, screen }: { path: string; screen: string }): string {
  return base === null ? `Details: open Deckhand on your computer, under ${screen}.` : `Details: ${base}${path}`
}

/** The beginning of a result, without half a code block: a fence that was cut open would swallow what follows. */
function firstLines(result: string): string {
  const text = result.trim()
  const lines = text.split('\n')
  const short = cut(lines.slice(0, MOST_PREVIEW_LINES).join('\n').trimEnd(), MOST_PREVIEW_CHARS)
  const shown = lines.length > MOST_PREVIEW_LINES && !short.endsWith('…') ? `${short}\n…` : short
  const isOpen = (shown.match(/^\s*```/gm) ?? []).length % 2 === 1
  return isOpen ? `${shown}\n\`\`\`` : shown
}

function cut(text: string, most: number): string {
  const chars = [...text]
  return chars.length <= most ? text : `${chars.slice(0, most - 1).join('')}…`
}

/** Names and sentences of people on one line, with nothing in them that Markdown would read. */
function nameOf(text: string): string {
  return plain(cut(text.replace(/\s+/g, ' ').trim(), MOST_NAME_CHARS))
}

/** What Markdown reads anywhere in a line. Taints that mean something at its beginning alone are left as they are. */
function plain(text: string): string {
  return text.replace(/[\\`*_[\]<>~]/g, '\\$&')
}

/** Letter by letter, whatever is in it: paths and addresses of others are not to be read as Markdown. */
function fenced(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}\n${text}\n${fence}`
}

function quoted(text: string): string {
  return `\n${text
    .split('\n')
    .map((line) => `> ${plain(line)}`)
    .join('\n')}`
}

function dollars(usd: number): string {
  return `$${usd < 0.01 && usd > 0 ? usd.toFixed(4) : usd.toFixed(2)}`
}
