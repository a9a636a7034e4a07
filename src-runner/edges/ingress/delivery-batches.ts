import { isLockedOut } from '../../base/db/database-errors.ts'
import type { Database } from '../../base/db/database.ts'
import { commitSoon, transact, type Tx } from '../../base/db/transact.ts'
import { takeDeliveries, type Arrived, type ReadDelivery, type Taken, type TakingDeps } from '../../records/triggers/taking.ts'
import type { KnownTrigger } from '../../records/triggers/trigger-index.ts'

/** One of them is called, once: as soon as it is on disk, or when it is sure that it will not be. */
export type Receipt = { taken(taken: Taken): void; failed(error: unknown): void }

/**
 * Takes deliveries, those of one turn of the event loop together, for which they need one commit and half the work. When
 * one of them cannot be taken, each is tried by itself. While they come one by one, each is taken as soon as it is read.
 */
export type DeliveryBatches = { take(trigger: KnownTrigger, delivery: ReadDelivery, receipt: Receipt): void }

type Waiting = Arrived & { receipt: Receipt }

/** After so many everything else has its turn: a token that streams waits for these and a commit, not for a flood. */
const MOST_AT_ONCE = 64

/** After so many turns with one delivery each, the next is not expected to have company either. */
const QUIET_TURNS = 8

export function createDeliveryBatches({ db, ...taking }: TakingDeps & { db: Database }): DeliveryBatches {
  const waiting: Waiting[] = []
  /** Turns with one delivery, since the last that had more. */
  let turnsAlone = 0
  /** One was taken as soon as it was read, in this turn. */
  let isOneTaken = false

  function takeAtOnce(): void {
    if (waiting.length > 1) return takeWaiting()
    const { receipt, ...arrived } = waiting.pop()!
    isOneTaken = true
    setImmediate(() => (isOneTaken = false))
    let taken: Taken[] = []
    try {
      transact(db, (tx) => {
        tx.afterCommit(() => receipt.taken(taken[0]!))
        taken = takeDeliveries(tx, taking, [arrived])
      })
    } catch (error) {
      if (!isLockedOut(error)) return receipt.failed(error)
      waiting.push({ ...arrived, receipt })
      takeWaiting()
    }
  }

  function takeWaiting(): void {
    let batch: Waiting[] = []
    const takeBatch = (tx: Tx) => {
      batch = waiting.splice(0, MOST_AT_ONCE)
      turnsAlone = batch.length === 1 ? turnsAlone + 1 : 0
      if (waiting.length > 0) takeWaiting()
      let taken: Taken[] = []
      // The first effect of all: whoever sent them waits for this, and nobody for the rest.
      tx.afterCommit(() => batch.forEach(({ receipt }, i) => receipt.taken(taken[i]!)))
      taken = takeDeliveries(tx, taking, batch)
    }
    commitSoon(db, takeBatch).catch((error: unknown) => {
      // A transaction that did not even begin took none.
      const failed = batch.length > 0 ? batch : waiting.splice(0)
      if (failed.length === 1) failed[0]!.receipt.failed(error)
      else for (const one of failed) takeAlone(one)
    })
  }

  function takeAlone(one: Waiting): void {
    commitSoon(db, (tx) => takeDeliveries(tx, taking, [one])[0]!).then(one.receipt.taken, one.receipt.failed)
  }

  return {
    take(trigger, delivery, receipt) {
      if (waiting.push({ trigger, delivery, receipt }) > 1) return
      if (isOneTaken) turnsAlone = 0
      if (turnsAlone < QUIET_TURNS) takeWaiting()
      else queueMicrotask(takeAtOnce)
    },
  }
}
