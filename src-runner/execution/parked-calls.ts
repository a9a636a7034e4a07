import type { AskedQuestion } from '../contract/approvals.ts'
import { CallAsks } from '../agent/tools/tool.ts'

/** `null`: the person did not answer in time, or nobody could ask. */
export type PersonAnswer = { answer: string } | { declined: true } | null

type CallKey = { jobId: string; callId: string }

/** `asking` resolves when a question is open, and is replaced with its answer. */
type ParkedCall<Result> = {
  jobId: string
  controller: AbortController
  result: Promise<Result>
  asking: PromiseWithResolvers<AskedQuestion>
  open: { answer(answer: PersonAnswer): void; approvalId: string | null } | null
  /** One question at a time. */
  last: Promise<unknown>
}

/** Each keeps a connection or a process of a server. The questions of further calls stay unanswered. */
const MAX_OPEN = 20
const MAX_QUESTIONS_PER_CALL = 30

export type ParkedCalls<Result> = ReturnType<typeof createParkedCalls<Result>>

/**
 * Calls that go on while a person is asked and no attempt waits for them. They are in memory: a call that ends with this process
 * follows its effect class like any other. A question expires with its approval.
 */
export function createParkedCalls<Result>() {
  const calls = new Map<string, ParkedCall<Result>>()
  const idOf = ({ jobId, callId }: CallKey) => JSON.stringify([jobId, callId])

  function start(id: string, jobId: string, work: (signal: AbortSignal, ask: Ask) => Promise<Result>): ParkedCall<Result> {
    const controller = new AbortController()
    let questions = 0
    const ask: Ask = (question) => {
      if (++questions > MAX_QUESTIONS_PER_CALL) return Promise.resolve(null)
      const answered = call.last.then(() => open(call, question))
      call.last = answered
      return answered
    }
    const call: ParkedCall<Result> = {
      jobId,
      controller,
      asking: Promise.withResolvers<AskedQuestion>(),
      open: null,
      last: Promise.resolve(),
      result: Promise.resolve().then(() => {
        controller.signal.throwIfAborted()
        return work(controller.signal, ask)
      }),
    }
    call.result.catch(() => {})
    controller.signal.addEventListener('abort', () => call.open?.answer(null), { once: true })
    calls.set(id, call)
    return call
  }

  function open(call: ParkedCall<Result>, question: AskedQuestion): Promise<PersonAnswer> {
    const isTooMany = [...calls.values()].filter((one) => one.open !== null).length >= MAX_OPEN
    if (isTooMany || call.controller.signal.aborted) return Promise.resolve(null)
    const { promise, resolve } = Promise.withResolvers<PersonAnswer>()
    call.open = {
      approvalId: null,
      answer(answer) {
        call.open = null
        call.asking = Promise.withResolvers()
        resolve(answer)
      },
    }
    call.asking.resolve(question)
    return promise
  }

  return {
    /** Runs a call, or goes on waiting for it. Throws CallAsks when it asks, whatever the call throws, or the signal's reason. */
    async run(key: CallKey, signal: AbortSignal, work: (signal: AbortSignal, ask: Ask) => Promise<Result>): Promise<Result> {
      const id = idOf(key)
      const call = calls.get(id) ?? start(id, key.jobId, work)
      const stop = () => call.controller.abort(signal.reason)
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop, { once: true })
      try {
        const next = await Promise.race([call.result.then((result) => ({ result })), call.asking.promise.then((asks) => ({ asks }))])
        if ('asks' in next) throw new CallAsks(next.asks)
        calls.delete(id)
        return next.result
      } catch (thrown) {
        if (!(thrown instanceof CallAsks)) calls.delete(id)
        throw thrown
      } finally {
        signal.removeEventListener('abort', stop)
      }
    },
    isUnderWay: (key: CallKey): boolean => calls.has(idOf(key)),
    /** The open question of the call is this approval from now on. `onOver`: the call has ended without an answer. */
    bind(key: CallKey, approvalId: string, onOver: () => void): void {
      const call = calls.get(idOf(key))
      if (call?.open == null) return onOver()
      const bound = call.open
      bound.approvalId = approvalId
      const over = () => call.open === bound && onOver()
      void call.result.then(over, over)
    },
    /** Does nothing if the approval is not the one of the open question. */
    answer(key: CallKey, approvalId: string, answer: PersonAnswer): void {
      const call = calls.get(idOf(key))
      if (call?.open?.approvalId === approvalId) call.open.answer(answer)
    },
    endJob(jobId: string): void {
      for (const [id, call] of calls) {
        if (call.jobId !== jobId) continue
        calls.delete(id)
        call.controller.abort(new Error('The job has ended.'))
      }
    },
  }
}

export type Ask = (question: AskedQuestion) => Promise<PersonAnswer>
