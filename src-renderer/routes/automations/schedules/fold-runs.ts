import type { UpcomingRun } from '../../../../src-runner/contract/schedules.ts'

/** From so many on, the runs of one schedule would push those of the others out of the list. */
const MANY = 4

/** Many runs of one schedule that would fare alike are told of as one: so many times from the first to the last. */
export function foldRuns(runs: readonly UpcomingRun[]): UpcomingRun[] {
  const alike = new Map<string, UpcomingRun[]>()
  for (const run of runs) {
    const key = `${run.scheduleId} ${run.blockedBy}`
    alike.set(key, [...(alike.get(key) ?? []), run])
  }
  return [...alike.values()]
    .flatMap((group) => {
      if (group.length < MANY) return group
      const times = group.reduce((sum, run) => sum + run.times, 0)
      return [{ ...group[0]!, times, untilAt: group.at(-1)!.untilAt }]
    })
    .sort((a, b) => a.dueAt - b.dueAt)
}
