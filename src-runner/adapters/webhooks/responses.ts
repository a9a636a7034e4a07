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

/** `waitMs`: after which the sender may try again. */
export function refuse(res: ServerResponse, code: ErrorCode, waitMs?: number): void {
  const retryAfter = waitMs === undefined ? [] : ['retry-after', String(Math.max(1, Math.ceil(waitMs / 1000)))]
  send(res, fixed(ERROR_STATUS[code], fixedBody(code), retryAfter))
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
