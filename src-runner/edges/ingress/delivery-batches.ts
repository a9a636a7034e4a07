import type { Database } from '../../base/db/database.ts'
import { commitSoon, type Tx } from '../../base/db/transact.ts'
import type { Clock } from '../../kit/clock.ts'
import { takeDelivery, type ReadDelivery, type Taken, type TakingDeps } from '../../records/triggers/taking.ts'
import type { KnownTrigger } from '../../records/triggers/trigger-index.ts'

/** One of them is called, once: as soon as it is on disk, or when it is sure that it will not be. */
export type Receipt = { taken(taken: Taken): void; failed(error: unknown): void }

/**
 * Takes deliveries, those of one turn of the event loop as one piece of work: as pieces of their own, each would need a
 * savepoint, for which SQLite copies every page again. When one of them cannot be taken, each is tried by itself.
 */
export type DeliveryBatches = { take(trigger: KnownTrigger, delivery: ReadDelivery, receipt: Receipt): void }

type Waiting = { trigger: KnownTrigger; delivery: ReadDelivery; receipt: Receipt }

/** After so much time in one transaction everything else has its turn: a token that streams waits for this and a commit, not for a flood. */
const SLICE_MS = 3

export function createDeliveryBatches({ db, clock, ...taking }: TakingDeps & { db: Database; clock: Clock }): DeliveryBatches {
  const waiting: Waiting[] = []

  function takeWaiting(): void {
    const batch: Waiting[] = []
    const takeBatch = (tx: Tx) => {
      const taken: Taken[] = []
      // The first effect of all: whoever sent them waits for this, and nobody for the rest.
      tx.afterCommit(() => batch.forEach(({ receipt }, i) => receipt.taken(taken[i]!)))
      const until = clock.monotonic() + SLICE_MS
      try {
        while (waiting.length > 0 && (taken.length === 0 || clock.monotonic() < until)) {
          const one = waiting.shift()!
          batch.push(one)
          taken.push(takeDelivery(tx, taking, one.trigger, one.delivery))
        }
      } finally {
        if (waiting.length > 0) takeWaiting()
      }
    }
    commitSoon(db, takeBatch).catch((error: unknown) => {
      // A transaction that did not even begin took none.
      const failed = batch.length > 0 ? batch : waiting.splice(0)
      if (failed.length === 1) failed[0]!.receipt.failed(error)
      else for (const one of failed) takeAlone(one)
    })
  }

  function takeAlone({ trigger, delivery, receipt }: Waiting): void {
    commitSoon(db, (tx) => takeDelivery(tx, taking, trigger, delivery)).then(receipt.taken, receipt.failed)
  }

  return {
    take(trigger, delivery, receipt) {
      if (waiting.push({ trigger, delivery, receipt }) === 1) takeWaiting()
    },
  }
}
