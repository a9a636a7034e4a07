import type { Approval } from '../../contract/approvals.ts'
import type { Message } from '../../contract/messages.ts'
import { createMessage, quote } from '../../lib/messages.ts'

/** Menus and notifications show no more of one fact. */
const FACT_CHARS = 200

/** What an approval asks, small enough to be sent with each change. */
export function questionOf({ kind, facts, budget, tool, question }: Approval): Message {
  if (budget !== null) {
    return createMessage(`asked_money_${budget.scope}`, { moreUsd: budget.extensionUsd, limitUsd: budget.limitUsd })
  }
  if (question?.server !== undefined) return createMessage('asked_by_server', { server: question.server, question: cut(question.text) })
  if (question !== null) return quote(cut(question.text))
  if (kind === 'unknown_outcome') return tool === null ? createMessage('asked_any_outcome') : createMessage('asked_outcome', { tool })
  if (facts === null) return quote(tool ?? '')
  return facts.effectOn === undefined ? quote(cut(facts.summary)) : shortened(facts.effectOn)
}

function shortened(effect: Message): Message {
  const params = Object.entries(effect.params).map(([name, param]) => [name, Array.isArray(param) ? param.map(shorten) : shorten(param)])
  return { ...effect, params: Object.fromEntries(params) }
}

function shorten<T>(param: string | T): string | T | Message {
  if (typeof param === 'string') return cut(param)
  return isMessage(param) ? shortened(param) : param
}

function isMessage(param: unknown): param is Message {
  return typeof param === 'object'
}

function cut(text: string): string {
  return text.length <= FACT_CHARS ? text : `${text.slice(0, FACT_CHARS).toWellFormed()}…`
}
