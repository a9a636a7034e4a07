import type { RunnerState } from '../contract/desktop-api.ts'
import { createListeners } from '../listeners.ts'
import type { Log } from '../log/log.ts'

/** The state of the runner, and those who follow it. */
export function createRunnerStates(log: Log) {
  const listeners = createListeners<[RunnerState]>()
  let state: RunnerState = { state: 'stopped' }

  return {
    current: () => state,
    onState: listeners.add,
    become(next: RunnerState): void {
      state = next
      log.info({ runner: next }, `runner ${next.state}`)
      listeners.tell(next)
    },
    /** Resolves with the first state that is neither starting nor restarting. */
    settled(): Promise<RunnerState> {
      if (isSettled(state)) return Promise.resolve(state)
      return new Promise((resolve) => {
        const unsubscribe = listeners.add((next) => {
          if (!isSettled(next)) return
          unsubscribe()
          resolve(next)
        })
      })
    },
  }
}

function isSettled({ state }: RunnerState): boolean {
  return state !== 'starting' && state !== 'restarting'
}
