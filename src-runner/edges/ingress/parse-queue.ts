import type { KnownTrigger } from '../../records/triggers/trigger-index.ts'

/** Bodies that are parsed in one turn of the event loop. A larger one has a turn of its own. */
export const BYTES_PER_TURN = 256_000

export type QueuedDelivery = {
  trigger: KnownTrigger
  bytes: number
  /** Its hour has room. It is `leave` that ends it: called once, when the delivery was accepted or refused. */
  parse(leave: () => void): void
  /** The hour is full by now. Nothing was parsed. */
  full(waitMs: number): void
  failed(error: unknown): void
}

/**
 * Where deliveries wait until they are parsed, in the order in which their bodies came. Each takes a place in its webhook's hour
 * before it is parsed: while as many are under way as the hour has room for, the next one waits for how they end, and when the
 * hour is full it is refused unparsed. So however many come at once, few are parsed, and the event loop is never held for long.
 */
export type ParseQueue = { add(delivery: QueuedDelivery): void }

export type ParseQueueDeps = {
  /** How long the webhook's next delivery has to wait. 0: not at all. */
  waitFor(trigger: KnownTrigger): number
  /** How many more deliveries the webhook may accept now. */
  roomIn(trigger: KnownTrigger): number
  /** Calls back in the next turn of the event loop. */
  nextTurn?: (act: () => void) => void
}

export function createParseQueue({ waitFor, roomIn, nextTurn = setImmediate }: ParseQueueDeps): ParseQueue {
  const queue: QueuedDelivery[] = []
  /** Of each webhook: how many have a place, and who waits for one. */
  const hours = new Map<number, { underWay: number; waiting: QueuedDelivery[] }>()
  let bytesInTurn = 0
  let isTurnExpected = false

  function expectTurn(): void {
    if (isTurnExpected) return
    isTurnExpected = true
    nextTurn(() => {
      isTurnExpected = false
      bytesInTurn = 0
      while (queue.length > 0 && fits(queue[0]!)) start(queue.shift()!)
      if (queue.length > 0) expectTurn()
    })
  }

  function fits({ bytes }: QueuedDelivery): boolean {
    return bytesInTurn === 0 || bytesInTurn + bytes <= BYTES_PER_TURN
  }

  function start(delivery: QueuedDelivery): void {
    const { trigger, bytes } = delivery
    try {
      const waitMs = waitFor(trigger)
      if (waitMs > 0) return delivery.full(waitMs)
      const hour = hours.get(trigger.seq)
      if (hour === undefined) hours.set(trigger.seq, { underWay: 1, waiting: [] })
      else if (hour.underWay >= roomIn(trigger)) return void hour.waiting.push(delivery)
      else hour.underWay++
    } catch (error) {
      return delivery.failed(error)
    }
    bytesInTurn += bytes
    expectTurn()
    delivery.parse(() => leave(trigger.seq))
  }

  function leave(seq: number): void {
    const hour = hours.get(seq)!
    hour.underWay--
    // All of them: as many as there is room for get a place, and if the hour is full by now, each is told.
    queue.unshift(...hour.waiting.splice(0))
    if (hour.underWay === 0) hours.delete(seq)
    if (queue.length > 0) expectTurn()
  }

  return {
    add(delivery) {
      if (queue.length === 0 && fits(delivery)) start(delivery)
      else {
        queue.push(delivery)
        expectTurn()
      }
    },
  }
}
