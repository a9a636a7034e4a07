import type { ServerResponse } from 'node:http'
import { COMMON_HEADERS, fixedBody, JSON_TYPE } from '../../platform/net/fixed-responses.ts'
import { respondUnread } from '../../platform/net/unread-body.ts'
import { ERROR_STATUS, type ErrorCode } from '../../contract/errors.ts'

type FixedResponse = { status: number; headers: string[]; body: string }

const HEADERS = ['content-type', JSON_TYPE, ...COMMON_HEADERS.flat()]

function fixed(status: number, body: string, more: readonly string[] = []): FixedResponse {
  return { status, headers: [...HEADERS, 'content-length', String(Buffer.byteLength(body)), ...more], body }
}

function send(res: ServerResponse, { status, headers, body }: FixedResponse): void {
  respondUnread(res, status, headers, body)
}

/** Made once, so that no two refusals of a code differ by a byte. */
const REFUSALS = new Map<ErrorCode, FixedResponse>()

export function refuse(res: ServerResponse, code: ErrorCode): void {
  let response = REFUSALS.get(code)
  if (response === undefined) REFUSALS.set(code, (response = fixed(ERROR_STATUS[code], fixedBody(code))))
  send(res, response)
}

/** `waitMs`: after which the sender may try again. */
export function refuseForNow(res: ServerResponse, code: ErrorCode, waitMs: number): void {
  send(res, fixed(ERROR_STATUS[code], fixedBody(code), ['retry-after', String(Math.max(1, Math.ceil(waitMs / 1000)))]))
}

/** Does not wait for the rest of the body, which did not come in time. */
export function refuseAndClose(res: ServerResponse, code: ErrorCode): void {
  const { status, headers, body } = fixed(ERROR_STATUS[code], fixedBody(code), ['connection', 'close'])
  res.writeHead(status, headers).end(body)
}

const ACCEPTED_HEADERS = fixed(202, acceptedBody('01234567-0123-0123-0123-0123456789ab')).headers

export function accept(res: ServerResponse, jobId: string): void {
  respondUnread(res, 202, ACCEPTED_HEADERS, acceptedBody(jobId))
}

function acceptedBody(jobId: string): string {
  return `{"ok":true,"jobId":"${jobId}"}`
}

/** https://docs.slack.dev/reference/events/url_verification */
export function respondToChallenge(res: ServerResponse, challenge: string): void {
  send(res, fixed(200, JSON.stringify({ challenge })))
}

export function respondOk(res: ServerResponse, status: number): void {
  send(res, fixed(status, '{"ok":true}'))
}
