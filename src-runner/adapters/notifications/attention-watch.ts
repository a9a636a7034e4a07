import { transact, type Database } from '../../platform/db/database.ts'
import type { PublicAddressState } from '../../contract/public-address.ts'
import type { Clock } from '../../lib/clock.ts'
import { listAttention } from '../../domain/attention/attention.ts'

const CHECK_EVERY_MS = 60_000

type Deps = { db: Database; clock: Clock; publicAddress(): PublicAddressState | null }

/**
 * Tells pages when the attention list changes by time alone: a channel has failed for five minutes, a missed run is a day old.
 * Returns how to stop.
 */
export function watchAttention({ db, clock, publicAddress }: Deps): () => void {
  let known: string | null = null
  return clock.every(CHECK_EVERY_MS, () => {
    const items = listAttention(db, { now: clock.now(), publicAddress: publicAddress() })
    const now = JSON.stringify(items.map(({ kind, subjectId, title }) => [kind, subjectId, title]))
    if (known !== null && now !== known) transact(db, (tx) => tx.emit({ type: 'attention.changed', payload: {} }))
    known = now
  })
}
