import { messageOf } from './errors.ts'
import type { Log } from './log.ts'

/** Ends one thing, within `graceMs` if that takes a while. To be called also when it has not begun, or only half. */
export type Ending = (options: { graceMs: number }) => unknown

/** How all that has begun is ended: what was added last ends first, what was added together ends side by side. */
export type Endings = {
  /** Best before the thing begins: it may fail half-way. */
  add(...together: Ending[]): void
  /** Resolves when everything has ended. One that fails keeps no other from ending. A second time there is nothing left to end. */
  run(options: { graceMs: number }): Promise<void>
}

export function createEndings(log: Log): Endings {
  const stages: Ending[][] = []

  async function end(ending: Ending, options: { graceMs: number }): Promise<void> {
    try {
      await ending(options)
    } catch (error) {
      log.error({ error }, `something did not end in order: ${messageOf(error)}`)
    }
  }

  return {
    add: (...together) => void stages.push(together),
    async run(options) {
      for (let stage = stages.pop(); stage !== undefined; stage = stages.pop()) {
        await Promise.all(stage.map((ending) => end(ending, options)))
      }
    },
  }
}
