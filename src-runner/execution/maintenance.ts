import { transact, type Tx } from '../platform/db/database.ts'
import { pruneEvents } from '../platform/events/event-log.sql.ts'
import type { TrustedClock } from '../platform/time/trusted-clock.ts'
import type { Services } from '../platform/services.ts'
import type { Clock } from '../lib/clock.ts'
import type { StoredEvent } from '../contract/events.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import { moveGivingUp } from '../domain/outbox/send-message.ts'

export type MaintenanceDeps = Pick<Services, 'db' | 'hub' | 'clock' | 'log'> & {
  times: TrustedClock
  money: Pick<Clock, 'now'>
  timezone: () => string
  approvals: ApprovalStore
}

/** Each time, 5,000 are deleted at most: more in an hour than busy webhooks record. */
const EVENTS_KEPT = { rows: 200_000, forMs: 30 * 24 * 3_600_000, checkEveryMs: 60_000 }
const LOOK_EVERY_MS = 30_000

export function createMaintenance({ db, hub, clock, log, times, money, timezone, approvals }: MaintenanceDeps) {
  const stops: (() => void)[] = []

  function keepTime(): void {
    try {
      const byMs = transact(db, (tx) => {
        const byMs = times.adjust(tx)
        if (byMs !== 0) moveDeadlines(tx, byMs)
        return byMs
      })
      if (byMs !== 0) log.warn({ byMs }, 'the clock was changed: its new time is trusted after a day, or when it is set right')
      // First: with the money of a new day, a job does not have to fail.
      transact(db, reconsiderBudgets)
      transact(db, (tx) => approvals.expireDue(tx))
    } catch (error) {
      log.warn({ error }, 'could not expire approvals this time')
    }
  }

  function moveDeadlines(tx: Tx, byMs: number): void {
    approvals.moveExpiry(tx, byMs)
    moveGivingUp(tx, byMs)
    tx.emit({ type: 'clock.set', payload: { byMs } })
  }

  function forgetOldEvents(): void {
    transact(db, (tx) => pruneEvents(tx, { keepRows: EVENTS_KEPT.rows, olderThan: times.age.now() - EVENTS_KEPT.forMs }))
  }

  function reconsiderBudgets(tx: Tx): void {
    approvals.reconsiderBudgets(tx, { now: money.now(), timezone: timezone() })
  }

  function onEvent(event: StoredEvent): void {
    const hasChanged = (setting: string) => event.type === 'settings.changed' && event.payload.keys.includes(setting)
    if (event.type === 'agent.changed' || hasChanged('dayBudgetUsd')) transact(db, reconsiderBudgets)
    if (event.type === 'model.price_changed' || hasChanged('defaultModel')) transact(db, (tx) => approvals.retryBudgets(tx))
    else if (event.type === 'agent.changed' && event.payload.hasNewModel) {
      const { agentId } = event.payload
      transact(db, (tx) => approvals.retryBudgets(tx, agentId))
    }
  }

  return {
    start(): void {
      keepTime()
      stops.push(hub.subscribe(onEvent), clock.every(EVENTS_KEPT.checkEveryMs, forgetOldEvents), clock.every(LOOK_EVERY_MS, keepTime))
    },
    stop(): void {
      // Time between this moment and the next start counts as off.
      if (stops.length > 0) keepTime()
      for (const stop of stops.splice(0)) stop()
    },
  }
}
