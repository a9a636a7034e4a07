import type { Occurrence } from '../../../../src-runner/contract/schedules.ts'

/** From this many equal lines on, they are folded into one. */
const MANY = 3

/** One line of the run history: consecutive runs with the same outcome, the newest first. */
export type Entry = {
  /** Stays the same when newer runs join the entry. */
  key: string
  occurrences: readonly [Occurrence, ...Occurrence[]]
  /** All of them summed up as one. */
  sum: Occurrence
}

/** Folds consecutive runs that made no job for the same reason into one entry. A run with a job has its own. */
export function foldOccurrences(newestFirst: readonly Occurrence[]): Entry[] {
  const runs: [Occurrence, ...Occurrence[]][] = []
  for (const occurrence of newestFirst) {
    const last = runs.at(-1)
    if (last !== undefined && isAlike(last[0], occurrence)) last.push(occurrence)
    else runs.push([occurrence])
  }
  return runs.flatMap((run) => (run.length < MANY ? run.map((one) => entryOf([one])) : [entryOf(run)]))
}

function isAlike(a: Occurrence, b: Occurrence): boolean {
  return a.jobId === null && b.jobId === null && a.state !== 'due' && a.state === b.state && a.reason.code === b.reason.code
}

function entryOf(occurrences: Entry['occurrences']): Entry {
  const [newest] = occurrences
  const oldest = occurrences.at(-1)!
  if (newest === oldest) return { key: newest.id, occurrences, sum: newest }
  const times = occurrences.reduce((sum, one) => sum + one.times, 0)
  return { key: oldest.id, occurrences, sum: { ...newest, dueAt: oldest.dueAt, untilAt: newest.untilAt ?? newest.dueAt, times } }
}
