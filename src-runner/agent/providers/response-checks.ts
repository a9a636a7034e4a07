import { createMessage } from '../../lib/messages.ts'
import { type FailureContext, failure, failureFromStatus, failureFromStreamError, ModelCallError } from './failures.ts'
import { readText } from './get-json.ts'
import type { ModelFailure } from './model.ts'
import type { ResponseWatch } from './response-timeouts.ts'

const MAX_ERROR_BODY_BYTES = 65_536
/** No model sends this much: a longer stream is cut off. */
const MAX_REPLY_BYTES = 67_108_864

/** Throws ModelCallError if the response is an error, a redirect, or not from a model server. */
export async function refuseUnusable(response: Response, context: FailureContext, expected: readonly string[]): Promise<void> {
  if (!response.ok) {
    const body = await readText(response, MAX_ERROR_BODY_BYTES)
    throw new ModelCallError(failureFromStatus(context, response.status, response.headers, body))
  }
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  // Some servers send a stream with no type or a vague one.
  if (expected.includes(type) || ['', 'application/octet-stream', 'text/plain'].includes(type)) return
  const body = await readText(response, MAX_ERROR_BODY_BYTES)
  const inBody = type === 'application/json' ? errorInBody(body, response, context) : null
  if (inBody !== null) throw new ModelCallError(inBody)
  const provider = context.providerName
  const isPage = type === 'text/html'
  const problem = isPage
    ? createMessage('model_no_model_server', { provider })
    : createMessage('model_wrong_answer', { provider, type: type.slice(0, 80) })
  throw new ModelCallError(failure('bad_answer', problem, { status: response.status, retryable: !isPage }))
}

/** Some gateways report an error with status 200. */
function errorInBody(body: string, { status }: Response, context: FailureContext): ModelFailure | null {
  try {
    const parsed = JSON.parse(body) as { error?: unknown } | null
    return parsed?.error ? { ...failureFromStreamError(context, parsed), status } : null
  } catch {
    return null
  }
}

/** Tells the watch of each piece, and throws ModelCallError if there are too many. */
export function countBytes(watch: ResponseWatch, context: FailureContext): (count: number) => void {
  let bytes = 0
  return (count) => {
    watch.touch()
    bytes += count
    if (bytes > MAX_REPLY_BYTES) throw endlessReply(context)
  }
}

export function endlessReply({ providerName }: FailureContext): ModelCallError {
  return new ModelCallError(failure('bad_answer', createMessage('model_endless', { provider: providerName }), { retryable: false }))
}
