import type { Clock } from '../lib/clock.ts'
import type { Ids } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Vault } from '../lib/vault.ts'
import type { Database } from './db/database.ts'
import type { EventHub } from './events/event-hub.ts'
import type { MachineTime } from './time/machine-time.ts'

/** What nearly every part of the runner gets. A part names those that it uses: `Pick<Services, 'db' | 'clock'>`. */
export type Services = {
  db: Database
  hub: EventHub
  clock: Clock
  ids: Ids
  log: Log
  vault: Vault
  time: MachineTime
}
