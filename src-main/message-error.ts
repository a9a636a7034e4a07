import type { Message } from '../src-runner/contract/messages.ts'
import { messageOf } from './log/log.ts'

/** An error with a message for people, who read it in their own language. `message` is for the log. */
export class MessageError extends Error {
  override readonly name: string = 'MessageError'
  readonly detail: Message

  constructor(detail: Message, options?: ErrorOptions) {
    const { code, params } = detail
    const cause = options?.cause === undefined ? '' : `: ${messageOf(options.cause)}`
    super(`${code} ${JSON.stringify(params)}${cause}`, options)
    this.detail = detail
  }
}

/** What was thrown, as a message. The words of the system or a library are quoted. */
export function problemOf(thrown: unknown): Message {
  if (thrown instanceof MessageError) return thrown.detail
  return { code: 'quoted', params: { words: messageOf(thrown) } }
}
