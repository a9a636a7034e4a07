import type { IncomingMessage, ServerResponse } from 'node:http'
import { describeDatabaseTrouble } from '../../platform/db/database-errors.ts'
import { ERROR_STATUS, type ErrorCode } from '../../contract/errors.ts'
import { MAX_WEBHOOK_BYTES } from '../../contract/triggers.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { DeliveryLog, Refusal } from '../../domain/triggers/delivery-log.ts'
import { isSecretOf } from '../../domain/triggers/secrets.ts'
import type { IndexedTrigger, TriggerIndex } from '../../domain/triggers/trigger-index.ts'
import { isPing, mayBeChallenge } from '../../domain/triggers/sender.ts'
import { PROBE_SLUG } from '../../domain/triggers/triggers.ts'
import { accept, respondOk, respondToChallenge, refuse, refuseAndClose } from './responses.ts'
import type { BodyMemory } from './body-memory.ts'
import { isPlain, readBody, describeUnread } from './delivery-body.ts'
import type { Deliveries, Outcome } from './deliveries.ts'

/** Handles a delivery. Returns false, and does nothing, if the request is no `POST /webhooks/<slug>/<secret>`. */
export type WebhookIntake = (req: IncomingMessage, res: ServerResponse) => boolean

export type WebhookIntakeDeps = {
  clock: Pick<Clock, 'now'>
  log: Log
  deliveryLog: Pick<DeliveryLog, 'addRefusal'>
  index: Pick<TriggerIndex, 'find'>
  deliveries: Pick<Deliveries, 'waitFor' | 'take' | 'findRepeated'>
  memory: BodyMemory
  probe?: (nonce: string) => boolean
}

type RefusedOutcome = Exclude<Refusal['outcome'], 'duplicate' | 'ping'>
type Details = Omit<Refusal, 'status' | 'receivedAt' | 'outcome'>

/** The sender cannot tell the first three apart. */
const CODES: Record<RefusedOutcome, ErrorCode> = {
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

/** Their payload is kept: the sender has proved that it may send. */
const AUTHENTIC = new Set<Refusal['outcome']>(['invalid_json', 'no_agent', 'placeholder_missing', 'job_creation_failed'])

const NO_ROOM_WAIT_MS = 1_000

/**
 * Receives deliveries before any router, so that a path of any length and spelling gets the same response as every other
 * wrong one, and no body is read before its webhook is known.
 */
export function createWebhookIntake(deps: WebhookIntakeDeps): WebhookIntake {
  const { clock, log, deliveryLog, index, deliveries, memory, probe = () => false } = deps

  async function receive(req: IncomingMessage, res: ServerResponse, { slug, secret }: Address): Promise<void> {
    if (slug === PROBE_SLUG && probe(secret)) return respondOk(res, 200)
    const trigger = findOrTurnAway(res, { slug, secret })
    if (trigger === null) return
    const { headers } = req
    const waitMs = deliveries.waitFor(trigger)
    if (waitMs > 0 && !isPing(headers)) {
      const jobId = deliveries.findRepeated(trigger, headers)
      if (jobId === null && !mayBeChallenge(trigger, headers))
        return turnAway(res, trigger, 'rate_limited', describeUnread(trigger, headers), waitMs)
      if (jobId !== null && trigger.signature === null) return repeat(res, trigger, { jobId, ...describeUnread(trigger, headers) })
    }
    if (!isPlain(headers)) return turnAway(res, trigger, 'unsupported_encoding')
    const { body, release } = await readBody(req, { maxBytes: MAX_WEBHOOK_BYTES, memory, webhook: trigger.seq })
    try {
      // It may have changed while the body arrived.
      const now = findOrTurnAway(res, { slug, secret })
      if (now === null) return
      if (typeof body === 'string') return turnAway(res, now, body, {}, NO_ROOM_WAIT_MS)
      respond(res, now, body.length, await deliveries.take(now, { secret, headers, body }))
    } finally {
      release()
    }
  }

  /** The active webhook of an address. null: there is none, and the sender got the response. */
  function findOrTurnAway(res: ServerResponse, { slug, secret }: Address): IndexedTrigger | null {
    const trigger = index.find(slug)
    const isRight = isSecretOf(trigger, secret)
    if (isRight && trigger?.active === true) return trigger
    turnAway(res, trigger, isRight ? 'paused' : 'wrong_secret')
    return null
  }

  function respond(res: ServerResponse, trigger: IndexedTrigger, bytes: number, { taken, read }: Outcome): void {
    if (taken.outcome === 'accepted') return accept(res, taken.jobId)
    const { senderId, eventName, headers, payload } = read
    const known = { senderId, eventName, headers, bytes }
    if (taken.outcome === 'duplicate') return repeat(res, trigger, { jobId: taken.jobId, ...known })
    if (taken.outcome === 'ping') {
      if (taken.challenge === null) respondOk(res, 202)
      else respondToChallenge(res, taken.challenge)
      return note(trigger, taken.challenge === null ? 202 : 200, { outcome: 'ping', ...known, payload })
    }
    const { outcome } = taken
    const details = AUTHENTIC.has(outcome) ? { ...known, payload } : outcome === 'rate_limited' ? known : { bytes }
    turnAway(res, trigger, outcome, details, 'waitMs' in taken ? taken.waitMs : 0)
  }

  /** The sender gets the response of the first time. */
  function repeat(res: ServerResponse, trigger: IndexedTrigger, details: Details & { jobId: string }): void {
    accept(res, details.jobId)
    note(trigger, 202, { outcome: 'duplicate', ...details })
  }

  function turnAway(
    res: ServerResponse,
    trigger: IndexedTrigger | undefined,
    outcome: RefusedOutcome,
    details: Details = {},
    waitMs = 0,
  ): void {
    const code = CODES[outcome]
    if (code === 'request_timeout') refuseAndClose(res, code)
    else refuse(res, code, code === 'rate_limited' || code === 'too_many_deliveries' ? waitMs : undefined)
    note(trigger, ERROR_STATUS[code], { outcome, ...details })
  }

  /** After the response has left, so its time does not tell whether there was something to note. */
  function note(trigger: IndexedTrigger | undefined, status: number, refusal: Details & Pick<Refusal, 'outcome'>): void {
    const receivedAt = clock.now()
    setImmediate(() => {
      if (trigger !== undefined) deliveryLog.addRefusal(trigger, { ...refusal, status, receivedAt })
    })
  }

  /** Nothing was taken. The log gets no part of the address. */
  function fail(res: ServerResponse, thrown: unknown): void {
    const error = describeDatabaseTrouble(thrown)
    log.error({ error }, 'could not take a delivery')
    if (res.headersSent) return void res.destroy()
    refuse(res, error instanceof AppError ? error.code : 'job_creation_failed')
  }

  return (req, res) => {
    const address = addressOf(req)
    if (address === null) return false
    receive(req, res, address).catch((error: unknown) => fail(res, error))
    return true
  }
}

type Address = { slug: string; secret: string }

/** Nothing is decoded, so no other spelling is the same address. */
const ADDRESS = /^\/webhooks\/([^/?#]+)\/([^/?#]+)(?:[?#]|$)/

function addressOf({ method, url }: IncomingMessage): Address | null {
  const found = method === 'POST' ? ADDRESS.exec(url ?? '') : null
  return found === null ? null : { slug: found[1]!, secret: found[2]! }
}
