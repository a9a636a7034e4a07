import { JOB_CHANNELS, JOB_STATUSES, type JobChannel, type JobStatus } from '../../../src-runner/contract/jobs.ts'
import type { JobFilter } from '../../api/queries.ts'
import { isPeriod, PERIOD_DAYS } from '../../lib/periods.ts'
import { startOfDate, startOfDayBefore } from '../../lib/time.ts'

/** The filter of the list. It is kept in the URL, so that it can be bookmarked and gone back to. */
export type ActivityFilter = {
  status: JobStatus[]
  agent: string | null
  channel: JobChannel | null
  /** A `Period`, or one date as YYYY-MM-DD. */
  time: string | null
  q: string
}

export type ActivityParams = { status?: string; agent?: string; channel?: string; time?: string; q?: string }

export const STATUS_GROUPS = {
  active: ['pending', 'running', 'awaiting_child'],
  attention: ['awaiting_approval'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
} as const satisfies Record<string, readonly JobStatus[]>
export type StatusGroup = keyof typeof STATUS_GROUPS

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Reads the filter from a URL, which may be typed by hand: unknown values are left out. */
export function readFilter(params: ActivityParams): ActivityFilter {
  const statuses = (params.status ?? '').split(',')
  return {
    status: JOB_STATUSES.filter((status) => statuses.includes(status)),
    agent: ID.test(params.agent ?? '') ? params.agent! : null,
    channel: JOB_CHANNELS.find((channel) => channel === params.channel) ?? null,
    time: isPeriod(params.time ?? '') || startOfDate(params.time ?? '') !== null ? params.time! : null,
    q: (params.q ?? '').trim(),
  }
}

export function isFiltered(filter: ActivityFilter): boolean {
  return filter.status.length > 0 || filter.agent !== null || filter.channel !== null || filter.time !== null || filter.q !== ''
}

export function groupOf(status: readonly JobStatus[]): StatusGroup | null {
  const sorted = [...status].toSorted().join()
  return (Object.keys(STATUS_GROUPS) as StatusGroup[]).find((group) => [...STATUS_GROUPS[group]].toSorted().join() === sorted) ?? null
}

/** The filter of the request. Days begin in the person's time zone. */
export function jobFilterOf(filter: ActivityFilter, now: number): JobFilter {
  return {
    status: filter.status,
    agentId: filter.agent ?? undefined,
    channel: filter.channel ?? undefined,
    ...spanOf(filter.time, now),
    q: filter.q === '' ? undefined : filter.q,
  }
}

function spanOf(time: string | null, now: number): Pick<JobFilter, 'from' | 'to'> {
  if (time === null) return {}
  if (isPeriod(time)) return { from: startOfDayBefore(now, PERIOD_DAYS[time] - 1) }
  const from = startOfDate(time)!
  return { from, to: startOfDayBefore(from, -1) }
}
