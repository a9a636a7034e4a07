import type { ServerResponse } from 'node:http'
import { COMMON_HEADERS, fixedBody, JSON_TYPE } from '../../base/net/fixed-answers.ts'
import { ERROR_STATUS, type ErrorCode } from '../../contract/errors.ts'

type FixedAnswer = { status: number; headers: string[]; body: string }

const HEADERS = ['content-type', JSON_TYPE, ...COMMON_HEADERS.flat()]

function fixed(status: number, body: string, more: readonly string[] = []): FixedAnswer {
  return { status, headers: [...HEADERS, 'content-length', String(Buffer.byteLength(body)), ...more], body }
}

/** Made once: of these, no two may differ by a byte, whatever was wrong. */
const REFUSALS = new Map<ErrorCode, FixedAnswer>()

/** What is left of the body is read and thrown away by Node, within the deadline that the request has. */
export function refuse(res: ServerResponse, code: ErrorCode): void {
  let answer = REFUSALS.get(code)
  if (answer === undefined) REFUSALS.set(code, (answer = fixed(ERROR_STATUS[code], fixedBody(code))))
  res.writeHead(answer.status, answer.headers).end(answer.body)
}

export function refuseForNow(res: ServerResponse, waitMs: number): void {
  const { status, headers, body } = fixed(ERROR_STATUS.rate_limited, fixedBody('rate_limited'), [
    'retry-after',
    String(Math.max(1, Math.ceil(waitMs / 1000))),
  ])
  res.writeHead(status, headers).end(body)
}

const ACCEPTED_HEADERS = fixed(202, acceptedBody('01234567-0123-0123-0123-0123456789ab')).headers

export function accept(res: ServerResponse, jobId: string): void {
  res.writeHead(202, ACCEPTED_HEADERS).end(acceptedBody(jobId))
}

function acceptedBody(jobId: string): string {
  return `{"ok":true,"jobId":"${jobId}"}`
}

export function answerProbe(res: ServerResponse): void {
  const { status, headers, body } = fixed(200, '{"ok":true}')
  res.writeHead(status, headers).end(body)
}
