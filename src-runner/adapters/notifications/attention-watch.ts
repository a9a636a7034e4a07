import type { Database } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/transact.ts'
import type { PublicAddress } from '../../contract/public-address.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { listAttention } from '../../domain/attention/attention.ts'

const LOOK_EVERY_MS = 60_000

/**
 * Tells pages when the attention list changes by time alone: a channel has failed for five minutes, a missed run is a day old.
 * Returns how to stop.
 */
export function watchAttention({
  db,
  clock,
  log,
  publicAddress,
}: {
  db: Database
  clock: Clock
  log: Log
  publicAddress(): PublicAddress | null
}): () => void {
  const read = () =>
    listAttention(db, { now: clock.now(), publicAddress: publicAddress() })
      .map(({ kind, subjectId, title }) => `${kind} ${subjectId} ${JSON.stringify(title)}`)
      .join('\n')
  let known: string | null = null
  return clock.every(LOOK_EVERY_MS, () => {
    try {
      const now = read()
      if (known !== null && now !== known) transact(db, (tx) => tx.emit({ type: 'attention.changed', payload: {} }))
      known = now
    } catch (error) {
      log.warn({ error }, `what needs a person could not be looked through: ${messageOf(error)}`)
    }
  })
}
