/** Deckhand cannot start. Exit code 2: a wrong setting. 1: anything else. */
export class StartError extends Error {
  override readonly name = 'StartError'
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
