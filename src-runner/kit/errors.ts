import { ERROR_STATUS, type ErrorCode, type ErrorIssue } from '../contract/errors.ts'

/** The one exception of the product: a code from the contract and a sentence for people. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly issues: ErrorIssue[] | undefined

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; issues?: ErrorIssue[] } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.issues = options.issues
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}

/** For a `default:` that the types say is never reached. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

/** The text of whatever was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
