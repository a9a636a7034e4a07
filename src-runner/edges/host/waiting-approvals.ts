import type { Approval } from '../../contract/approvals.ts'
import type { WaitingApproval } from '../../contract/port.ts'
import { askedOf } from '../../records/approvals/asked.ts'
import { isShownWhole } from '../../records/approvals/what-decides.ts'

/** How many a menu shows. */
export const SHOWN_WAITING = 8
const LINE_CHARS = 60
const MAX_CHOICES = 8

/**
 * An approval as a menu can show it. What can be answered there is only what can be read there as a whole: a summary
 * that had to be cut or cleaned, arguments that it does not repeat (what is in a file, say), or a job that has seen
 * text of strangers need the page.
 */
export function waitingApprovalOf(approval: Approval): WaitingApproval {
  const { id, kind, agentName, question } = approval
  const text = textOf(approval)
  const choices = question?.choices ?? []
  return {
    approvalId: id,
    kind,
    agentName: lineOf(agentName),
    title: lineOf(text),
    ...askedOf(approval),
    isWhole: fits(text) && isShownWhole(approval, text),
    choices: choices.length <= MAX_CHOICES && choices.every(fits) ? choices : [],
  }
}

function textOf({ kind, question, budget, facts, tool }: Approval): string {
  if (budget !== null) return `Add ${money(budget.extensionUsd)} to ${LIMITS[budget.scope]} of ${money(budget.limitUsd)}`
  if (question !== null) return question.text
  return kind === 'unknown_outcome' ? `Did ${tool ?? 'the call'} take effect?` : (facts?.summary ?? tool ?? 'A call')
}

const LIMITS = {
  job: "the job's limit",
  agent_day: "the agent's daily limit",
  agent_month: "the agent's monthly limit",
  app_day: 'the daily limit',
} as const

/** Whether a menu shows the text as it is. */
function fits(text: string): boolean {
  return text !== '' && lineOf(text) === text
}

function lineOf(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\s]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > LINE_CHARS ? `${characters.slice(0, LINE_CHARS - 1).join('')}…` : line
}

function money(usd: number): string {
  return `$${usd.toFixed(2)}`
}
