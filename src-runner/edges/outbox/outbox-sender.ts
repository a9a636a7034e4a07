import type { Database } from '../../base/db/database.ts'
import { transact } from '../../base/db/transact.ts'
import type { EventHub } from '../../base/events/event-hub.ts'
import type { Clock } from '../../kit/clock.ts'
import { messageOf } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import type { Deliver, OutgoingMessage, PartNote, SendResult } from '../../records/outbox/outgoing.ts'
import {
  beginTry,
  findDueOf,
  findNextDueOf,
  findNextGivenUp,
  giveUpOverdue,
  hasOverdue,
  listSendingChannels,
  LONGEST_WAIT_MS,
  notePart,
  pruneOutbox,
  recordTry,
  releaseTry,
} from '../../records/outbox/sending.ts'

export type OutboxSenderDeps = {
  db: Database
  hub: EventHub
  clock: Clock
  /** When a message is given up, and when it is forgotten. */
  times?: { deadlines: Pick<Clock, 'now'>; age: Pick<Clock, 'now'> }
  log: Log
  deliver: Deliver
}

export type OutboxSender = {
  start(): void
  /** Begins nothing any more. What is under way has `graceMs` to come to an end; what has not by then is sent again later. */
  stop(options: { graceMs: number }): Promise<void>
}

/** No file takes longer to be uploaded than a person waits for it. */
const TRY_TAKES_AT_MOST_MS = 300_000
/** While something is pending, the clock is looked at this often: it may have been set, or have slept. */
const LOOK_AGAIN_MS = 30_000
/** After a result could not be written down. Until it is, the channel sends nothing. */
const RECORD_AGAIN_MS = 1000
const PRUNE_EVERY_MS = 600_000

/**
 * Sends what is in the outbox: each channel one message after another, all channels side by side, and within a chat in the
 * order in which the messages were written. What is pending is in the database alone, so a crash loses nothing; a message
 * that was under way then is sent again, from the part on that was.
 */
export function createOutboxSender({ db, hub, clock, times, log, deliver }: OutboxSenderDeps): OutboxSender {
  const { deadlines = clock, age = clock } = times ?? {}
  let isStopped = false
  /** Messages under way are called off. */
  const ending = new AbortController()
  /** By channel: the message that is being sent. */
  const underWay = new Map<string, string>()
  const lanes = new Set<Promise<void>>()
  /** Channels whose service asked to be left alone, and until when. */
  const quietUntil = new Map<string, number>()
  let waking: AbortController | null = null
  let isLooking = false
  const stops: (() => void)[] = []

  /** Starts whatever may start now, and plans the next look. */
  function look(): void {
    // Events of our own commits come while we are at it.
    if (isLooking || isStopped) return
    isLooking = true
    waking?.abort()
    try {
      const now = deadlines.now()
      if (hasOverdue(db, now)) transact(db, (tx) => giveUpOverdue(tx, { clock, now }, new Set(underWay.values())))
      const channels = listSendingChannels(db)
      for (const channelId of channels) if (!underWay.has(channelId)) startLane(channelId)
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

  function startLane(channelId: string): void {
    if (pauseOf(channelId) > clock.now()) return
    const messageId = findDueOf(db, channelId, clock.now())
    if (messageId === null) return
    underWay.set(channelId, messageId)
    const lane = sendOne(channelId, messageId)
      .catch((error: unknown) => {
        log.error({ error, messageId }, 'a message could not be tried')
        quietUntil.set(channelId, clock.now() + LOOK_AGAIN_MS)
      })
      .finally(() => {
        underWay.delete(channelId)
        lanes.delete(lane)
        look()
      })
    lanes.add(lane)
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
        return failure(message, 'The service did not answer for five minutes.')
      },
      () => failure(message, ''),
    )
    try {
      return await Promise.race([
        deliver(message, AbortSignal.any([ending.signal, late.signal]), (partsSent, note) => keepPart(message.id, partsSent, note)),
        tooLate,
      ])
    } catch (error) {
      log.error({ error, messageId: message.id }, 'a channel broke while it sent a message')
      return failure(message, messageOf(error))
    } finally {
      over.abort(new Error('the try is over'))
    }
  }

  /** Without it a part might go out twice, which is no reason to send less. */
  function keepPart(messageId: string, partsSent: number, note?: PartNote): boolean {
    try {
      return transact(db, (tx) => notePart(tx, messageId, partsSent, note))
    } catch (error) {
      log.warn({ error, messageId, partsSent }, 'a part that went out could not be written down')
      return true
    }
  }

  /** Not giving up: a message that went out and is not written down as sent would go out twice. */
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
      const inTime = Promise.all(lanes)
      if (graceMs > 0) await Promise.race([inTime, clock.sleep(graceMs, over.signal).catch(() => {})])
      over.abort(new Error('the grace is over'))
      ending.abort(new Error('the app stops'))
      await inTime
    },
  }
}

function failure({ partsSent }: OutgoingMessage, problem: string): SendResult {
  return { state: 'failed', permanent: false, partsSent, retryAfterMs: null, problem }
}
