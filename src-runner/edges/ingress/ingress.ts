import type { IncomingMessage, ServerResponse } from 'node:http'
import { describeDatabaseTrouble } from '../../base/db/database-errors.ts'
import { ERROR_STATUS, type ErrorCode } from '../../contract/errors.ts'
import { MAX_WEBHOOK_BYTES } from '../../contract/triggers.ts'
import { AppError } from '../../kit/errors.ts'
import type { Refusal } from '../../records/triggers/inbox.ts'
import { isSecretOf } from '../../records/triggers/secrets.ts'
import type { KnownTrigger, TriggerIndex } from '../../records/triggers/trigger-index.ts'
import { isPing } from '../../records/triggers/sender.ts'
import { PROBE_SLUG } from '../../records/triggers/triggers.ts'
import { accept, acceptPing, answerChallenge, answerProbe, refuse, refuseAndClose, refuseForNow } from './answers.ts'
import type { BodyRoom } from './body-room.ts'
import { BODY_DEADLINE_MS, isPlain, readBody, readHead, type UnreadBody } from './delivery-body.ts'
import type { Intake, IntakeDeps, Outcome, Received } from './intake.ts'

/**
 * Where deliveries come in: in front of every router, so that a path of any length and spelling gets the one answer that
 * all wrong ones get, and no body is read before it is known whose it is.
 */
export type Ingress = {
  /** false: this is no `POST /webhooks/<slug>/<secret>`, and nothing was done with it. */
  handle(req: IncomingMessage, res: ServerResponse): boolean
}

export type IngressDeps = Pick<IntakeDeps, 'clock' | 'log' | 'inbox'> & {
  index: Pick<TriggerIndex, 'find'>
  intake: Pick<Intake, 'waitFor' | 'take' | 'findRepeated'>
  room: BodyRoom
  /** Whether this is what we ourselves have just sent out to see whether it comes back. */
  probe?: (nonce: string) => boolean
}

/** A repeat and a ping are no refusals to their sender. */
type TurnedAway = Omit<Refusal, 'status' | 'receivedAt' | 'outcome'> & { outcome: Exclude<Refusal['outcome'], 'duplicate' | 'ping'> }

/** What the sender reads of each outcome; three of them are one and the same. */
const CODES: Record<TurnedAway['outcome'], ErrorCode> = {
  wrong_secret: 'not_found',
  paused: 'not_found',
  bad_signature: 'not_found',
  rate_limited: 'rate_limited',
  too_many_at_once: 'too_many_deliveries',
  unsupported_media_type: 'unsupported_media_type',
  unsupported_encoding: 'unsupported_media_type',
  payload_too_large: 'payload_too_large',
  invalid_json: 'invalid_request',
  incomplete: 'request_timeout',
  no_agent: 'trigger_has_no_agent',
  placeholder_missing: 'placeholder_missing',
  job_creation_failed: 'job_creation_failed',
}

/** Whose refusals are written down with all that is known of them: they proved that they may send. */
const AUTHENTIC = new Set<Refusal['outcome']>(['invalid_json', 'no_agent', 'placeholder_missing', 'job_creation_failed'])

/** When a sender that found no room may come again. */
const NO_ROOM_WAIT_MS = 1_000

const UNREAD = { too_large: 'payload_too_large', no_room: 'too_many_at_once', incomplete: 'incomplete' } as const satisfies Record<
  UnreadBody,
  TurnedAway['outcome']
>

/** Stands for no trigger, so that a wrong slug is as much work as a wrong secret. Of it nothing is ever written. */
const NOBODY = { seq: 0, id: '' }

export function createIngress({ clock, log, inbox, index, intake, room, probe = () => false }: IngressDeps): Ingress {
  function handle(req: IncomingMessage, res: ServerResponse): boolean {
    const address = addressOf(req)
    if (address === null) return false
    try {
      admit(req, res, address)
    } catch (error) {
      fail(res, error, null)
    }
    return true
  }

  function admit(req: IncomingMessage, res: ServerResponse, { slug, secret }: Address): void {
    if (slug === PROBE_SLUG && probe(secret)) return answerProbe(res)
    const trigger = index.find(slug)
    const isRight = isSecretOf(trigger, secret)
    if (!isRight || trigger === undefined || !trigger.active) {
      return turnAway(res, trigger ?? NOBODY, { outcome: isRight ? 'paused' : 'wrong_secret' })
    }
    const waitMs = intake.waitFor(trigger)
    if (waitMs > 0 && !isPing(req.headers)) {
      const jobId = intake.findRepeated(trigger, req.headers)
      if (jobId === null) return turnAway(res, trigger, { outcome: 'rate_limited', ...readHead(req.headers) }, waitMs)
      if (trigger.signature === null) return repeat(res, trigger, { jobId, ...readHead(req.headers) })
    }
    if (!isPlain(req.headers)) return turnAway(res, trigger, { outcome: 'unsupported_encoding' })
    const limits = { maxBytes: MAX_WEBHOOK_BYTES, deadlineMs: BODY_DEADLINE_MS, room, webhook: trigger.seq }
    readBody(req, limits, (body, { release }) => {
      if (typeof body !== 'string') return take(res, trigger, { secret, headers: req.headers, body }, release)
      turnAway(res, trigger, { outcome: UNREAD[body] }, NO_ROOM_WAIT_MS)
    })
  }

  function take(res: ServerResponse, trigger: KnownTrigger, received: Received, release: () => void): void {
    const failed = (error: unknown) => {
      release()
      fail(res, error, trigger)
    }
    const answered = (outcome: Outcome) => {
      release()
      try {
        answer(res, trigger, received, outcome)
      } catch (error) {
        fail(res, error, trigger)
      }
    }
    try {
      intake.take(trigger, received, { answered, failed })
    } catch (error) {
      failed(error)
    }
  }

  function answer(res: ServerResponse, trigger: KnownTrigger, received: Received, { taken, read }: Outcome): void {
    if (taken.outcome === 'accepted') return accept(res, taken.jobId)
    const { senderId, eventName, headers, payload } = read
    const known = { senderId, eventName, headers, bytes: received.body.length }
    if (taken.outcome === 'duplicate') return repeat(res, trigger, { jobId: taken.jobId, ...known })
    if (taken.outcome === 'ping') {
      if (taken.challenge === null) acceptPing(res)
      else answerChallenge(res, taken.challenge)
      return note(trigger, taken.challenge === null ? 202 : 200, { outcome: 'ping', ...known, payload })
    }
    const { outcome } = taken
    const shown = AUTHENTIC.has(outcome) ? { ...known, payload } : outcome === 'rate_limited' ? known : { bytes: known.bytes }
    turnAway(res, trigger, { outcome, ...shown }, 'waitMs' in taken ? taken.waitMs : 0)
  }

  /** To its sender a repeat is what it was the first time. */
  function repeat(
    res: ServerResponse,
    trigger: KnownTrigger,
    known: Omit<Refusal, 'status' | 'receivedAt' | 'outcome'> & { jobId: string },
  ): void {
    accept(res, known.jobId)
    note(trigger, 202, { outcome: 'duplicate', ...known })
  }

  /** Answers first: what is noted of it is nobody's business but the owner's. */
  function turnAway(res: ServerResponse, trigger: Pick<KnownTrigger, 'seq' | 'id'>, refusal: TurnedAway, waitMs = 0): void {
    const code = CODES[refusal.outcome]
    if (code === 'rate_limited' || code === 'too_many_deliveries') refuseForNow(res, code, waitMs)
    else if (code === 'request_timeout') refuseAndClose(res, code)
    else refuse(res, code)
    note(trigger, ERROR_STATUS[code], refusal)
  }

  function note(trigger: Pick<KnownTrigger, 'seq' | 'id'>, status: number, refusal: Omit<Refusal, 'status' | 'receivedAt'>): void {
    inbox.refused(trigger, { ...refusal, status, receivedAt: clock.now() })
  }

  /** Nothing was taken. The log learns which trigger, and never the address. */
  function fail(res: ServerResponse, thrown: unknown, trigger: KnownTrigger | null): void {
    const error = describeDatabaseTrouble(thrown)
    log.error({ error, triggerId: trigger?.id }, 'a delivery could not be taken')
    if (res.headersSent) return void res.destroy()
    refuse(res, error instanceof AppError ? error.code : 'job_creation_failed')
  }

  return { handle }
}

type Address = { slug: string; secret: string }

const PREFIX = '/webhooks/'

/** Taken apart as it stands, letter by letter: nothing is decoded, so no other spelling is the same address. */
function addressOf({ method, url }: IncomingMessage): Address | null {
  if (method !== 'POST' || url === undefined || !url.startsWith(PREFIX)) return null
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  const slash = path.indexOf('/', PREFIX.length)
  if (slash <= PREFIX.length || slash === path.length - 1 || path.includes('/', slash + 1)) return null
  return { slug: path.slice(PREFIX.length, slash), secret: path.slice(slash + 1) }
}
