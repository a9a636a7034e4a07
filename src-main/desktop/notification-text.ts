import type { Notification } from '../../src-runner/contract/port.ts'
import { renderMessage } from '../../resources/locales/translate.ts'
import { oneLine } from './one-line.ts'
import type { Speech } from './language.ts'

/** Notifications also appear on locked screens. */
const TITLE_CHARS = 80
const BODY_CHARS = 200

/** A notification in the language of the page. */
export function notificationText({ title, body }: Notification, { t }: Speech): { title: string; body: string } {
  return { title: oneLine(renderMessage(t, title), TITLE_CHARS), body: body === null ? '' : oneLine(renderMessage(t, body), BODY_CHARS) }
}
