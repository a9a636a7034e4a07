import type { Approval } from '../../contract/approvals.ts'
import type { WaitingApproval } from '../../contract/port.ts'
import { questionOf } from '../../domain/approvals/question-of.ts'
import { isShownCompletely } from '../../domain/approvals/deciding-facts.ts'

export const SHOWN_WAITING = 8
const LINE_CHARS = 60
const MAX_CHOICES = 8

/**
 * An approval for a menu. It can be answered there only if the menu shows it completely. It needs the page if its summary was
 * shortened or cleaned, if arguments are left out, or if its job has seen untrusted text.
 */
export function waitingApprovalOf(approval: Approval): WaitingApproval {
  const { id, kind, agentName, question } = approval
  const text = textOf(approval)
  const choices = question?.choices ?? []
  return {
    approvalId: id,
    kind,
    agentName: lineOf(agentName),
    title: questionOf(approval),
    isWhole: fits(text) && isShownCompletely(approval, text),
    choices: choices.length <= MAX_CHOICES && choices.every(fits) ? choices : [],
  }
}

/** The text that decides, as `isShownCompletely` expects it. A spending limit is always shown completely. */
function textOf({ question, budget, facts, tool }: Approval): string {
  return budget !== null ? budget.scope : (question?.text ?? facts?.summary ?? tool ?? '')
}

/** Whether a menu shows the text unchanged. */
function fits(text: string): boolean {
  return text !== '' && lineOf(text) === text
}

function lineOf(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\s]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > LINE_CHARS ? `${characters.slice(0, LINE_CHARS - 1).join('')}…` : line
}
