import { AUTO_ORDER } from '../../contract/channels.ts'
import type { ScheduleNotifyVia } from '../../contract/schedules.ts'
import type { NotifyVia } from '../../contract/triggers.ts'

/** A list of channels is stored as one word, in the fixed order. */
export const STORED_VIA = [
  ...(['auto', 'telegram', 'discord', 'slack'] as const),
  ...(['telegram,discord', 'telegram,slack', 'discord,slack', 'telegram,discord,slack'] as const),
] as const
type StoredVia = (typeof STORED_VIA)[number]

export function storeVia(via: ScheduleNotifyVia): StoredVia {
  return typeof via === 'string' ? via : (AUTO_ORDER.filter((kind) => via.includes(kind)).join(',') as StoredVia)
}

export function readVia(stored: StoredVia): ScheduleNotifyVia {
  const kinds = stored.split(',') as (typeof AUTO_ORDER)[number][]
  return kinds.length === 1 ? (stored as NotifyVia) : kinds
}

/** Each channel to be notified. */
export function eachVia(stored: StoredVia): NotifyVia[] {
  return stored.split(',') as NotifyVia[]
}
