import type { Message } from '../../contract/messages.ts'
import { transact } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { Clock } from '../../lib/clock.ts'
import { problemOf } from '../../lib/errors.ts'
import { createMessage, type Speech } from '../../lib/messages.ts'
import type { Deliver, OutgoingMessage, PartNote, SendResult } from '../../domain/outbox/outgoing.ts'
import {
  findDueOf,
  findNextDueOf,
  findNextGivenUp,
  listSendingChannels,
  LONGEST_WAIT_MS,
  pruneOutbox,
} from '../../domain/outbox/due-messages.sql.ts'
import { beginTry, giveUpOverdue, hasOverdue, notePart, recordTry, releaseTry } from '../../domain/outbox/send-message.ts'

export type OutboxSenderDeps = Pick<Services, 'db' | 'hub' | 'clock' | 'log'> & {
  /** The clocks by which messages are given up and deleted. */
  times?: { deadlines: Pick<Clock, 'now'>; age: Pick<Clock, 'now'> }
  speech: Speech
  deliver: Deliver
}

export type OutboxSender = ReturnType<typeof createOutboxSender>

const TRY_LIMIT_MS = 300_000
/** The longest wait while something is pending, because the clock may be set or the machine may sleep. */
const MAX_WAIT_MS = 30_000
/** The wait after a result could not be recorded. Until then the channel sends nothing. */
const RECORD_RETRY_MS = 1000
const PRUNE_EVERY_MS = 600_000
const CHECKED_AFTER = new Set<string>(['outbound.written', 'channel.changed', 'channel.deleted'])

/**
 * Sends the messages of the outbox: one at a time for each channel, and within a chat in the order in which they were
 * written. Pending messages exist only in the database, so a crash loses none; an interrupted one continues with the part
 * that was being sent.
 */
export function createOutboxSender({ db, hub, clock, times, log, speech, deliver }: OutboxSenderDeps) {
  const { deadlines = clock, age = clock } = times ?? {}
  let isStopped = false
  /** Interrupts the tries in progress. */
  const stopping = new AbortController()
  /** The message that each channel is sending. */
  const underWay = new Map<string, string>()
  const tries = new Set<Promise<void>>()
  const pauses = createPauses(clock)
  let cancelCheck = () => {}
  let isChecking = false
  const stops: (() => void)[] = []

  /** Starts the tries that are due and schedules the next check. */
  function check(): void {
    // Events of our own commits arrive while this runs.
    if (isChecking || isStopped) return
    isChecking = true
    cancelCheck()
    try {
      const now = deadlines.now()
      if (hasOverdue(db, now)) transact(db, (tx) => giveUpOverdue(tx, { clock, now }, new Set(underWay.values())))
      const channels = listSendingChannels(db)
      for (const channelId of channels) if (!underWay.has(channelId)) startTry(channelId)
      scheduleCheck(channels)
    } catch (error) {
      log.warn({ error }, 'could not check the outbox')
      cancelCheck = clock.after(MAX_WAIT_MS, check)
    } finally {
      isChecking = false
    }
  }

  function scheduleCheck(channels: readonly string[]): void {
    if (findNextGivenUp(db) === null) return
    const moments = channels.filter((id) => !underWay.has(id)).map((id) => Math.max(findNextDueOf(db, id) ?? Infinity, pauses.endOf(id)))
    cancelCheck = clock.after(Math.min(Math.max(Math.min(...moments) - clock.now(), 0), MAX_WAIT_MS), check)
  }

  function startTry(channelId: string): void {
    if (pauses.endOf(channelId) > clock.now()) return
    const messageId = findDueOf(db, channelId, clock.now())
    if (messageId === null) return
    underWay.set(channelId, messageId)
    const done = sendOne(channelId, messageId)
      .catch((error: unknown) => {
        log.error({ error, messageId }, 'could not try to send a message')
        pauses.begin(channelId, MAX_WAIT_MS)
      })
      .finally(() => {
        underWay.delete(channelId)
        tries.delete(done)
        check()
      })
    tries.add(done)
  }

  async function sendOne(channelId: string, messageId: string): Promise<void> {
    const message = transact(db, (tx) => beginTry(tx, { clock, speech }, messageId))
    if (message === null) return
    const result = await tryToSend(message)
    if (result.state === 'failed' && result.retryAfterMs !== null) pauses.begin(channelId, result.retryAfterMs)
    await record(message, result)
  }

  async function tryToSend(message: OutgoingMessage): Promise<SendResult> {
    const late = new AbortController()
    const { promise: tooLate, resolve } = Promise.withResolvers<SendResult>()
    const cancelLimit = clock.after(TRY_LIMIT_MS, () => {
      late.abort(new Error('this try has taken too long'))
      resolve(failure(message, createMessage('sent_no_answer')))
    })
    try {
      const signal = AbortSignal.any([stopping.signal, late.signal])
      return await Promise.race([deliver(message, signal, (partsSent, note) => keepPart(message.id, partsSent, note)), tooLate])
    } catch (error) {
      log.error({ error, messageId: message.id }, 'a channel broke while it sent a message')
      return failure(message, problemOf(error))
    } finally {
      cancelLimit()
    }
  }

  /** If it cannot be recorded, the part may be sent twice, which is better than not continuing. */
  function keepPart(messageId: string, partsSent: number, note?: PartNote): boolean {
    try {
      return transact(db, (tx) => notePart(tx, messageId, partsSent, note))
    } catch (error) {
      log.warn({ error, messageId, partsSent }, 'could not record that a part was sent')
      return true
    }
  }

  /** Retries until it is recorded: otherwise a sent message would be sent twice. */
  async function record(message: OutgoingMessage, result: SendResult): Promise<void> {
    for (;;) {
      try {
        transact(db, (tx) => {
          if (stopping.signal.aborted && result.state === 'failed' && !result.permanent) releaseTry(tx, message.id, result.partsSent)
          else recordTry(tx, { clock }, message.id, result)
        })
        return
      } catch (error) {
        log.error({ error, messageId: message.id, state: result.state }, 'could not record the result of sending a message')
        if (stopping.signal.aborted) return
        await clock.sleep(RECORD_RETRY_MS, stopping.signal).catch(() => {})
      }
    }
  }

  return {
    start(): void {
      stops.push(
        hub.subscribe(({ type }) => CHECKED_AFTER.has(type) && check()),
        clock.every(PRUNE_EVERY_MS, () => transact(db, (tx) => pruneOutbox(tx, age.now()))),
        db.condition.onChange((trouble) => trouble === null && check()),
      )
      check()
    },
    /** Starts no further try. A try that does not end within `graceMs` is interrupted and repeated later. */
    async stop({ graceMs }: { graceMs: number }): Promise<void> {
      for (const stop of stops.splice(0)) stop()
      isStopped = true
      cancelCheck()
      const interrupt = () => stopping.abort(new Error('the app stops'))
      if (graceMs === 0) interrupt()
      const cancelInterrupt = clock.after(graceMs, interrupt)
      await Promise.all(tries)
      cancelInterrupt()
    },
  }
}

/** Until when channels send nothing, because their service asked us to wait or a try broke off. */
function createPauses(clock: Pick<Clock, 'now'>) {
  const ends = new Map<string, number>()
  return {
    begin(channelId: string, waitMs: number): void {
      ends.set(channelId, clock.now() + Math.min(waitMs, LONGEST_WAIT_MS))
    },
    /** Ignores a pause that a clock change has made too long. */
    endOf(channelId: string): number {
      const end = ends.get(channelId) ?? 0
      return end > clock.now() + LONGEST_WAIT_MS ? 0 : end
    },
  }
}

function failure({ partsSent }: OutgoingMessage, problem: Message): SendResult {
  return { state: 'failed', permanent: false, partsSent, retryAfterMs: null, problem }
}
