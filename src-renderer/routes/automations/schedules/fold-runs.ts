import type { UpcomingRun } from '../../../../src-runner/contract/schedules.ts'

/** More runs of one schedule would push those of others out of the list. */
const MANY = 4

/** Folds many runs of one schedule into one line, with their number and the first and last time. */
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
