import { messageOf } from './errors.ts'
import type { Log } from './log.ts'

/** Stops one part, within `graceMs` if that takes a while. May be called when the part has not started, or only half. */
export type Disposer = (options: { graceMs: number }) => unknown

/** Stops parts in the reverse order in which they were added. Those added together stop at the same time. */
export type Disposables = {
  /** To be called before the part starts, because a start may fail half-way. */
  add(...together: Disposer[]): void
  /** Resolves when all have stopped, also when one fails. A second call does nothing. */
  run(options: { graceMs: number }): Promise<void>
}

export function createDisposables(log: Log): Disposables {
  const stages: Disposer[][] = []

  async function attempt(dispose: Disposer, options: { graceMs: number }): Promise<void> {
    try {
      await dispose(options)
    } catch (error) {
      log.error({ error }, `a part did not stop in order: ${messageOf(error)}`)
    }
  }

  return {
    add: (...together) => void stages.push(together),
    async run(options) {
      for (let stage = stages.pop(); stage !== undefined; stage = stages.pop()) {
        await Promise.all(stage.map((dispose) => attempt(dispose, options)))
      }
    },
  }
}
