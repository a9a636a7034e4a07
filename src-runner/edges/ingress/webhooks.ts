import type { Database } from '../../base/db/database.ts'
import { transact } from '../../base/db/transact.ts'
import type { EventHub } from '../../base/events/event-hub.ts'
import type { MachineTime } from '../../base/time/machine-time.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Ids } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import type { Vault } from '../../kit/vault.ts'
import type { JobStore } from '../../records/jobs/job-store.ts'
import { carryOverFires } from '../../records/triggers/hour-window.ts'
import { createInbox } from '../../records/triggers/inbox.ts'
import { forgetSenderIds } from '../../records/triggers/taking.ts'
import { createTriggerIndex } from '../../records/triggers/trigger-index.ts'
import { createBodyRoom } from './body-room.ts'
import { createIngress, type Ingress } from './ingress.ts'
import { createIntake, type Intake } from './intake.ts'

export type Webhooks = {
  ingress: Ingress
  /** Deliveries that the person sends, and what a template makes of one. */
  byHand: Pick<Intake, 'test' | 'replay' | 'preview'>
  time: MachineTime
  /** Writes down what is known of refused deliveries. For whoever is about to look, and before the end. */
  settle(): void
  stop(): void
}

export type WebhooksDeps = {
  db: Database
  hub: EventHub
  jobs: JobStore
  vault: Vault
  clock: Clock
  /** By which ids of senders are forgotten. */
  age?: Pick<Clock, 'now'>
  ids: Ids
  log: Log
  time: MachineTime
  probe?: (nonce: string) => boolean
}

const FORGET_EVERY_MS = 3_600_000
const CARRY_OVER_AGAIN_MS = 60_000

/** All that webhooks are made of. Before the first delivery it carries the fires of an earlier boot over into this one. */
export function createWebhooks({ hub, probe, ...deps }: WebhooksDeps): Webhooks {
  const { db, clock, log, time } = deps
  let isCarriedOver = false
  /** Throws what the database does. Until it is done nobody gets in: fires of two boots cannot be told apart. */
  const carryOver = () => {
    if (isCarriedOver) return
    transact(db, (tx) => carryOverFires(tx, { now: clock.now(), time }))
    isCarriedOver = true
  }
  const tryToCarryOver = () => {
    try {
      carryOver()
    } catch (error) {
      // A full disk, most likely: no reason not to start.
      log.warn({ error }, 'the fires of an earlier boot could not be carried over yet')
    }
  }
  tryToCarryOver()
  const stopCarrying = clock.every(CARRY_OVER_AGAIN_MS, tryToCarryOver)
  const inbox = createInbox(deps)
  const index = createTriggerIndex({ db, hub })
  const intake = createIntake({ ...deps, inbox })
  const waitFor: Intake['waitFor'] = (trigger) => {
    carryOver()
    return intake.waitFor(trigger)
  }
  const stopForgetting = clock.every(FORGET_EVERY_MS, () => {
    try {
      transact(db, (tx) => forgetSenderIds(tx, (deps.age ?? clock).now()))
    } catch (error) {
      log.warn({ error }, 'old ids of senders could not be removed')
    }
  })
  return {
    ingress: createIngress({ ...deps, inbox, index, intake: { ...intake, waitFor }, room: createBodyRoom(), probe }),
    byHand: intake,
    time,
    settle: inbox.settle,
    stop() {
      stopForgetting()
      stopCarrying()
      index.stop()
      inbox.settle()
    },
  }
}
