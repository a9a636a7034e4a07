import type { Message } from '../../src-runner/contract/messages.ts'
import { MessageError } from '../message-error.ts'

/** Deckhand cannot start. Exit code 2: a wrong setting. 1: anything else. A string is for the command line, which is English. */
export class StartError extends MessageError {
  override readonly name = 'StartError'
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, reason: Message | string, options?: ErrorOptions) {
    super(typeof reason === 'string' ? { code: 'quoted', params: { words: reason } } : reason, options)
    if (typeof reason === 'string') this.message = reason
    this.exitCode = exitCode
  }
}
