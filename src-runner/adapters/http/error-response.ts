import { createMessage } from '../../lib/messages.ts'
import { describeDatabaseTrouble } from '../../platform/db/database-errors.ts'
import { SKILL_FAILURES, type ErrorBody } from '../../contract/errors.ts'
import { AppError } from '../../lib/errors.ts'

/** Turns any thrown value into an AppError, whose code decides the status. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const { code, statusCode } = (thrown ?? {}) as { code?: unknown; statusCode?: unknown }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new AppError('payload_too_large')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return notJson()
  // An incomplete or malformed body, such as a wrong Content-Length or a bad chunk.
  if (statusCode === 400) return new AppError('invalid_request', createMessage('request_unreadable'), { cause: thrown })
  const trouble = describeDatabaseTrouble(thrown)
  return trouble instanceof AppError ? trouble : new AppError('internal', undefined, { cause: thrown })
}

export function notJson(): AppError {
  return new AppError('unsupported_media_type')
}

export function errorBody(error: AppError): ErrorBody {
  const { code, message, detail, issues } = error
  return {
    ...(SKILL_FAILURES.includes(code) ? { ok: false } : {}),
    error: code,
    message,
    detail,
    ...(issues === undefined ? {} : { issues }),
  }
}
