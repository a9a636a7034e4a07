import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'
import type { Database } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/transact.ts'
import type { EventHub } from '../../platform/events/event-hub.ts'
import type { Clock } from '../../lib/clock.ts'
import { problemOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
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

export type OutboxSenderDeps = {
  db: Database
  hub: EventHub
  clock: Clock
  /** The clocks by which messages are given up and deleted. */
  times?: { deadlines: Pick<Clock, 'now'>; age: Pick<Clock, 'now'> }
  log: Log
  deliver: Deliver
}

export type OutboxSender = {
  start(): void
  /** Starts no further try. A try that does not end within `graceMs` is interrupted and repeated later. */
  stop(options: { graceMs: number }): Promise<void>
}

const TRY_TAKES_AT_MOST_MS = 300_000
/** The longest wait while something is pending, because the clock may be set or the machine may sleep. */
const LOOK_AGAIN_MS = 30_000
/** The wait after a result could not be recorded. Until then the channel sends nothing. */
const RECORD_AGAIN_MS = 1000
const PRUNE_EVERY_MS = 600_000

/**
 * Sends the messages of the outbox: one at a time for each channel, and within a chat in the order in which they were
 * written. Pending messages exist only in the database, so a crash loses none; an interrupted one continues with the part
 * that was being sent.
 */
export function createOutboxSender({ db, hub, clock, times, log, deliver }: OutboxSenderDeps): OutboxSender {
  const { deadlines = clock, age = clock } = times ?? {}
  let isStopped = false
  /** Interrupts the tries in progress. */
  const ending = new AbortController()
  /** The message that each channel is sending. */
  const underWay = new Map<string, string>()
  const queues = new Set<Promise<void>>()
  /** Until when each service asked us to wait. */
  const quietUntil = new Map<string, number>()
  let waking: AbortController | null = null
  let isLooking = false
  const stops: (() => void)[] = []

  /** Starts the tries that are due and schedules the next check. */
  function look(): void {
    // Events of our own commits arrive while this runs.
    if (isLooking || isStopped) return
    isLooking = true
    waking?.abort()
    try {
      const now = deadlines.now()
      if (hasOverdue(db, now)) transact(db, (tx) => giveUpOverdue(tx, { clock, now }, new Set(underWay.values())))
      const channels = listSendingChannels(db)
      for (const channelId of channels) if (!underWay.has(channelId)) startQueue(channelId)
      plan(channels)
    } catch (error) {
      log.warn({ error }, 'the outbox could not be looked through this time')
      wakeIn(LOOK_AGAIN_MS)
    } finally {
      isLooking = false
    }
  }

  function plan(channels: readonly string[]): void {
    if (findNextGivenUp(db) === null) return
    const now = clock.now()
    const moments = channels.filter((id) => !underWay.has(id)).map((id) => Math.max(findNextDueOf(db, id) ?? Infinity, pauseOf(id)))
    wakeIn(Math.min(Math.max(Math.min(...moments) - now, 0), LOOK_AGAIN_MS))
  }

  function wakeIn(ms: number): void {
    const planned = new AbortController()
    waking = planned
    clock.sleep(ms, planned.signal).then(look, () => {})
  }

  function pauseOf(channelId: string): number {
    const until = quietUntil.get(channelId) ?? 0
    return until > clock.now() + LONGEST_WAIT_MS ? 0 : until
  }

  function startQueue(channelId: string): void {
    if (pauseOf(channelId) > clock.now()) return
    const messageId = findDueOf(db, channelId, clock.now())
    if (messageId === null) return
    underWay.set(channelId, messageId)
    const queue = sendOne(channelId, messageId)
      .catch((error: unknown) => {
        log.error({ error, messageId }, 'a message could not be tried')
        quietUntil.set(channelId, clock.now() + LOOK_AGAIN_MS)
      })
      .finally(() => {
        underWay.delete(channelId)
        queues.delete(queue)
        look()
      })
    queues.add(queue)
  }

  async function sendOne(channelId: string, messageId: string): Promise<void> {
    const message = transact(db, (tx) => beginTry(tx, { clock }, messageId))
    if (message === null) return
    const result = await tryToSend(message)
    if (result.state === 'failed' && result.retryAfterMs !== null) {
      quietUntil.set(channelId, clock.now() + Math.min(result.retryAfterMs, LONGEST_WAIT_MS))
    }
    await record(message, result)
  }

  async function tryToSend(message: OutgoingMessage): Promise<SendResult> {
    const over = new AbortController()
    const late = new AbortController()
    const tooLate = clock.sleep(TRY_TAKES_AT_MOST_MS, over.signal).then(
      () => {
        late.abort(new Error('this try has taken too long'))
        return failure(message, createMessage('sent_no_answer'))
      },
      () => failure(message, createMessage('chat_given_up')),
    )
    try {
      return await Promise.race([
        deliver(message, AbortSignal.any([ending.signal, late.signal]), (partsSent, note) => keepPart(message.id, partsSent, note)),
        tooLate,
      ])
    } catch (error) {
      log.error({ error, messageId: message.id }, 'a channel broke while it sent a message')
      return failure(message, problemOf(error))
    } finally {
      over.abort(new Error('the try is over'))
    }
  }

  /** If it cannot be recorded, the part may be sent twice, which is better than not continuing. */
  function keepPart(messageId: string, partsSent: number, note?: PartNote): boolean {
    try {
      return transact(db, (tx) => notePart(tx, messageId, partsSent, note))
    } catch (error) {
      log.warn({ error, messageId, partsSent }, 'a part that went out could not be written down')
      return true
    }
  }

  /** Retries until it is recorded: otherwise a sent message would be sent twice. */
  async function record(message: OutgoingMessage, result: SendResult): Promise<void> {
    for (;;) {
      try {
        transact(db, (tx) => {
          if (ending.signal.aborted && result.state === 'failed' && !result.permanent) releaseTry(tx, message.id, result.partsSent)
          else recordTry(tx, { clock }, message.id, result)
        })
        return
      } catch (error) {
        log.error({ error, messageId: message.id, state: result.state }, 'how sending a message ended could not be written down yet')
        if (ending.signal.aborted) return
        await clock.sleep(RECORD_AGAIN_MS, ending.signal).catch(() => {})
      }
    }
  }

  function prune(): void {
    try {
      transact(db, (tx) => pruneOutbox(tx, age.now()))
    } catch (error) {
      log.warn({ error }, 'old messages could not be removed')
    }
  }

  return {
    start() {
      const wakes = new Set<string>(['outbound.written', 'channel.changed', 'channel.deleted'])
      stops.push(
        hub.subscribe((event) => {
          if (wakes.has(event.type)) look()
        }),
        clock.every(PRUNE_EVERY_MS, prune),
        db.condition.onChange((trouble) => trouble === null && look()),
      )
      look()
    },
    async stop({ graceMs }) {
      for (const stop of stops.splice(0)) stop()
      isStopped = true
      waking?.abort(new Error('the app stops'))
      const over = new AbortController()
      const inTime = Promise.all(queues)
      if (graceMs > 0) await Promise.race([inTime, clock.sleep(graceMs, over.signal).catch(() => {})])
      over.abort(new Error('the grace is over'))
      ending.abort(new Error('the app stops'))
      await inTime
    },
  }
}

function failure({ partsSent }: OutgoingMessage, problem: Message): SendResult {
  return { state: 'failed', permanent: false, partsSent, retryAfterMs: null, problem }
}
