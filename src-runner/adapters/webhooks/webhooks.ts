import type { Database } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/transact.ts'
import type { EventHub } from '../../platform/events/event-hub.ts'
import type { MachineTime } from '../../platform/time/machine-time.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Vault } from '../../lib/vault.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import { carryOverLimits } from '../../domain/triggers/hourly-limit.ts'
import { createDeliveryLog } from '../../domain/triggers/delivery-log.ts'
import { pruneSenderIds } from '../../domain/triggers/triggers.sql.ts'
import { createTriggerIndex } from '../../domain/triggers/trigger-index.ts'
import { createBodyMemory } from './body-memory.ts'
import { createDeliveries, type Deliveries } from './deliveries.ts'
import { createWebhookIntake, type WebhookIntake } from './webhook-intake.ts'

export type Webhooks = {
  intake: WebhookIntake
  /** Deliveries that the person sends, and previews of a template. */
  byHand: Pick<Deliveries, 'test' | 'replay' | 'preview'>
  time: MachineTime
  /** Writes the refusals that are counted in memory. */
  settle(): void
  stop(): void
}

export type WebhooksDeps = {
  db: Database
  hub: EventHub
  jobs: JobStore
  vault: Vault
  clock: Clock
  /** The time by which ids of senders are forgotten. */
  age?: Pick<Clock, 'now'>
  ids: Ids
  log: Log
  time: MachineTime
  probe?: (nonce: string) => boolean
}

const FORGET_EVERY_MS = 3_600_000
const CARRY_OVER_AGAIN_MS = 60_000

export function createWebhooks({ hub, probe, ...deps }: WebhooksDeps): Webhooks {
  const { db, clock, log, time } = deps
  let isCarriedOver = false
  /** Fires of an earlier boot are converted to this boot's time. Until then no delivery is accepted, because the two cannot be compared. */
  const carryOver = () => {
    if (isCarriedOver) return
    transact(db, (tx) => carryOverLimits(tx, { now: clock.now(), time }))
    isCarriedOver = true
  }
  /** A full disk must not keep the runner from starting. */
  const attempt = (work: () => void, failure: string) => () => {
    try {
      work()
    } catch (error) {
      log.warn({ error }, failure)
    }
  }
  const tryToCarryOver = attempt(carryOver, 'could not carry over the fires of an earlier boot yet')
  tryToCarryOver()
  const stopCarrying = clock.every(CARRY_OVER_AGAIN_MS, tryToCarryOver)
  const stopForgetting = clock.every(
    FORGET_EVERY_MS,
    attempt(() => void transact(db, (tx) => pruneSenderIds(tx, (deps.age ?? clock).now())), 'could not delete old ids of senders'),
  )
  const deliveryLog = createDeliveryLog(deps)
  const index = createTriggerIndex({ db, hub })
  const byHand = createDeliveries({ ...deps, deliveryLog })
  const deliveries: Deliveries = {
    ...byHand,
    waitFor(trigger) {
      carryOver()
      return byHand.waitFor(trigger)
    },
  }
  return {
    intake: createWebhookIntake({ clock, log, deliveryLog, index, deliveries, memory: createBodyMemory(), probe }),
    byHand,
    time,
    settle: deliveryLog.flush,
    stop() {
      stopForgetting()
      stopCarrying()
      index.stop()
      deliveryLog.flush()
    },
  }
}
