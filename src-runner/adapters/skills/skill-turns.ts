const FETCH_MS = 180_000

export type SkillTurns = ReturnType<typeof createSkillTurns>

/** What changes rows and folders of skills runs alone, until the runner stops. Sources are read before, so a slow one holds nobody up. */
export function createSkillTurns() {
  const stopping = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  return {
    alone<T>(work: () => Promise<T>): Promise<T> {
      const turn = last.then(() => {
        stopping.signal.throwIfAborted()
        return work()
      })
      last = turn.catch(() => {})
      return turn
    },
    /** How long a source may take. */
    patience: () => AbortSignal.any([stopping.signal, AbortSignal.timeout(FETCH_MS)]),
    isStopping: () => stopping.signal.aborted,
    async stop(): Promise<void> {
      stopping.abort(new Error('the runner stops'))
      await last
    },
  }
}
