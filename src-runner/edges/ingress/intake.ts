import type { IncomingHttpHeaders } from 'node:http'
import type { Database } from '../../base/db/database.ts'
import { commitSoon } from '../../base/db/transact.ts'
import type { MachineTime } from '../../base/time/machine-time.ts'
import { MAX_WEBHOOK_BYTES, type TemplatePreview } from '../../contract/triggers.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import type { Ids } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import { triggerSignatureKey, type Vault } from '../../kit/vault.ts'
import { inEnvelope, letterOf } from '../../records/jobs/envelope.ts'
import type { JobStore } from '../../records/jobs/job-store.ts'
import { getReplayable } from '../../records/triggers/deliveries.ts'
import { countRoom, findOpening } from '../../records/triggers/hour-window.ts'
import type { Inbox } from '../../records/triggers/inbox.ts'
import type { ReceivedHeaders } from '../../records/triggers/received-headers.ts'
import { challengeOf, eventNameOf, isPing, senderIdOf } from '../../records/triggers/sender.ts'
import { verifySignature } from '../../records/triggers/signatures/verify-signature.ts'
import { findJobOfSender, takeHandSent, type HandSent, type ReadDelivery, type Taken } from '../../records/triggers/taking.ts'
import { taskFor } from '../../records/triggers/delivery-task.ts'
import { renderTemplate } from '../../records/triggers/template.ts'
import { readKnownTrigger, type KnownTrigger } from '../../records/triggers/trigger-index.ts'
import { noTrigger } from '../../records/triggers/triggers.ts'
import { keptHeadersOf, parseBody, readHead, withoutSecret } from './delivery-body.ts'
import { createDeliveryBatches } from './delivery-batches.ts'
import { createParseQueue } from './parse-queue.ts'

/** How a delivery went, from its body on. `read`: what is known of it by then. */
export type Outcome = {
  taken:
    | Taken
    | { outcome: 'bad_signature' | 'invalid_json' | 'placeholder_missing' | 'job_creation_failed' }
    /** The sender tries its address. `challenge`: what it wants to read. */
    | { outcome: 'ping'; challenge: string | null }
  read: Partial<ReadDelivery>
}

/**
 * One of them is called, once. `failed`: AppError disk_full, database_unavailable or vault_unavailable: it was not taken,
 * and may be sent again.
 */
export type DeliveryReceipt = { answered(outcome: Outcome): void; failed(error: unknown): void }

/** `secret`: of the address that it came to. */
export type Received = { secret: string; headers: IncomingHttpHeaders; body: Buffer }

/** The delivery has the id of its job. */
export type HandSentAnswer = { jobId: string }

/** What becomes of a delivery once its body is here. The same for those that the person sends. */
export type Intake = {
  /** How long the trigger's next delivery has to wait, as far as is known before its body is here. 0: not at all. */
  waitFor(trigger: KnownTrigger): number
  take(trigger: KnownTrigger, received: Received, receipt: DeliveryReceipt): void
  /** The job of the delivery that this one repeats, by its headers alone; null: it repeats none, or they do not say. */
  findRepeated(trigger: KnownTrigger, headers: IncomingHttpHeaders): string | null
  /** Throws AppError trigger_not_found, trigger_is_paused, trigger_has_no_agent, invalid_request, payload_too_large or job_creation_failed. */
  test(triggerId: string, payload: string): Promise<HandSentAnswer>
  /** Throws AppError delivery_not_found, delivery_has_no_payload, and what `test` throws. */
  replay(deliveryId: string): Promise<HandSentAnswer>
  preview(taskTemplate: string, payload: string): TemplatePreview
}

export type IntakeDeps = {
  db: Database
  jobs: Pick<JobStore, 'insertAll'>
  vault: Vault
  clock: Clock
  ids: Ids
  log: Log
  time: MachineTime
  inbox: Inbox
}

/** Every so many accepted deliveries the inbox is cut back: it may hold so many more for a moment. */
const TRIM_AFTER = 16

export function createIntake({ db, jobs, vault, clock, ids, log, time, inbox }: IntakeDeps): Intake {
  const taking = { jobs, ids, time, inbox }
  const batches = createDeliveryBatches({ ...taking, db })
  /** By what was read of the trigger: after a change it is asked for anew. */
  const signingSecrets = new WeakMap<KnownTrigger, string>()

  async function isSigned(trigger: KnownTrigger, headers: IncomingHttpHeaders, rawBody: Buffer): Promise<boolean> {
    let secret = signingSecrets.get(trigger)
    if (secret === undefined) {
      secret = (await vault.get(triggerSignatureKey(trigger.id))) ?? ''
      signingSecrets.set(trigger, secret)
    }
    return verifySignature(trigger.signature!, { secret, headers, rawBody, nowMs: clock.now() })
  }

  /** From when on each trigger lets the next one in, as of its last one: that it is open need not be asked each time. */
  const openings = new WeakMap<KnownTrigger, number>()

  function waitFor(trigger: KnownTrigger): number {
    const elapsed = time.elapsed()
    if ((openings.get(trigger) ?? Infinity) <= elapsed) return 0
    const opensAt = findOpening(db, trigger.seq)
    openings.set(trigger, opensAt)
    return Math.max(0, opensAt - elapsed)
  }

  function findRepeated(trigger: KnownTrigger, headers: IncomingHttpHeaders): string | null {
    const senderId = trigger.dedupe ? senderIdOf(headers, null) : null
    return senderId === null ? null : findJobOfSender(db, trigger.seq, senderId)
  }

  const queue = createParseQueue({ waitFor, roomIn: (trigger) => countRoom(db, trigger.seq, time) })

  function take(trigger: KnownTrigger, received: Received, receipt: DeliveryReceipt): void {
    const read: Partial<ReadDelivery> = { receivedAt: clock.now() }
    if (trigger.signature === null) return takeAuthentic(trigger, received, read, receipt)
    isSigned(trigger, received.headers, received.body)
      .then((itIs) =>
        itIs ? takeAuthentic(trigger, received, read, receipt) : receipt.answered({ taken: { outcome: 'bad_signature' }, read }),
      )
      .catch(receipt.failed)
  }

  function takeAuthentic(trigger: KnownTrigger, received: Received, read: Partial<ReadDelivery>, receipt: DeliveryReceipt): void {
    const { headers, body } = received
    queue.add({
      trigger,
      bytes: body.length,
      failed: receipt.failed,
      full(waitMs) {
        Object.assign(read, readHead(headers))
        const jobId = findRepeated(trigger, headers)
        if (isPing(headers)) receipt.answered({ taken: { outcome: 'ping', challenge: null }, read })
        else receipt.answered({ taken: jobId === null ? { outcome: 'rate_limited', waitMs } : { outcome: 'duplicate', jobId }, read })
      },
      parse(leave) {
        const answered: DeliveryReceipt['answered'] = (outcome) => {
          receipt.answered(outcome)
          if (outcome.taken.outcome === 'accepted') openings.set(trigger, outcome.taken.opensAt)
          leave()
        }
        const failed: DeliveryReceipt['failed'] = (error) => {
          receipt.failed(error)
          leave()
        }
        try {
          parse(trigger, received, read, { answered, failed })
        } catch (error) {
          failed(error)
        }
      },
    })
  }

  function parse(
    trigger: KnownTrigger,
    { secret, headers, body: rawBody }: Received,
    read: Partial<ReadDelivery>,
    receipt: DeliveryReceipt,
  ): void {
    const body = withoutSecret(rawBody, secret)
    const parsed = parseBody(body)
    read.payload = body
    read.headers = keptHeadersOf(headers)
    read.senderId = senderIdOf(headers, parsed?.payload)
    read.eventName = eventNameOf(headers, parsed?.payload)
    if (parsed === null) return receipt.answered({ taken: { outcome: 'invalid_json' }, read })
    const challenge = trigger.signature === 'slack' ? challengeOf(parsed.payload) : null
    if (challenge !== null || isPing(headers)) return receipt.answered({ taken: { outcome: 'ping', challenge }, read })
    if (trigger.agentId === null) return receipt.answered({ taken: { outcome: 'no_agent' }, read })
    const failed = (error: unknown) => {
      if (isNotNow(error)) return receipt.failed(error)
      log.error({ error, triggerId: trigger.id }, 'a delivery could not be made a job')
      receipt.answered({ taken: { outcome: 'job_creation_failed' }, read })
    }
    try {
      Object.assign(read, taskFor(trigger.taskTemplate, parsed.payload))
    } catch (error) {
      return failed(error)
    }
    if (trigger.requirePlaceholders && read.missing!.length > 0)
      return receipt.answered({ taken: { outcome: 'placeholder_missing' }, read })
    const taken = (taken: Taken) => {
      receipt.answered({ taken, read })
      if (taken.outcome === 'accepted' && taken.count % TRIM_AFTER === 0) inbox.grew(trigger.seq)
    }
    batches.take(trigger, read as ReadDelivery, { taken, failed })
  }

  async function takeByHand(triggerId: string, sent: Pick<HandSent, 'kind' | 'replayOfId' | 'payload'>, headers: ReceivedHeaders) {
    const trigger = readKnownTrigger(db, triggerId)
    if (trigger === null) throw noTrigger()
    if (sent.payload.length > MAX_WEBHOOK_BYTES) throw new AppError('payload_too_large', 'A delivery has at most 1,000,000 bytes.')
    const parsed = parseBody(sent.payload)
    if (parsed === null) throw new AppError('invalid_request', 'The payload is not valid JSON.')
    const delivery: HandSent = {
      ...sent,
      headers: keptHeadersOf(headers),
      senderId: senderIdOf(headers, parsed.payload),
      eventName: eventNameOf(headers, parsed.payload),
      ...taskFor(trigger.taskTemplate, parsed.payload),
      receivedAt: clock.now(),
    }
    const taken = await commitSoon(db, (tx) => takeHandSent(tx, taking, trigger, delivery)).catch((error: unknown) => {
      if (error instanceof AppError && error.code !== 'agent_not_found') throw error
      throw new AppError('job_creation_failed', 'The job could not be created. Nothing was started.', { cause: error })
    })
    inbox.grew(trigger.seq)
    if (!('outcome' in taken)) return taken
    switch (taken.outcome) {
      case 'paused':
        throw new AppError('trigger_is_paused', 'This webhook is paused. Resume it first.')
      case 'no_agent':
        throw new AppError('trigger_has_no_agent', 'This webhook has no agent.')
      case 'deleted':
        throw noTrigger()
    }
  }

  return {
    waitFor,
    take,
    findRepeated,
    test: (triggerId, payload) => takeByHand(triggerId, { kind: 'test', replayOfId: null, payload: Buffer.from(payload) }, {}),
    async replay(deliveryId) {
      const { triggerId, payload, headers } = getReplayable(db, deliveryId)
      return takeByHand(triggerId, { kind: 'replay', replayOfId: deliveryId, payload }, headers)
    },
    preview(taskTemplate, payload) {
      const parsed = parseBody(Buffer.from(payload))
      if (parsed === null) return { prompt: null, plainPrompt: null, placeholders: [], problem: 'The payload is not valid JSON.' }
      const rendered = renderTemplate(taskTemplate, parsed.payload)
      const letter = letterOf(taskTemplate, rendered)
      return { prompt: inEnvelope(letter), plainPrompt: letter.text, placeholders: rendered.placeholders, problem: null }
    },
  }
}

/** Nothing is wrong with the delivery: sent again later, it gets in. */
function isNotNow(error: unknown): boolean {
  return error instanceof AppError && ['disk_full', 'database_unavailable', 'vault_unavailable'].includes(error.code)
}
