import { SERVICE_NAMES } from '../../src-runner/contract/channels.ts'
import type { NoticeAbout } from '../../src-runner/contract/notifications.ts'
import type { Notice } from '../../src-runner/contract/port.ts'
import { saidIn } from '../../src-renderer/kit/words/telling.ts'
import { askedText } from './asked-text.ts'
import { oneLine } from './one-line.ts'
import type { Speech } from './speech.ts'

/** It appears on screens that are locked. */
const TITLE_CHARS = 80
const BODY_CHARS = 200

/** A notice in the language of the page. */
export function noticeText(notice: Notice, speech: Speech): { title: string; body: string } {
  const { title, body } = notice.about === undefined ? notice : textOf(notice, notice.about, speech)
  return { title: oneLine(title, TITLE_CHARS), body: oneLine(body, BODY_CHARS) }
}

function textOf({ title, body, bodySaid }: Notice, about: NoticeAbout, speech: Speech): { title: string; body: string } {
  const text = speech.words.desktop.notices
  const why = saidIn(speech.words, body, bodySaid)
  switch (about.code) {
    case 'job_failed':
      return { title, body: why }
    case 'job_postponed':
      return { title: text.postponed(about.job), body: why }
    case 'approval':
      return { title: text.approval[about.kind](about.agentName), body: about.asked === undefined ? body : askedText(about.asked, speech) }
    case 'budget_exhausted':
      return { title: text.budgetExhausted(about.schedule), body: text.budgetExhaustedText }
    case 'delivery_impossible':
      return { title: text.notDelivered(about.agentName), body: why }
    case 'channel_logged_out':
      return { title: text.loggedOut(about.agentName, SERVICE_NAMES[about.service]), body: why }
    case 'channel_request':
      return { title: text.request(about.agentName), body: text.requestText(about.person, SERVICE_NAMES[about.service]) }
    case 'public_address_unreachable':
      return { title: about.exposed === true ? text.exposed : text.unreachable, body: why }
    case 'database_trouble': {
      const { title: what, detail, fix } = speech.words.databaseTrouble[about.trouble]
      return { title: what, body: `${detail} ${fix}` }
    }
    case 'several': {
      const parts = about.counts.map(({ kind, count }) => text.counts[kind](count))
      return parts.length === 1 ? { title: parts[0]!, body: text.severalText } : { title: text.several, body: `${parts.join('. ')}.` }
    }
  }
}
