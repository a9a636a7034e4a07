import { expect, it, onTestFinished } from 'vitest'
import { transact } from '../platform/db/database.ts'
import { createEventHub } from '../platform/events/event-hub.ts'
import { findEventBounds } from '../platform/events/event-log.sql.ts'
import type { ApprovalStore } from '../domain/approvals/approvals.ts'
import { openDomainRig } from '../testing/domain-rig.ts'
import { createMaintenance } from './maintenance.ts'

it('deletes old events faster than webhooks under attack record them', () => {
  const rig = openDomainRig()
  const { db, clock } = rig
  const log = { error() {}, warn() {}, info() {}, debug() {} }
  const times = { money: clock, age: clock, deadlines: clock, adjust: () => 0 }
  const approvals = { expireDue: () => [], reconsiderBudgets: () => undefined } as unknown as ApprovalStore
  const money = { money: clock, timezone: () => 'UTC' }
  const maintenance = createMaintenance({ db, hub: createEventHub({ db }), clock, log, times, ...money, approvals })
  onTestFinished(() => {
    maintenance.stop()
    rig.close()
  })
  const count = () => findEventBounds(db).newest - findEventBounds(db).oldest + 1
  transact(db, (tx) => {
    for (let i = 0; i < 30_000; i++) tx.emit({ type: 'settings.changed', payload: { keys: ['concurrency'] } })
  })
  clock.advance(31 * 24 * 3_600_000)
  maintenance.start()
  clock.advance(3_600_000)
  expect(count()).toBe(1)
})
