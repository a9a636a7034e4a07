import type { Database } from '../../base/db/database.ts'
import { transact } from '../../base/db/transact.ts'
import type { PublicAddress } from '../../contract/public-address.ts'
import type { Clock } from '../../kit/clock.ts'
import { messageOf } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import { listAttention } from '../../records/attention/attention.ts'

const LOOK_EVERY_MS = 60_000

/**
 * Tells pages when the list of what needs a person is another one although nothing happened: a channel has failed for five
 * minutes, a missed run lies a day back. Answers how to stop.
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
      .map(({ kind, subjectId, title }) => `${kind} ${subjectId} ${title}`)
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
