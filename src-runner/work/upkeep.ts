import type { Database } from '../base/db/database.ts'
import { transact, type Tx } from '../base/db/transact.ts'
import type { EventHub } from '../base/events/event-hub.ts'
import { pruneEvents } from '../base/events/event-log.ts'
import type { BelievedTimes } from '../base/time/believed-time.ts'
import type { StoredEvent } from '../contract/events.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { ApprovalStore } from '../records/approvals/approvals.ts'
import { moveGivingUp } from '../records/outbox/sending.ts'

export type UpkeepDeps = { db: Database; hub: EventHub; clock: Clock; log: Log; times: BelievedTimes; approvals: ApprovalStore }

/** What has to be done now and then without anybody who asks for it. */
export type Upkeep = { start(): void; stop(): void }

const EVENTS_KEPT = { rows: 200_000, forMs: 30 * 24 * 3_600_000, checkEveryMs: 3_600_000 }
const LOOK_EVERY_MS = 30_000

export function createUpkeep({ db, hub, clock, log, times, approvals }: UpkeepDeps): Upkeep {
  const stops: (() => void)[] = []

  function keepTime(): void {
    try {
      const byMs = transact(db, (tx) => {
        const byMs = times.notice(tx)
        if (byMs !== 0) moveDeadlines(tx, byMs)
        return byMs
      })
      if (byMs !== 0) log.warn({ byMs }, 'the clock was set: what it shows now is believed when it has stood for a day, or is set right')
      // By the time that is known now.
      transact(db, (tx) => approvals.expireDue(tx))
    } catch (error) {
      log.warn({ error }, 'approvals that are due could not be closed this time')
    }
  }

  function moveDeadlines(tx: Tx, byMs: number): void {
    approvals.moveExpiry(tx, byMs)
    moveGivingUp(tx, byMs)
    tx.emit({ type: 'clock.set', payload: { byMs } })
  }

  function forgetOldEvents(): void {
    try {
      transact(db, (tx) => pruneEvents(tx, { keepRows: EVENTS_KEPT.rows, olderThan: times.age.now() - EVENTS_KEPT.forMs }))
    } catch (error) {
      log.warn({ error }, 'old events could not be removed')
    }
  }

  /** A cap that a person raised lets those go on who wait for more money. */
  function reconsiderBudgets(event: StoredEvent): void {
    const isAboutCaps = event.type === 'agent.changed' || (event.type === 'settings.changed' && event.payload.keys.includes('dayBudgetUsd'))
    if (isAboutCaps) transact(db, (tx) => approvals.reconsiderBudgets(tx))
  }

  return {
    start() {
      keepTime()
      stops.push(
        hub.subscribe(reconsiderBudgets),
        clock.every(EVENTS_KEPT.checkEveryMs, forgetOldEvents),
        clock.every(LOOK_EVERY_MS, keepTime),
      )
    },
    stop() {
      // What the next start finds between this moment and its own, the machine or the app was off.
      if (stops.length > 0) keepTime()
      for (const stop of stops.splice(0)) stop()
    },
  }
}
