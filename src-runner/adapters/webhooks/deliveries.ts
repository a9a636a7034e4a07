import type { IncomingHttpHeaders } from 'node:http'
import { commitSoon, type Database, type Tx } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import { MAX_WEBHOOK_BYTES, type TemplatePreview } from '../../contract/triggers.ts'
import { AppError } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { triggerSignatureKey } from '../../lib/vault.ts'
import { wrapUntrusted, wrappedTaskOf } from '../../domain/jobs/untrusted-content.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import { getReplayable } from '../../domain/triggers/deliveries.ts'
import { countRoom, findOpensAt } from '../../domain/triggers/hourly-limit.ts'
import type { DeliveryLog } from '../../domain/triggers/delivery-log.ts'
import { challengeOf, isPing, MAX_CHALLENGE_BYTES, senderIdOf, type ReceivedHeaders } from '../../domain/triggers/sender.ts'
import { verifySignature } from '../../domain/triggers/signatures/verify-signature.ts'
import {
  acceptDeliveries,
  acceptManualDelivery,
  taskFor,
  type IncomingDelivery,
  type ManualDelivery,
  type ParsedDelivery,
  type AcceptResult,
} from '../../domain/triggers/accept-deliveries.ts'
import { renderTemplate } from '../../domain/triggers/template.ts'
import { readIndexedTrigger, type IndexedTrigger } from '../../domain/triggers/trigger-index.ts'
import { findJobOfSender } from '../../domain/triggers/triggers.sql.ts'
import { describeDelivery, parseBody, withoutSecret } from './delivery-body.ts'
import { createParseQueue } from './parse-queue.ts'

/** `read`: what is known of the delivery by then. */
export type Outcome = {
  taken:
    | AcceptResult
    | { outcome: 'bad_signature' | 'invalid_json' | 'placeholder_missing' | 'job_creation_failed' }
    /** The sender tests its address. `challenge`: what it expects in the response. */
    | { outcome: 'ping'; challenge: string | null }
  read: Partial<ParsedDelivery>
}

/** `secret`: from the address to which the delivery was sent. */
export type Received = { secret: string; headers: IncomingHttpHeaders; body: Buffer }

export type Deliveries = ReturnType<typeof createDeliveries>

export type DeliveriesDeps = Pick<Services, 'db' | 'vault' | 'clock' | 'ids' | 'log' | 'time'> & {
  jobs: Pick<JobStore, 'insertAll'>
  deliveryLog: DeliveryLog
}

const NOT_JSON = createMessage('payload_not_json')
/** The inbox is trimmed after this many accepted deliveries, so it may hold that many more for a moment. */
const TRIM_AFTER = 16
/** Deliveries in one commit. More would block the event loop for too long. */
const LARGEST_GROUP = 64

/** Turns deliveries whose body was read, and those that the person sends, into jobs. */
export function createDeliveries({ db, jobs, vault, clock, ids, log, time, deliveryLog }: DeliveriesDeps) {
  const accepting = { jobs, ids, time, deliveryLog }
  /** Keyed by the trigger as it was read, so a change of the trigger reads the secret again. */
  const signingSecrets = new WeakMap<IndexedTrigger, string>()
  /** From when on each trigger accepts its next delivery, as of its last one. Spares a query per delivery. */
  const openings = new WeakMap<IndexedTrigger, number>()
  const commit = createGroupCommit(db, (tx, arrived) => acceptDeliveries(tx, accepting, arrived))
  const queue = createParseQueue({ waitFor, roomIn: (trigger) => countRoom(db, trigger.seq, time) })

  async function isSigned(trigger: IndexedTrigger, headers: IncomingHttpHeaders, rawBody: Buffer): Promise<boolean> {
    let secret = signingSecrets.get(trigger)
    if (secret === undefined) {
      secret = (await vault.get(triggerSignatureKey(trigger.id))) ?? ''
      signingSecrets.set(trigger, secret)
    }
    return verifySignature(trigger.signature!, { secret, headers, rawBody, nowMs: clock.now() })
  }

  /** Milliseconds until the trigger may accept its next delivery; 0: now. */
  function waitFor(trigger: IndexedTrigger): number {
    const elapsed = time.elapsed()
    if ((openings.get(trigger) ?? Infinity) <= elapsed) return 0
    const opensAt = findOpensAt(db, trigger.seq)
    openings.set(trigger, opensAt)
    return Math.max(0, opensAt - elapsed)
  }

  /** The job of the delivery that this one repeats, from its headers alone; null: none, or the headers do not say. */
  function findRepeated(trigger: IndexedTrigger, headers: IncomingHttpHeaders): string | null {
    const senderId = trigger.dedupe ? senderIdOf(headers, null, trigger.signature) : null
    return senderId === null ? null : findJobOfSender(db, trigger.seq, senderId)
  }

  /** Throws AppError disk_full, database_unavailable or vault_unavailable: nothing was accepted, and it may be sent again. */
  async function take(trigger: IndexedTrigger, received: Received): Promise<Outcome> {
    const { headers, body } = received
    const read: Partial<ParsedDelivery> = { receivedAt: clock.now() }
    if (trigger.signature !== null && !(await isSigned(trigger, headers, body))) return { taken: { outcome: 'bad_signature' }, read }
    const challenge = findChallenge(trigger, received, read)
    if (challenge !== null) return { taken: { outcome: 'ping', challenge }, read }
    const waitMs = await queue.enter(trigger, body.length)
    if (waitMs > 0) {
      Object.assign(read, describeDelivery(trigger, headers))
      if (isPing(headers)) return { taken: { outcome: 'ping', challenge: null }, read }
      const jobId = findRepeated(trigger, headers)
      return { taken: jobId === null ? { outcome: 'rate_limited', waitMs } : { outcome: 'duplicate', jobId }, read }
    }
    try {
      const taken = await parseAndCommit(trigger, received, read)
      if (taken.outcome === 'accepted') {
        openings.set(trigger, taken.opensAt)
        if (taken.count % TRIM_AFTER === 0) deliveryLog.trimLater(trigger.seq)
      }
      return { taken, read }
    } finally {
      queue.leave(trigger)
    }
  }

  async function parseAndCommit(
    trigger: IndexedTrigger,
    { secret, headers, body }: Received,
    read: Partial<ParsedDelivery>,
  ): Promise<Outcome['taken']> {
    const payload = withoutSecret(body, secret)
    const parsed = parseBody(payload)
    Object.assign(read, { payload, ...describeDelivery(trigger, headers, parsed?.payload) })
    if (parsed === null) return { outcome: 'invalid_json' }
    if (isPing(headers)) return { outcome: 'ping', challenge: null }
    if (trigger.agentId === null) return { outcome: 'no_agent' }
    try {
      Object.assign(read, taskFor(trigger.taskTemplate, parsed.payload))
      if (trigger.requirePlaceholders && read.missing!.length > 0) return { outcome: 'placeholder_missing' }
      return await commit({ trigger, delivery: read as ParsedDelivery })
    } catch (error) {
      if (isTemporary(error)) throw error
      log.error({ error, triggerId: trigger.id }, 'could not create a job for a delivery')
      return { outcome: 'job_creation_failed' }
    }
  }

  async function takeManual(triggerId: string, sent: Pick<ManualDelivery, 'kind' | 'replayOfId' | 'payload'>, headers: ReceivedHeaders) {
    const trigger = readIndexedTrigger(db, triggerId)
    if (trigger === null) throw new AppError('trigger_not_found')
    if (sent.payload.length > MAX_WEBHOOK_BYTES) throw new AppError('payload_too_large', createMessage('delivery_too_large'))
    const parsed = parseBody(sent.payload)
    if (parsed === null) throw new AppError('invalid_request', NOT_JSON)
    const delivery: ManualDelivery = {
      ...sent,
      ...describeDelivery(trigger, headers, parsed.payload),
      ...taskFor(trigger.taskTemplate, parsed.payload),
      receivedAt: clock.now(),
    }
    // A replay is the person's decision to run it anyway.
    if (sent.kind === 'test' && trigger.requirePlaceholders && delivery.missing.length > 0) throw new AppError('placeholder_missing')
    const taken = await commitSoon(db, (tx) => acceptManualDelivery(tx, accepting, trigger, delivery)).catch((error: unknown) => {
      if (error instanceof AppError && error.code !== 'agent_not_found') throw error
      throw new AppError('job_creation_failed', undefined, { cause: error })
    })
    deliveryLog.trimLater(trigger.seq)
    if (!('outcome' in taken)) return taken
    switch (taken.outcome) {
      case 'paused':
        throw new AppError('trigger_is_paused')
      case 'no_agent':
        throw new AppError('trigger_has_no_agent')
      case 'deleted':
        throw new AppError('trigger_not_found')
    }
  }

  return {
    waitFor,
    take,
    findRepeated,
    /**
     * Throws AppError trigger_not_found, trigger_is_paused, trigger_has_no_agent, invalid_request, payload_too_large,
     * placeholder_missing or job_creation_failed.
     */
    test: (triggerId: string, payload: string) =>
      takeManual(triggerId, { kind: 'test', replayOfId: null, payload: Buffer.from(payload) }, {}),
    /** Throws AppError delivery_not_found, delivery_has_no_payload, and what `test` throws, except placeholder_missing. */
    async replay(deliveryId: string) {
      const { triggerId, payload, headers } = getReplayable(db, deliveryId)
      return takeManual(triggerId, { kind: 'replay', replayOfId: deliveryId, payload }, headers)
    },
    preview(taskTemplate: string, payload: string): TemplatePreview {
      const parsed = parseBody(Buffer.from(payload))
      if (parsed === null) return { prompt: null, plainPrompt: null, placeholders: [], problem: NOT_JSON }
      const rendered = renderTemplate(taskTemplate, parsed.payload)
      const task = wrappedTaskOf(taskTemplate, rendered)
      return { prompt: wrapUntrusted(task), plainPrompt: task.text, placeholders: rendered.placeholders, problem: null }
    },
  }
}

type TakeAll = (tx: Tx, arrived: readonly IncomingDelivery[]) => AcceptResult[]

/**
 * Deliveries of one turn of the event loop share one commit and its statements. If that fails, each is tried alone, so
 * one bad delivery fails no other.
 */
export function createGroupCommit(db: Database, takeAll: TakeAll): (arrived: IncomingDelivery) => Promise<AcceptResult> {
  const waiting: (IncomingDelivery & PromiseWithResolvers<AcceptResult>)[] = []

  function commitWaiting(): void {
    let group: typeof waiting = []
    commitSoon(db, (tx) => {
      group = waiting.splice(0, LARGEST_GROUP)
      if (waiting.length > 0) commitWaiting()
      return takeAll(tx, group)
    }).then(
      (taken) => group.forEach(({ resolve }, i) => resolve(taken[i]!)),
      (error: unknown) => {
        // Without a group the transaction did not even begin.
        const failed = group.length > 0 ? group : waiting.splice(0)
        if (failed.length === 1) return failed[0]!.reject(error)
        for (const one of failed) commitSoon(db, (tx) => takeAll(tx, [one])[0]!).then(one.resolve, one.reject)
      },
    )
  }

  return (arrived) => {
    const one = { ...arrived, ...Promise.withResolvers<AcceptResult>() }
    if (waiting.push(one) === 1) commitWaiting()
    return one.promise
  }
}

/** The same delivery may be accepted when it is sent again. */
function isTemporary(error: unknown): boolean {
  return error instanceof AppError && ['disk_full', 'database_unavailable', 'vault_unavailable'].includes(error.code)
}

/** A signed challenge of Slack, which takes no place in the hour. null: it is none. */
function findChallenge(trigger: IndexedTrigger, { secret, headers, body }: Received, read: Partial<ParsedDelivery>): string | null {
  if (body.length > MAX_CHALLENGE_BYTES || trigger.signature !== 'slack') return null
  const payload = withoutSecret(body, secret)
  const parsed = parseBody(payload)
  const challenge = challengeOf(parsed?.payload)
  if (challenge !== null) Object.assign(read, { payload, ...describeDelivery(trigger, headers, parsed!.payload) })
  return challenge
}
