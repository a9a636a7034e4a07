import type { JobTail } from '../../contract/events.ts'
import type { JobStatus, Step } from '../../contract/jobs.ts'
import { messageOf } from '../../kit/errors.ts'
import { silentLog, type Log } from '../../kit/log.ts'

type ToolState = Extract<JobTail, { type: 'tool' }>

/** Which attempt speaks: the job and the number of its claim. */
export type AttemptOf = { jobId: string; claim: number }

/**
 * What running jobs are saying. Somebody who comes late first gets the text of the reply under way and the tools
 * that run, then what follows: nothing twice, nothing left out. Only that much is kept: what is recorded is read
 * from the database.
 */
export type JobTails = {
  /** Calls back at once with what is under way, then with what follows. Answers how to stop. */
  attach(jobId: string, listener: (tail: JobTail) => void): () => void
  /** A piece of the reply under way. From an attempt that is no longer the present one it goes nowhere; likewise `tool`. */
  delta(attempt: AttemptOf, text: string): void
  /** The reply under way broke off and starts again: what was said of it is void. */
  reset(attempt: AttemptOf): void
  tool(attempt: AttemptOf, tool: Omit<ToolState, 'type'>): void
  /** What a tool that runs says meanwhile. From one that does not run any more it goes nowhere. */
  toolOutput(attempt: AttemptOf, callId: string, text: string): void
  /** The text of the reply under way, which is not recorded yet. */
  textUnderWay(jobId: string): string
  /** An attempt begins behind step `lastSeq`. This and what follows is said by the job store, after its commits. */
  begin(attempt: AttemptOf, lastSeq: number): void
  step(jobId: string, step: Step): void
  waiting(jobId: string, status: JobStatus): void
  /** The attempt ended without an ending of the job: it is pending again. */
  release(jobId: string): void
  finished(jobId: string, status: JobStatus): void
}

type Tail = { claim: number; seq: number; text: string; whole: boolean; tools: Map<string, ToolState>; outputs: Map<string, string> }

/** A reply longer than this is still sent on; a late listener gets its first part and, when it is recorded, all of it. */
const MOST_TEXT_KEPT = 4_000_000
/** Of what a running tool says, a late listener gets the end. */
const MOST_OUTPUT_KEPT = 20_000

export function createJobTails({ log = silentLog }: { log?: Log } = {}): JobTails {
  const tails = new Map<string, Tail>()
  const listeners = new Map<string, Set<(tail: JobTail) => void>>()

  function tailOf({ jobId, claim }: AttemptOf): Tail | undefined {
    const tail = tails.get(jobId)
    return tail?.claim === claim ? tail : undefined
  }

  function publish(jobId: string, tail: JobTail): void {
    for (const listener of listeners.get(jobId) ?? []) call(listener, tail)
  }

  function call(listener: (tail: JobTail) => void, tail: JobTail): void {
    try {
      listener(tail)
    } catch (error) {
      log.error({ err: error, tail: tail.type }, `a listener of a job failed: ${messageOf(error)}`)
    }
  }

  return {
    attach(jobId, listener) {
      const tail = tails.get(jobId)
      if (tail !== undefined) {
        if (tail.text !== '') call(listener, { type: 'delta', seq: tail.seq, text: tail.text })
        for (const tool of tail.tools.values()) call(listener, tool)
        for (const [callId, text] of tail.outputs) call(listener, { type: 'tool_output', callId, text })
      }
      // A function of its own for each call: the same listener attached twice is two listeners.
      const attached = (event: JobTail) => listener(event)
      const ofJob = listeners.get(jobId) ?? new Set()
      listeners.set(jobId, ofJob.add(attached))
      return () => {
        ofJob.delete(attached)
        if (ofJob.size === 0 && listeners.get(jobId) === ofJob) listeners.delete(jobId)
      }
    },
    delta(attempt, text) {
      const tail = tailOf(attempt)
      if (tail === undefined || text === '') return
      if (tail.text.length + text.length > MOST_TEXT_KEPT) tail.whole = false
      if (tail.whole) tail.text += text
      publish(attempt.jobId, { type: 'delta', seq: tail.seq, text })
    },
    reset(attempt) {
      const tail = tailOf(attempt)
      if (tail === undefined) return
      Object.assign(tail, { text: '', whole: true })
      publish(attempt.jobId, { type: 'reset', seq: tail.seq })
    },
    tool(attempt, tool) {
      const tail = tailOf(attempt)
      if (tail === undefined) return
      const event: ToolState = { type: 'tool', ...tool }
      if (tool.state === 'running') tail.tools.set(tool.callId, event)
      else {
        tail.tools.delete(tool.callId)
        tail.outputs.delete(tool.callId)
      }
      publish(attempt.jobId, event)
    },
    toolOutput(attempt, callId, text) {
      const tail = tailOf(attempt)
      if (tail?.tools.has(callId) !== true || text === '') return
      tail.outputs.set(callId, `${tail.outputs.get(callId) ?? ''}${text}`.slice(-MOST_OUTPUT_KEPT).toWellFormed())
      publish(attempt.jobId, { type: 'tool_output', callId, text })
    },
    textUnderWay: (jobId) => tails.get(jobId)?.text ?? '',
    begin({ jobId, claim }, lastSeq) {
      tails.set(jobId, { claim, seq: lastSeq + 1, text: '', whole: true, tools: new Map(), outputs: new Map() })
    },
    step(jobId, step) {
      const tail = tails.get(jobId)
      if (tail !== undefined) {
        tail.seq = step.seq + 1
        if (step.kind === 'reply') Object.assign(tail, { text: '', whole: true })
      }
      publish(jobId, { type: 'step', step })
    },
    waiting(jobId, status) {
      tails.delete(jobId)
      publish(jobId, { type: 'waiting', status })
    },
    release(jobId) {
      tails.delete(jobId)
    },
    finished(jobId, status) {
      tails.delete(jobId)
      publish(jobId, { type: 'finished', status })
    },
  }
}
