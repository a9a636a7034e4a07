import type { Message } from '../../src-runner/contract/messages.ts'
import { renderMessage } from '../../resources/locales/translate.ts'
import { visibleText } from './visible-text.ts'
import { t } from './language.ts'

/** A message of the runner in the language of the page; empty when there is none. */
export function messageText(message: Message | null | undefined): string {
  return message ? visibleText(renderMessage(t, message)) : ''
}
