import type { ServerResponse } from 'node:http'
import { COMMON_HEADERS, fixedBody, JSON_TYPE } from '../../base/net/fixed-answers.ts'
import { answerUnread } from '../../base/net/unread-body.ts'
import { ERROR_STATUS, type ErrorCode } from '../../contract/errors.ts'

type FixedAnswer = { status: number; headers: string[]; body: string }

const HEADERS = ['content-type', JSON_TYPE, ...COMMON_HEADERS.flat()]

function fixed(status: number, body: string, more: readonly string[] = []): FixedAnswer {
  return { status, headers: [...HEADERS, 'content-length', String(Buffer.byteLength(body)), ...more], body }
}

/** Made once: of these, no two may differ by a byte, whatever was wrong. */
const REFUSALS = new Map<ErrorCode, FixedAnswer>()

export function refuse(res: ServerResponse, code: ErrorCode): void {
  let answer = REFUSALS.get(code)
  if (answer === undefined) REFUSALS.set(code, (answer = fixed(ERROR_STATUS[code], fixedBody(code))))
  answerUnread(res, answer.status, answer.headers, answer.body)
}

/** `waitMs`: after which the sender may come again. */
export function refuseForNow(res: ServerResponse, code: ErrorCode, waitMs: number): void {
  const retryAfter = String(Math.max(1, Math.ceil(waitMs / 1000)))
  const { status, headers, body } = fixed(ERROR_STATUS[code], fixedBody(code), ['retry-after', retryAfter])
  answerUnread(res, status, headers, body)
}

/** The rest of the body is not waited for: it did not come in time. */
export function refuseAndClose(res: ServerResponse, code: ErrorCode): void {
  const { status, headers, body } = fixed(ERROR_STATUS[code], fixedBody(code), ['connection', 'close'])
  res.writeHead(status, headers).end(body)
}

const ACCEPTED_HEADERS = fixed(202, acceptedBody('01234567-0123-0123-0123-0123456789ab')).headers

export function accept(res: ServerResponse, jobId: string): void {
  answerUnread(res, 202, ACCEPTED_HEADERS, acceptedBody(jobId))
}

export function acceptPing(res: ServerResponse): void {
  answerOk(res, 202)
}

/** https://docs.slack.dev/reference/events/url_verification */
export function answerChallenge(res: ServerResponse, challenge: string): void {
  const { status, headers, body } = fixed(200, JSON.stringify({ challenge }))
  answerUnread(res, status, headers, body)
}

function acceptedBody(jobId: string): string {
  return `{"ok":true,"jobId":"${jobId}"}`
}

export function answerProbe(res: ServerResponse): void {
  answerOk(res, 200)
}

function answerOk(res: ServerResponse, status: number): void {
  const { headers, body } = fixed(status, '{"ok":true}')
  answerUnread(res, status, headers, body)
}
