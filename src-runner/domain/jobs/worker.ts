import { commitSoon } from '../../platform/db/database.ts'
import { messageOf } from '../../lib/errors.ts'
import { createAttempts, isTroubleWithFile, type AttemptsDeps } from './attempts.ts'
import type { ClaimedJob } from './claim-job.ts'

export type Worker = ReturnType<typeof createWorker>

/** After a failed write, unless the database works again sooner: replies that cannot be recorded would waste money. */
const REST_AFTER_FULL_DISK_MS = 30_000

/**
 * Runs jobs, at most `limit()` at once. It knows no kind of work: `perform` does the work, records its steps and settles the job
 * with its claim.
 */
export function createWorker(deps: AttemptsDeps & { limit: () => number }) {
  const { store, db, clock, log, limit } = deps
  const attempts = createAttempts(deps, { onFree: nudge, onError: restAfter })
  let state: 'new' | 'on' | 'paused' | 'stopped' = 'new'
  let claiming: Promise<void> | null = null
  let claimAgain = false
  /** Resolves when no call of `run` is still claiming. */
  let claimingByName: Promise<unknown> = Promise.resolve()
  let restUntil = 0
  let watching = false
  let stopWatching = () => {}

  function nudge(): void {
    if (state !== 'on') return
    claimAgain = true
    claiming ??= claimAll().finally(() => {
      claiming = null
      if (claimAgain) nudge()
    })
  }

  /** Claims as many jobs as there is room for, in one commit. */
  async function claimAll(): Promise<void> {
    while (claimAgain && state === 'on' && clock.monotonic() >= restUntil) {
      claimAgain = false
      try {
        if (attempts.count() >= limit()) return
        const claimed = await commitSoon(db, (tx) => {
          const found: ClaimedJob[] = []
          for (let next = store.claimNext(tx, limit()); next !== null; next = store.claimNext(tx, limit())) found.push(next)
          return found
        })
        for (const one of claimed) attempts.launch(one)
      } catch (error) {
        log.warn({ err: error }, `no job could be claimed: ${messageOf(error)}`)
        restAfter(error)
      }
    }
    // While it rests, the tick tries again.
    claimAgain = false
  }

  function restAfter(error: unknown): void {
    if (isTroubleWithFile(error)) restUntil = clock.monotonic() + REST_AFTER_FULL_DISK_MS
  }

  function watch(): void {
    if (watching) return
    watching = true
    attempts.watch()
    const stops = [
      store.watch({ ready: nudge, cancelRequested: attempts.cancel, taken: attempts.abandon }),
      db.condition.onChange((trouble) => {
        if (trouble !== null) return
        restUntil = 0
        nudge()
      }),
    ]
    stopWatching = () => stops.forEach((stop) => stop())
  }

  return {
    /** From now on, claims all jobs that may run. */
    start(): void {
      if (state !== 'new') return
      state = 'on'
      watch()
      nudge()
    },
    /** Looks for claimable jobs. Happens by itself after every commit that may add one. */
    nudge,
    /** Claims this job if it may run now. Works without `start`, and then nothing else runs. */
    run(jobId: string): void {
      if (state === 'paused' || state === 'stopped') return
      watch()
      const claimed = commitSoon(db, (tx) => store.claim(tx, jobId, limit())).then(
        (found) => void (found && attempts.launch(found)),
        (error: unknown) => log.warn({ err: error, jobId }, `a job could not be claimed: ${messageOf(error)}`),
      )
      claimingByName = Promise.all([claimingByName, claimed])
    },
    /** Claims nothing until `resume`. Running jobs continue. */
    pause(): void {
      if (state === 'on') state = 'paused'
    },
    resume(): void {
      if (state !== 'paused') return
      state = 'on'
      nudge()
    },
    /** Resolves when nothing runs and nothing can be claimed. */
    async drain(): Promise<void> {
      nudge()
      await claimingByName
      while (claiming !== null || attempts.count() > 0) {
        await claiming
        await attempts.ended()
      }
    },
    /** Ends all attempts. Their jobs are pending again with every recorded step. */
    async stop({ graceMs }: { graceMs: number }): Promise<void> {
      state = 'stopped'
      stopWatching()
      await attempts.stop({ claiming: Promise.all([claiming, claimingByName]), graceMs })
    },
    /** The jobs that have an attempt here. */
    running: attempts.jobIds,
  }
}
