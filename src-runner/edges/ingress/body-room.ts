import { FIRES_PER_HOUR, MAX_WEBHOOK_BYTES } from '../../contract/triggers.ts'

/** As many bodies of the largest size as one webhook can accept in an hour. */
export const ROOM_OF_A_WEBHOOK = FIRES_PER_HOUR * MAX_WEBHOOK_BYTES
export const ROOM_OF_ALL = 64_000_000

/** The memory of one delivery, from the first byte of its body to its answer. */
export type Hold = {
  /** Counts `bytes` more. false: there is no room, and the delivery has to be refused. */
  grow(bytes: number): boolean
  /** The body is here. From now on it is not given up for others. */
  complete(): void
  release(): void
}

/**
 * Bounds the bytes of deliveries that are not answered yet, for each webhook and for all together. When all room is taken, the
 * webhook that holds most of it gives up one of its unfinished bodies, so a flood pushes out itself.
 */
export type BodyRoom = {
  /** `giveUp`: refuse this delivery now, and release what it holds. */
  hold(webhook: number, giveUp: () => void): Hold
}

type Holder = { bytes: number; unfinished: Set<() => void> }

export function createBodyRoom(limits = { webhook: ROOM_OF_A_WEBHOOK, all: ROOM_OF_ALL }): BodyRoom {
  const holders = new Map<number, Holder>()
  let taken = 0

  function heaviest(): Holder {
    return [...holders.values()].reduce((most, holder) => (holder.bytes > most.bytes ? holder : most))
  }

  return {
    hold(webhook, giveUp) {
      let holder = holders.get(webhook)
      if (holder === undefined) holders.set(webhook, (holder = { bytes: 0, unfinished: new Set() }))
      const { unfinished } = holder
      const own = holder
      let held = 0
      unfinished.add(giveUp)

      function add(bytes: number): void {
        held += bytes
        own.bytes += bytes
        taken += bytes
      }

      return {
        grow(bytes) {
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
        complete: () => void unfinished.delete(giveUp),
        release() {
          add(-held)
          unfinished.delete(giveUp)
          if (own.bytes === 0 && unfinished.size === 0 && holders.get(webhook) === own) holders.delete(webhook)
        },
      }
    },
  }
}
