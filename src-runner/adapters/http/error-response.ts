import { createMessage } from '../../lib/messages.ts'
import type { ErrorBody } from '../../contract/errors.ts'
import { AppError } from '../../lib/errors.ts'

/** Turns any thrown value into an AppError, whose code decides the status. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const { code, statusCode } = codesOf(thrown)
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new AppError('payload_too_large', 'The body is larger than this route takes.')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return notJson()
  // An incomplete or malformed body, such as a wrong Content-Length or a bad chunk.
  if (statusCode === 400) return new AppError('invalid_request', 'The request could not be read.', { cause: thrown })
  if (code.startsWith('SQLITE_FULL')) return new AppError('disk_full', createMessage('ours_disk_full'), { cause: thrown })
  if (/^SQLITE_(BUSY|LOCKED|IOERR|CANTOPEN|READONLY|CORRUPT|NOTADB)/.test(code)) {
    return new AppError('database_unavailable', createMessage('ours_database'), { cause: thrown })
  }
  return new AppError('internal', 'Something went wrong inside the runner. Its log says what.', { cause: thrown })
}

export function notJson(): AppError {
  return new AppError('unsupported_media_type', 'Send the body as application/json.')
}

export function errorBody(error: AppError): ErrorBody {
  const body: ErrorBody = { error: error.code }
  if (error.message !== '') body.message = error.message
  if (error.detail !== undefined) body.detail = error.detail
  if (error.issues !== undefined) body.issues = error.issues
  return body
}

function codesOf(thrown: unknown): { code: string; statusCode: number | null } {
  if (typeof thrown !== 'object' || thrown === null) return { code: '', statusCode: null }
  const { code, statusCode } = thrown as { code?: unknown; statusCode?: unknown }
  return { code: typeof code === 'string' ? code : '', statusCode: typeof statusCode === 'number' ? statusCode : null }
}
