import type { Approval } from '../../contract/approvals.ts'
import type { WaitingApproval } from '../../contract/port.ts'
import { questionOf } from '../../domain/approvals/question-of.ts'
import { isSummaryComplete } from '../../domain/approvals/deciding-facts.ts'
import { inEnglish } from '../../lib/messages.ts'

export const SHOWN_WAITING = 8
const LINE_CHARS = 60
const MAX_CHOICES = 8

/**
 * An approval for a menu. It can be answered there only if the menu shows it completely. It needs the page if its summary was
 * shortened or cleaned, if arguments are left out, or if its job has seen untrusted text.
 */
export function waitingApprovalOf(approval: Approval): WaitingApproval {
  const { id, kind, agentName, question, budget, taints } = approval
  const choices = question?.choices ?? []
  return {
    approvalId: id,
    kind,
    agentName: lineOf(agentName),
    title: questionOf(approval),
    isWhole: budget !== null || (taints.untrusted === null && isShown(approval)),
    choices: choices.length <= MAX_CHOICES && choices.every(fits) ? choices : [],
  }
}

/** A server's words are answered where they are shown as such. */
function isShown(approval: Approval): boolean {
  const { question } = approval
  return question === null ? isCallShown(approval) : question.server === undefined && fits(question.text)
}

function isCallShown(approval: Approval): boolean {
  return approval.facts !== null && fits(approval.facts.summary) && isSummaryComplete(inEnglish, approval)
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
