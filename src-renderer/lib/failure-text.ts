import type { Message } from '../../src-runner/contract/messages.ts'
import { messageText } from './message-text.ts'

/** An error with a message, shown in the language of the page. */
export class MessageError extends Error {
  override readonly name = 'MessageError'
  readonly detail: Message

  constructor(detail: Message) {
    super(detail.code)
    this.detail = detail
  }
}

/** What was thrown, in the language of the page. */
export function failureText(thrown: unknown): string {
  if (thrown instanceof MessageError) return messageText(thrown.detail)
  return thrown instanceof Error ? thrown.message : String(thrown)
}
