import { afterAwake } from '../../lib/clock.ts'
import { commitSoon } from '../../platform/db/database.ts'
import type { LiveJobStreams } from '../../platform/events/live-job-streams.ts'
import type { Services } from '../../platform/services.ts'
import type { Reservations } from '../../domain/budgets/reservations.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import { CodingSessionFailed, type CodingHandlers, type CodingTurn } from '../../agent/coding/coding-session.ts'
import type { CodeAttempt } from './code-attempt.ts'
import type { LiveCoding } from './live-coding.ts'
import type { LivePrograms } from './live-programs.ts'
import { createPermissionRequests, type PermissionRequestsDeps } from './permission-requests.ts'

export type ProgramTalkDeps = PermissionRequestsDeps &
  Pick<Services, 'db' | 'clock'> & {
    jobs: JobStore
    liveStreams: LiveJobStreams
    reservations: Reservations
    programs: Pick<LivePrograms, 'end'>
  }

/**
 * Why a talk is over. asks: a person has to answer first. spends: a spending limit is reached. stopped: the attempt must end.
 * time_limit: the job has no working time left.
 */
export type TalkEnd = 'asks' | 'spends' | 'stopped' | 'time_limit' | CodingTurn

/**
 * Talks to a program until its turn is over, it has to wait, or the attempt must end. Ends the program in the last case, and when this
 * throws. What it told of an unfinished turn is recorded then.
 */
export function createProgramTalk(deps: ProgramTalkDeps) {
  const { db, jobs, clock, programs } = deps
  const decide = createPermissionRequests(deps)

  async function talk(working: CodeAttempt, live: LiveCoding, prompt: string): Promise<TalkEnd> {
    const { attempt, agent } = working
    const { session } = live
    const listener = listen(working, live)
    const cut = Promise.withResolvers<'stopped' | 'time_limit'>()
    const stop = () => cut.resolve('stopped')
    attempt.signal.addEventListener('abort', stop, { once: true })
    if (attempt.signal.aborted) stop()
    const leftMs = Math.max(0, agent.limits.maxWorkingMs - attempt.job.workingMs)
    const stopTimer = afterAwake(clock, leftMs, () => cut.resolve('time_limit'))
    try {
      const turn = live.turn === null ? null : session.resume(listener.handlers)
      live.turn = turn ?? session.prompt(prompt, listener.handlers)
      live.turn.catch(() => {})
      const end = await Promise.race([live.turn, listener.paused, cut.promise, listener.broken])
      const isCut = end === 'stopped' || end === 'time_limit'
      // Its processes end beside the rest: Stop takes effect at once.
      if (isCut) programs.end(attempt.job.id, session)
      await listener.settled()
      if (isCut) await recordInterrupted(working, live)
      return end
    } catch (thrown) {
      programs.end(attempt.job.id, session)
      if (thrown instanceof CodingSessionFailed) await recordInterrupted(working, live)
      throw thrown
    } finally {
      stopTimer()
      attempt.signal.removeEventListener('abort', stop)
    }
  }

  async function recordInterrupted({ attempt }: CodeAttempt, { unrecorded }: LiveCoding): Promise<void> {
    if (unrecorded.hasNews())
      await commitSoon(db, (tx) => void jobs.recordReply(tx, attempt.claim, unrecorded.takeReply(true, { interrupted: true })))
  }

  /** The handlers of one attempt. What the program tells is recorded in its order, one commit after the other. */
  function listen(working: CodeAttempt, live: LiveCoding) {
    const { attempt } = working
    const { unrecorded } = live
    const { claim, alive } = attempt
    const paused = Promise.withResolvers<'asks' | 'spends'>()
    const broken = Promise.withResolvers<never>()
    broken.promise.catch(() => {})
    let queue: Promise<unknown> = Promise.resolve()
    let isPaused = false
    const inOrder = <T>(step: () => Promise<T>): Promise<T> => {
      const next = queue.then(step)
      queue = next.catch((thrown: unknown) => broken.reject(thrown as Error))
      return next
    }
    const pause = (why: 'asks' | 'spends') => {
      isPaused = true
      paused.resolve(why)
    }
    const recordReply = () => commitSoon(db, (tx) => void jobs.recordReply(tx, claim, unrecorded.takeReply(false)))
    const flush = async () => {
      if (unrecorded.hasNews()) await recordReply()
    }
    const checkMoney = async () => {
      if (unrecorded.freshMicros() === 0 || isPaused) return
      await recordReply()
      const { over } = await deps.reservations.reserve(claim.jobId, { estimateMicros: null, unrecordedMicros: 0 }, attempt.signal)
      deps.reservations.release(claim.jobId)
      if (over !== null) pause('spends')
    }
    const handlers: CodingHandlers = {
      text(delta) {
        alive()
        void inOrder(async () => {
          unrecorded.text(delta)
          deps.liveStreams.delta(claim, delta)
        })
      },
      thinking(delta) {
        alive()
        void inOrder(async () => unrecorded.thinking(delta))
      },
      usage(usage) {
        void inOrder(async () => {
          unrecorded.usage(usage)
          await checkMoney()
        })
      },
      toolCall(call) {
        alive()
        void inOrder(async () => {
          if (!unrecorded.isOpen(call)) return
          unrecorded.call(call)
          if (call.status !== 'completed' && call.status !== 'failed') return
          await flush()
          await commitSoon(db, (tx) => void jobs.recordToolResult(tx, claim, unrecorded.takeResult(call)))
        })
      },
      permission: (call) =>
        inOrder(async () => {
          alive()
          unrecorded.call(call)
          const answer = await decide(working, live, call, flush)
          if (answer === 'later') pause('asks')
          return answer
        }),
    }
    return { handlers, paused: paused.promise, broken: broken.promise, settled: () => queue }
  }

  return talk
}
