import { createMessage } from '../../lib/messages.ts'
import { commitSoon, transact, type Database } from '../../platform/db/database.ts'
import type { Job } from '../../contract/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf, StaleClaimError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Claim, ClaimedJob } from './claim-job.ts'
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

export type AttemptsDeps = {
  store: JobStore
  db: Database
  clock: Clock
  log: Log
  perform: (attempt: Attempt) => Promise<void>
}

type Listeners = {
  /** There may be room for another attempt. Also called every few seconds, in case a nudge was missed. */
  onFree(): void
  /** An attempt threw. */
  onError(error: unknown): void
}

/** `isAlive`: it has given a sign of life since the last tick. */
type Slot = { claim: Claim; controller: AbortController; isAlive: boolean; done: Promise<void> }

/** How long an attempt may take to stop before it loses its claim. In all, Stop takes effect within two seconds. */
const STOP_PATIENCE_MS = 1500
const TICK_MS = 5000
/** A job without a step or sign of life for this long is stuck. */
const SILENCE_MS = 15 * 60_000
const SETTLE_AGAIN_MS = 1000

/** The attempts under way, from their claim to their end. One that throws or ends without settling its job is settled here. */
export function createAttempts({ store, db, clock, log, perform }: AttemptsDeps, { onFree, onError }: Listeners) {
  const slots = new Map<string, Slot>()
  let isStopping = false
  let lastTickAt = clock.now()
  let stopTicking = () => {}

  function launch({ job, claim }: ClaimedJob): void {
    const controller = new AbortController()
    const slot: Slot = { claim, controller, isAlive: false, done: Promise.resolve() }
    slots.set(claim.jobId, slot)
    if (isStopping) controller.abort(new AttemptStopped('shutdown'))
    slot.done = runAttempt(slot, job).finally(() => {
      if (slots.get(claim.jobId) === slot) slots.delete(claim.jobId)
      onFree()
    })
  }

  async function runAttempt(slot: Slot, job: Job): Promise<void> {
    const { claim, controller } = slot
    let outcome: AttemptOutcome
    try {
      await perform({ job, claim, signal: controller.signal, alive: () => void (slot.isAlive = true) })
      outcome = outcomeOf(controller.signal, null)
    } catch (error) {
      onError(error)
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
        if (isStopping) return
        await clock.sleep(SETTLE_AGAIN_MS)
      }
    }
  }

  function cancel(jobId: string): void {
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
    onFree()
  }

  /** Heartbeats, stuck jobs, and a safety net for stops that were missed. */
  function tick(): void {
    try {
      const passed = clock.now() - lastTickAt
      lastTickAt = clock.now()
      // The machine slept or its clock was set, so no attempt could give a sign of life.
      const wasAway = passed > 3 * TICK_MS || passed < 0
      const alive = [...slots.values()].filter((slot) => wasAway || slot.isAlive)
      for (const slot of alive) slot.isAlive = false
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
    onFree()
  }

  return {
    count: () => slots.size,
    jobIds: () => [...slots.keys()],
    launch,
    cancel,
    abandon,
    /** Begins to give signs of life. */
    watch(): void {
      lastTickAt = clock.now()
      stopTicking = clock.every(TICK_MS, tick)
    },
    /** Resolves when the present attempts have ended. */
    ended: () => Promise.all([...slots.values()].map((slot) => slot.done)),
    /** Ends all attempts, also those that `claiming` still launches. Their jobs are pending again with every recorded step. */
    async stop({ claiming, graceMs }: { claiming: Promise<unknown>; graceMs: number }): Promise<void> {
      isStopping = true
      stopTicking()
      await claiming
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
  }
}

/** The outcome of an attempt that did not settle its job. `thrown` null: it just ended. */
function outcomeOf(signal: AbortSignal, thrown: unknown): AttemptOutcome {
  const stopped: unknown = signal.reason
  if (stopped instanceof AttemptStopped) return stopped.why === 'cancelled' ? { kind: 'cancelled' } : { kind: 'released' }
  if (isTroubleWithFile(thrown)) return { kind: 'released' }
  return { kind: 'failed', error: 'internal', message: createMessage('job_broken') }
}

export function isTroubleWithFile(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'disk_full' || error.code === 'database_unavailable')
}
