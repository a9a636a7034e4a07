import type { ErrorBody } from '../../contract/errors.ts'
import { AppError } from '../../kit/errors.ts'
import { saidAs } from '../../kit/said.ts'

/** Every error as an AppError: its code decides the status and what the caller reads. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const { code, statusCode } = codesOf(thrown)
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new AppError('payload_too_large', 'The body is larger than this route takes.')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return notJson()
  // Broken off or dishonest bodies (a Content-Length that does not fit, a bad chunk): nobody reads the answer, but it has one.
  if (statusCode === 400) return new AppError('invalid_request', 'The request could not be read.', { cause: thrown })
  if (code.startsWith('SQLITE_FULL')) return new AppError('disk_full', 'The disk is full. Nothing was changed.', { cause: thrown })
  if (/^SQLITE_(BUSY|LOCKED|IOERR|CANTOPEN|READONLY|CORRUPT|NOTADB)/.test(code)) {
    return new AppError('database_unavailable', 'The database cannot be used right now. Nothing was changed.', { cause: thrown })
  }
  return new AppError('internal', 'Something went wrong inside the runner. Its log says what.', { cause: thrown })
}

export function notJson(): AppError {
  return new AppError('unsupported_media_type', 'Send the body as application/json.')
}

export function errorBody(error: AppError): ErrorBody {
  const body: ErrorBody = { error: error.code }
  if (error.message !== '') body.message = error.message
  Object.assign(body, saidAs('said', error.message))
  if (error.issues !== undefined) body.issues = error.issues.map((issue) => ({ ...issue, ...saidAs('said', issue.message) }))
  return body
}

function codesOf(thrown: unknown): { code: string; statusCode: number | null } {
  if (typeof thrown !== 'object' || thrown === null) return { code: '', statusCode: null }
  const { code, statusCode } = thrown as { code?: unknown; statusCode?: unknown }
  return { code: typeof code === 'string' ? code : '', statusCode: typeof statusCode === 'number' ? statusCode : null }
}
