import type { JobSummary } from '../../../src-runner/contract/jobs.ts'

/** Failed jobs with the same origin, the newest first. */
export type Failure = readonly [JobSummary, ...JobSummary[]]

/** Groups failed jobs of the same schedule or webhook. Every other job is a group of its own. */
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

/** The page that shows all of them; for one job, its own page. */
export function placeOf([newest, ...others]: Failure): string {
  if (others.length === 0) return `/jobs/${newest.id}`
  return newest.scheduleId === null ? `/automations/webhooks/${newest.triggerId}` : `/automations/schedules/${newest.scheduleId}`
}
