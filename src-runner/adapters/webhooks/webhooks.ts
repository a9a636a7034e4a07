import { transact } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { Clock } from '../../lib/clock.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import { carryOverLimits } from '../../domain/triggers/hourly-limit.ts'
import { createDeliveryLog } from '../../domain/triggers/delivery-log.ts'
import { pruneSenderIds } from '../../domain/triggers/triggers.sql.ts'
import { createTriggerIndex, type IndexedTrigger } from '../../domain/triggers/trigger-index.ts'
import { createBodyMemory } from './body-memory.ts'
import { createDeliveries } from './deliveries.ts'
import { createWebhookIntake } from './webhook-intake.ts'

export type WebhooksDeps = Pick<Services, 'db' | 'hub' | 'vault' | 'clock' | 'ids' | 'log' | 'time'> & {
  jobs: JobStore
  /** The clock by which ids of senders are deleted. */
  age?: Pick<Clock, 'now'>
  /** Whether this is our own probe of the public address. */
  probe?: (nonce: string) => boolean
}

const FORGET_EVERY_MS = 3_600_000

export type Webhooks = ReturnType<typeof createWebhooks>

export function createWebhooks({ hub, probe, ...deps }: WebhooksDeps) {
  const { db, clock, log, time } = deps
  let isCarriedOver = false

  /** Converts fires of an earlier boot to this boot's time. Until then no delivery is accepted, because the two cannot be compared. */
  function carryOver(): void {
    if (isCarriedOver) return
    transact(db, (tx) => carryOverLimits(tx, { now: clock.now(), time }))
    isCarriedOver = true
  }

  try {
    carryOver()
  } catch (error) {
    // A full disk must not keep the runner from starting. The next delivery tries again.
    log.warn({ error }, 'could not carry over the fires of an earlier boot yet')
  }
  const stopForgetting = clock.every(FORGET_EVERY_MS, () => transact(db, (tx) => pruneSenderIds(tx, (deps.age ?? clock).now())))
  const deliveryLog = createDeliveryLog(deps)
  const index = createTriggerIndex({ db, hub })
  const { take, findRepeated, waitFor, ...byHand } = createDeliveries({ ...deps, deliveryLog })
  const deliveries = {
    take,
    findRepeated,
    waitFor(trigger: IndexedTrigger) {
      carryOver()
      return waitFor(trigger)
    },
  }
  return {
    handle: createWebhookIntake({ clock, log, deliveryLog, index, deliveries, memory: createBodyMemory(), probe }),
    /** Deliveries that the person sends, and previews of a template. */
    ...byHand,
    /** The running time by which limits are measured. */
    time,
    /** Writes the refusals that are counted in memory. */
    flush: deliveryLog.flush,
    stop() {
      stopForgetting()
      index.stop()
      deliveryLog.flush()
    },
  }
}
