import type { JobSummary } from '../../../src-runner/contract/jobs.ts'

/** Jobs that failed and have the same origin, the newest first. */
export type Failure = readonly [JobSummary, ...JobSummary[]]

/** What failed again and again by one schedule or one webhook is one thing to look at; every other job is one of its own. */
export function failuresOf(newestFirst: readonly JobSummary[]): Failure[] {
  const known = new Map<string, [JobSummary, ...JobSummary[]]>()
  for (const job of newestFirst) {
    const origin = job.scheduleId ?? job.triggerId ?? job.id
    const group = known.get(origin)
    if (group === undefined) known.set(origin, [job])
    else group.push(job)
  }
  return [...known.values()]
}

/** Where all of them are to be seen; one alone has a page of its own. */
export function placeOf([newest, ...others]: Failure): string {
  if (others.length === 0) return `/jobs/${newest.id}`
  return newest.scheduleId === null ? `/automations/webhooks/${newest.triggerId}` : `/automations/schedules/${newest.scheduleId}`
}
