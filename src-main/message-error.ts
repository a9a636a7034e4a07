import type { Message } from '../src-runner/contract/messages.ts'

/** An error with a message for people, who read it in their own language. `message` is for the log. */
export class MessageError extends Error {
  override readonly name: string = 'MessageError'
  readonly detail: Message

  constructor(detail: Message, options?: ErrorOptions) {
    const { code, params } = detail
    const cause = options?.cause === undefined ? '' : `: ${options.cause instanceof Error ? options.cause.message : String(options.cause)}`
    super(`${code} ${JSON.stringify(params)}${cause}`, options)
    this.detail = detail
  }
}

/** What was thrown, as a message. The words of the system or a library are quoted. */
export function problemOf(thrown: unknown): Message {
  if (thrown instanceof MessageError) return thrown.detail
  return { code: 'quoted', params: { words: thrown instanceof Error ? thrown.message : String(thrown) } }
}
