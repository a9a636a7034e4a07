import { ERROR_STATUS, type ErrorCode, type ErrorIssue } from '../contract/errors.ts'
import type { Message } from '../contract/messages.ts'
import { createMessage, englishText, quote } from './messages.ts'

/**
 * The one exception of the product, with a code from the contract. `detail` is shown to people in their language, and in English
 * to callers of the API. Default: the message of the code.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly detail: Message
  readonly issues: ErrorIssue[] | undefined

  constructor(code: ErrorCode, detail: Message = createMessage(`error_${code}`), options: { cause?: unknown; issues?: ErrorIssue[] } = {}) {
    super(englishText(detail), options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.detail = detail
    this.issues = options.issues
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}

/** Another attempt owns this job, or it was cancelled. Nothing was written, and this attempt must end. */
export class StaleClaimError extends Error {
  override readonly name = 'StaleClaimError'

  constructor({ jobId, claim }: { jobId: string; claim: number }) {
    super(`claim ${claim} of job ${jobId} is not the current one`)
  }
}

/** Returns the value, or throws AppError if there is none. */
export function required<T>(value: T | null | undefined, code: ErrorCode): T {
  if (value == null) throw new AppError(code)
  return value
}

/** What is wrong with one field of a request. */
export function issueAt(path: string, detail: Message): ErrorIssue {
  return { path, message: englishText(detail), detail }
}

/** A field of a request does not fit. */
export function invalidAt(path: string, problem: Message, cause?: unknown): AppError {
  return new AppError('invalid_request', problem, { cause, issues: [issueAt(path, problem)] })
}

/** For a `default:` that is unreachable by its type. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

/** What was thrown, as a message. */
export function problemOf(thrown: unknown): Message {
  return thrown instanceof AppError ? thrown.detail : quote(messageOf(thrown))
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
