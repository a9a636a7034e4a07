import type { IndexedTrigger } from '../../domain/triggers/trigger-index.ts'

/** Bytes that are parsed in one turn of the event loop. A larger body gets a turn of its own. */
export const BYTES_PER_TURN = 256_000

type ParseQueueDeps = {
  /** Milliseconds until the webhook may accept its next delivery; 0: now. */
  waitFor(trigger: IndexedTrigger): number
  /** How many more deliveries the webhook may accept now. */
  roomIn(trigger: IndexedTrigger): number
  nextTurn?: (act: () => void) => void
}

export type ParseQueue = ReturnType<typeof createParseQueue>

type Waiting = { trigger: IndexedTrigger; bytes: number; resolve(waitMs: number): void; reject(error: unknown): void }

/**
 * Deliveries wait here until they are parsed, in the order in which their bodies arrived. Each reserves a place in its
 * webhook's hour first. When all places are reserved, the next one waits for how those deliveries end; when the hour is
 * full, it is refused unparsed. So however many arrive at once, few are parsed, and the event loop is never blocked for long.
 */
export function createParseQueue({ waitFor, roomIn, nextTurn = setImmediate }: ParseQueueDeps) {
  const queue: Waiting[] = []
  /** For each webhook with reserved places: how many there are, and who waits for one. */
  const hours = new Map<number, { reserved: number; waiting: Waiting[] }>()
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

  function fits({ bytes }: Waiting): boolean {
    return bytesInTurn === 0 || bytesInTurn + bytes <= BYTES_PER_TURN
  }

  function start(delivery: Waiting): void {
    const { trigger, bytes, resolve, reject } = delivery
    try {
      const waitMs = waitFor(trigger)
      if (waitMs > 0) return resolve(waitMs)
      const hour = hours.get(trigger.seq)
      if (hour === undefined) hours.set(trigger.seq, { reserved: 1, waiting: [] })
      else if (hour.reserved >= roomIn(trigger)) return void hour.waiting.push(delivery)
      else hour.reserved++
    } catch (error) {
      return reject(error)
    }
    bytesInTurn += bytes
    expectTurn()
    resolve(0)
  }

  return {
    /** Resolves with 0 when the delivery may be parsed: then call `leave`. Otherwise with the milliseconds until the hour has room. */
    enter: (trigger: IndexedTrigger, bytes: number) =>
      new Promise<number>((resolve, reject) => {
        const delivery = { trigger, bytes, resolve, reject }
        if (queue.length === 0 && fits(delivery)) return start(delivery)
        queue.push(delivery)
        expectTurn()
      }),
    leave({ seq }: IndexedTrigger): void {
      const hour = hours.get(seq)!
      hour.reserved--
      // Each waiting delivery tries again: it gets a place, waits on, or learns that the hour is full.
      queue.unshift(...hour.waiting.splice(0))
      if (hour.reserved === 0) hours.delete(seq)
      if (queue.length > 0) expectTurn()
    },
  }
}
