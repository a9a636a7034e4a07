import { transact } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import { messageOf } from '../../lib/errors.ts'
import { listWaitingDevices, postponePoll, type AuthorizationRow } from '../../domain/credentials/authorizations.ts'

/** What a poll said. waiting: nobody has entered the code. slower: it asks too often. */
export type PollResult = 'ended' | 'waiting' | 'slower' | 'unreachable'

type Deps = Pick<Services, 'db' | 'clock' | 'log'> & { poll(authorization: AuthorizationRow): Promise<PollResult> }

/** RFC 8628, section 3.5. */
const SLOWER_BY_MS = 5000
const MAX_INTERVAL_MS = 60_000

/**
 * Asks services whether a person has entered the code of a device. When to ask next is in the row, so polling goes on after a
 * restart as if nothing had happened.
 */
export function createDevicePolls({ db, clock, log, poll }: Deps) {
  const underWay = new Set<string>()
  let cancel = () => {}
  let isStopped = false

  /** Waits for the next one that is due. */
  function plan(): void {
    cancel()
    if (isStopped) return
    const next = listWaitingDevices(db).find(({ id }) => !underWay.has(id))
    if (next === undefined) return
    cancel = clock.after(Math.max(0, next.nextPollAt! - clock.now()), () => {
      underWay.add(next.id)
      void askAndPlan(next)
      plan()
    })
  }

  async function askAndPlan(row: AuthorizationRow): Promise<void> {
    try {
      await ask(row)
      underWay.delete(row.id)
      plan()
    } catch (error) {
      // The database cannot be used, so its time to ask next could not be moved either.
      log.warn({ error: messageOf(error), authorizationId: row.id }, 'could not record a poll for a sign-in')
      underWay.delete(row.id)
      cancel()
      if (!isStopped) cancel = clock.after(MAX_INTERVAL_MS, plan)
    }
  }

  async function ask(row: AuthorizationRow): Promise<void> {
    const result = await poll(row).catch((error: unknown): PollResult => {
      log.warn({ error: messageOf(error), authorizationId: row.id }, 'could not ask whether somebody has signed in')
      return 'unreachable'
    })
    if (result === 'ended' || isStopped) return
    const interval = Math.min(row.pollIntervalMs! + (result === 'slower' ? SLOWER_BY_MS : 0), MAX_INTERVAL_MS)
    const pause = result === 'unreachable' ? Math.min(2 * interval, MAX_INTERVAL_MS) : interval
    transact(db, (tx) => postponePoll(tx, row.id, { pollIntervalMs: interval, nextPollAt: clock.now() + pause }))
  }

  return {
    plan,
    stop(): void {
      isStopped = true
      cancel()
    },
  }
}
