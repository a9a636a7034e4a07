import { GuardedFetchError } from '../../platform/net/guarded-fetch.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Message } from '../../contract/messages.ts'
import { AppError } from '../../lib/errors.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { isMissingFile, isRefusal } from './skill-source.ts'

/** Every expected refusal becomes the error of the route. */
export async function refusing<T>(code: ErrorCode, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    // The routes of own skills have other codes as well.
    const isKept = code === 'skill_refused' && thrown instanceof AppError
    const problem = isKept ? null : problemOf(thrown)
    throw problem === null ? thrown : new AppError(code, problem, { cause: thrown })
  }
}

/** null: it is not about the skill or its source. */
export function problemOf(thrown: unknown): Message | null {
  if (isRefusal(thrown) || thrown instanceof AppError) return thrown.detail
  if (thrown instanceof GuardedFetchError) return quote(thrown.message)
  if (thrown instanceof DOMException && thrown.name === 'TimeoutError') return createMessage('skill_source_slow')
  return isMissingFile(thrown) ? createMessage('skill_source_missing') : null
}
