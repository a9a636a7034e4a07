import { FIRES_PER_HOUR, MAX_WEBHOOK_BYTES } from '../../contract/triggers.ts'

/** As many bodies of the largest size as one webhook can accept in an hour. */
const BYTES_PER_WEBHOOK = FIRES_PER_HOUR * MAX_WEBHOOK_BYTES
const BYTES_IN_ALL = 64_000_000

export type BodyMemory = ReturnType<typeof createBodyMemory>

type Holder = { bytes: number; unfinished: Set<() => void> }

/**
 * Limits the bytes of deliveries without a response, for each webhook and in all. When all memory is taken, the webhook
 * that holds the most gives up one of its unfinished bodies. So a flood displaces itself.
 */
export function createBodyMemory(limits = { webhook: BYTES_PER_WEBHOOK, all: BYTES_IN_ALL }) {
  const holders = new Map<number, Holder>()
  let taken = 0

  function heaviest(): Holder {
    return [...holders.values()].reduce((most, holder) => (holder.bytes > most.bytes ? holder : most))
  }

  return {
    /** The memory of one delivery, until its response. `giveUp` is called when the delivery must be refused and release it. */
    hold(webhook: number, giveUp: () => void) {
      const own: Holder = holders.get(webhook) ?? { bytes: 0, unfinished: new Set() }
      holders.set(webhook, own)
      own.unfinished.add(giveUp)
      let held = 0

      function add(bytes: number): void {
        held += bytes
        own.bytes += bytes
        taken += bytes
      }

      return {
        /** false: there is no room, and the delivery must be refused. */
        grow(bytes: number): boolean {
          add(bytes)
          if (own.bytes > limits.webhook) return false
          while (taken > limits.all) {
            const most = heaviest()
            const [oldest] = most.unfinished
            if (most === own || oldest === undefined) return false
            oldest()
          }
          return true
        },
        /** The body is complete. From now on it is not given up for others. */
        complete: () => void own.unfinished.delete(giveUp),
        release(): void {
          add(-held)
          own.unfinished.delete(giveUp)
          if (own.bytes === 0 && own.unfinished.size === 0 && holders.get(webhook) === own) holders.delete(webhook)
        },
      }
    },
  }
}
