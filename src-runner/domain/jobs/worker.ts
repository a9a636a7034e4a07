import { createMessage } from '../../lib/messages.ts'
import { commitSoon, transact, type Database } from '../../platform/db/database.ts'
import type { Job } from '../../contract/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf, StaleClaimError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Claim } from './claim-job.ts'
import type { ClaimedJob } from './claim-job.ts'
import type { AttemptOutcome } from './settle-job.ts'
import type { JobStore } from './job-store.ts'

/** One attempt at a job, as `perform` gets it. */
export type Attempt = {
  job: Job
  claim: Claim
  /** Aborts with an AttemptStopped. */
  signal: AbortSignal
  /** To be called at every sign of progress, such as a token. A job that is silent for too long fails as stuck. */
  alive(): void
}

/** Why an attempt must end. `lost`: it no longer owns its job and may write nothing. */
export class AttemptStopped extends Error {
  override readonly name = 'AttemptStopped'
  readonly why: 'cancelled' | 'shutdown' | 'lost'

  constructor(why: 'cancelled' | 'shutdown' | 'lost') {
    super(`the attempt was stopped: ${why}`)
    this.why = why
  }
}

export type Worker = ReturnType<typeof createWorker>

type Slot = { claim: Claim; controller: AbortController; moved: boolean; done: Promise<void> }

/** How long an attempt may take to stop before it loses its claim. In all, Stop takes effect within two seconds. */
const STOP_PATIENCE_MS = 1500
const TICK_MS = 5000
/** A job without a step or sign of life for this long is stuck. */
const SILENCE_MS = 15 * 60_000
/** After a failed write, unless the database works again sooner: replies that cannot be recorded would waste money. */
const REST_AFTER_FULL_DISK_MS = 30_000
const SETTLE_AGAIN_MS = 1000

/**
 * Runs jobs, at most `limit()` at once. It knows no kind of work: `perform` does the work, records its steps and settles the job
 * with its claim. An attempt that throws or ends without settling is settled here.
 */
export function createWorker(deps: {
  store: JobStore
  db: Database
  clock: Clock
  log: Log
  limit: () => number
  perform: (attempt: Attempt) => Promise<void>
}) {
  const { store, db, clock, log, limit, perform } = deps
  const slots = new Map<string, Slot>()
  let state: 'new' | 'on' | 'paused' | 'stopped' = 'new'
  let claiming: Promise<void> | null = null
  let claimAgain = false
  /** Resolves when no call of `run` is still claiming. */
  let claimingByName: Promise<unknown> = Promise.resolve()
  let restUntil = 0
  let lastTickAt = clock.now()
  let watching = false
  let stopTicking = () => {}
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
        if (slots.size >= limit()) return
        const claimed = await commitSoon(db, (tx) => {
          const found: ClaimedJob[] = []
          for (let next = store.claimNext(tx, limit()); next !== null; next = store.claimNext(tx, limit())) found.push(next)
          return found
        })
        for (const one of claimed) launch(one)
      } catch (error) {
        log.warn({ err: error }, `no job could be claimed: ${messageOf(error)}`)
        restAfter(error)
      }
    }
    // While it rests, the tick tries again.
    claimAgain = false
  }

  function launch({ job, claim }: ClaimedJob): void {
    const controller = new AbortController()
    const slot: Slot = { claim, controller, moved: false, done: Promise.resolve() }
    slots.set(claim.jobId, slot)
    if (state === 'stopped') controller.abort(new AttemptStopped('shutdown'))
    slot.done = runAttempt(slot, job).finally(() => {
      if (slots.get(claim.jobId) === slot) slots.delete(claim.jobId)
      nudge()
    })
  }

  async function runAttempt(slot: Slot, job: Job): Promise<void> {
    const { claim, controller } = slot
    let outcome: AttemptOutcome
    try {
      await perform({ job, claim, signal: controller.signal, alive: () => void (slot.moved = true) })
      outcome = outcomeOf(controller.signal, null)
    } catch (error) {
      restAfter(error)
      outcome = outcomeOf(controller.signal, error)
      if (outcome.kind === 'failed') log.error({ err: error, jobId: claim.jobId }, `an attempt failed unexpectedly: ${messageOf(error)}`)
    }
    await settleIfHeld(claim, outcome)
  }

  /** A job must not stay `running` without an attempt, so on a full disk this retries until there is room or the process ends. */
  async function settleIfHeld(claim: Claim, outcome: AttemptOutcome): Promise<void> {
    while (db.connection.open) {
      try {
        if (!store.isHeld(db, claim)) return
        if (outcome.kind === 'failed' && outcome.error === 'internal')
          log.error({ jobId: claim.jobId }, 'a job is ended as failed: internal')
        await commitSoon(db, (tx) => store.settle(tx, claim, outcome))
        return
      } catch (error) {
        if (error instanceof StaleClaimError) return
        log.warn({ err: error, jobId: claim.jobId }, `the end of an attempt could not be written yet: ${messageOf(error)}`)
        if (state === 'stopped') return
        await clock.sleep(SETTLE_AGAIN_MS)
      }
    }
  }

  function restAfter(error: unknown): void {
    if (isTroubleWithFile(error)) restUntil = clock.monotonic() + REST_AFTER_FULL_DISK_MS
  }

  function stopAttempt(jobId: string): void {
    const slot = slots.get(jobId)
    if (slot === undefined) return
    slot.controller.abort(new AttemptStopped('cancelled'))
    void clock.sleep(STOP_PATIENCE_MS).then(() => {
      if (slots.get(jobId) === slot) forceCancel(jobId)
    })
  }

  function forceCancel(jobId: string): void {
    if (!db.connection.open) return
    try {
      transact(db, (tx) => store.forceCancel(tx, jobId))
    } catch (error) {
      log.warn({ err: error, jobId }, `a job could not be stopped yet: ${messageOf(error)}`)
    }
  }

  /** The job was ended without its attempt. The slot is free, whatever the attempt still does. */
  function abandon(jobId: string): void {
    const slot = slots.get(jobId)
    if (slot === undefined) return
    slots.delete(jobId)
    slot.controller.abort(new AttemptStopped('lost'))
    nudge()
  }

  /** Heartbeats, stuck jobs, and a safety net for stops and nudges that were missed. */
  function tick(): void {
    try {
      const passed = clock.now() - lastTickAt
      lastTickAt = clock.now()
      // The machine slept or its clock was set, so no attempt could give a sign of life.
      const wasAway = passed > 3 * TICK_MS || passed < 0
      const alive = [...slots.values()].filter((slot) => wasAway || slot.moved)
      for (const slot of alive) slot.moved = false
      const overdue = store.listOverdueStops(db, clock.now() - STOP_PATIENCE_MS)
      if (alive.length > 0 || slots.size > 0) {
        transact(db, (tx) => {
          store.heartbeat(
            tx,
            alive.map((slot) => slot.claim),
          )
          store.failStuck(tx, SILENCE_MS)
        })
      }
      overdue.forEach(forceCancel)
    } catch (error) {
      log.warn({ err: error }, `the check of running jobs failed: ${messageOf(error)}`)
    }
    nudge()
  }

  function watch(): void {
    if (watching) return
    watching = true
    lastTickAt = clock.now()
    stopTicking = clock.every(TICK_MS, tick)
    const stops = [
      store.watch({ ready: nudge, cancelRequested: stopAttempt, taken: abandon }),
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
        (found) => void (found && launch(found)),
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
      while (claiming !== null || slots.size > 0) {
        await claiming
        await Promise.all([...slots.values()].map((slot) => slot.done))
      }
    },
    /** Ends all attempts. Their jobs are pending again with every recorded step. */
    async stop({ graceMs }: { graceMs: number }): Promise<void> {
      state = 'stopped'
      stopTicking()
      stopWatching()
      await Promise.all([claiming, claimingByName])
      const open = [...slots.values()]
      for (const slot of open) slot.controller.abort(new AttemptStopped('shutdown'))
      if (graceMs > 0) {
        const patience = new AbortController()
        const ended = Promise.all(open.map((slot) => slot.done))
        await Promise.race([ended, clock.sleep(graceMs, patience.signal).catch(() => {})])
        patience.abort(new AttemptStopped('shutdown'))
      }
      // An attempt that has not ended loses its claim now, so that the next start does not take it for a crash.
      await Promise.all(
        open.filter((slot) => slots.get(slot.claim.jobId) === slot).map((slot) => settleIfHeld(slot.claim, { kind: 'released' })),
      )
      slots.clear()
    },
    /** The jobs that have an attempt here. */
    running: () => [...slots.keys()],
  }
}

/** The outcome of an attempt that did not settle its job. `thrown` null: it just ended. */
function outcomeOf(signal: AbortSignal, thrown: unknown): AttemptOutcome {
  const stopped: unknown = signal.reason
  if (stopped instanceof AttemptStopped) return stopped.why === 'cancelled' ? { kind: 'cancelled' } : { kind: 'released' }
  if (isTroubleWithFile(thrown)) return { kind: 'released' }
  return { kind: 'failed', error: 'internal', message: createMessage('job_broken') }
}

function isTroubleWithFile(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'disk_full' || error.code === 'database_unavailable')
}
