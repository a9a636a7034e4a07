import type { Occurrence, Schedule } from '../contract/schedules.ts'
import type { TestRunner } from './create-test-runner.ts'

/** Requests about schedules in a story. `runner` is a function, because a story restarts it. */
export type ScheduleClient = {
  read(schedule: Schedule): Promise<Schedule>
  /** The oldest first. */
  runHistory(schedule: Schedule): Promise<Occurrence[]>
  /** Reads again in each turn until the result matches. */
  until<T>(look: () => Promise<T>, isThere: (found: T) => boolean): Promise<T>
}

export function createScheduleClient(runner: () => TestRunner): ScheduleClient {
  const of = ({ id }: Schedule) => ({ params: { scheduleId: id } })
  return {
    read: async (schedule) => (await runner().client.ok('getSchedule', of(schedule))).schedule,
    runHistory: async (schedule) =>
      (await runner().client.ok('listOccurrences', { ...of(schedule), query: { limit: 200 } })).occurrences.reverse(),
    async until(look, isThere) {
      for (;;) {
        const found = await look()
        if (isThere(found)) return found
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}
