import type { LiveJobStream } from '../../contract/events.ts'
import type { JobStatus, Step } from '../../contract/jobs.ts'
import { messageOf } from '../../lib/errors.ts'
import { silentLog, type Log } from '../../lib/log.ts'

type ToolState = Extract<LiveJobStream, { type: 'tool' }>

/** The attempt: its job and claim. */
export type AttemptOf = { jobId: string; claim: number }

/**
 * What running jobs stream. A late listener first gets the text of the current reply and the tools that run, then what
 * follows: nothing twice, nothing left out. Nothing else is kept, because recorded steps are read from the database.
 */
export type LiveJobStreams = {
  /** Calls back at once with the current state, then with what follows. Returns how to stop. */
  attach(jobId: string, listener: (tail: LiveJobStream) => void): () => void
  /** A piece of the current reply. Ignored from an attempt that no longer owns the job; likewise `tool`. */
  delta(attempt: AttemptOf, text: string): void
  /** The reply broke off and starts again: what was streamed of it no longer counts. */
  reset(attempt: AttemptOf): void
  tool(attempt: AttemptOf, tool: Omit<ToolState, 'type'>): void
  /** Output of a running tool. Ignored once the tool has ended. */
  toolOutput(attempt: AttemptOf, callId: string, text: string): void
  /** The text of the current reply, which is not recorded yet. */
  textUnderWay(jobId: string): string
  /** An attempt starts after step `lastSeq`. The job store calls this and the following, after its commits. */
  begin(attempt: AttemptOf, lastSeq: number): void
  step(jobId: string, step: Step): void
  waiting(jobId: string, status: JobStatus): void
  /** A job that works for this one asks a person. This one may still run. */
  waitingBelow(jobId: string): void
  /** The attempt ended, and the job is pending again. */
  release(jobId: string): void
  finished(jobId: string, status: JobStatus): void
}

type Tail = { claim: number; seq: number; text: string; isTextComplete: boolean; tools: Map<string, RunningTool> }
type RunningTool = { event: ToolState; output: string }

/** A longer reply is still streamed. A late listener gets its first part, and all of it once it is recorded. */
const MAX_TEXT_KEPT = 4_000_000
/** A late listener gets the end of a tool's output. */
const MAX_OUTPUT_KEPT = 20_000

export function createLiveJobStreams({ log = silentLog }: { log?: Log } = {}): LiveJobStreams {
  const streams = new Map<string, Tail>()
  const listeners = new Map<string, Set<(tail: LiveJobStream) => void>>()

  function tailOf({ jobId, claim }: AttemptOf): Tail | undefined {
    const tail = streams.get(jobId)
    return tail?.claim === claim ? tail : undefined
  }

  function publish(jobId: string, tail: LiveJobStream): void {
    for (const listener of listeners.get(jobId) ?? []) call(listener, tail)
  }

  function call(listener: (tail: LiveJobStream) => void, tail: LiveJobStream): void {
    try {
      listener(tail)
    } catch (error) {
      log.error({ err: error, tail: tail.type }, `a listener of a job failed: ${messageOf(error)}`)
    }
  }

  return {
    attach(jobId, listener) {
      const tail = streams.get(jobId)
      if (tail !== undefined) {
        if (tail.text !== '') call(listener, { type: 'delta', seq: tail.seq, text: tail.text })
        for (const [callId, { event, output }] of tail.tools) {
          call(listener, event)
          if (output !== '') call(listener, { type: 'tool_output', callId, text: output })
        }
      }
      // A new function for each call, so the same listener attached twice is two listeners.
      const attached = (event: LiveJobStream) => listener(event)
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
      if (tail.text.length + text.length > MAX_TEXT_KEPT) tail.isTextComplete = false
      if (tail.isTextComplete) tail.text += text
      publish(attempt.jobId, { type: 'delta', seq: tail.seq, text })
    },
    reset(attempt) {
      const tail = tailOf(attempt)
      if (tail === undefined) return
      Object.assign(tail, { text: '', isTextComplete: true })
      publish(attempt.jobId, { type: 'reset', seq: tail.seq })
    },
    tool(attempt, tool) {
      const tail = tailOf(attempt)
      if (tail === undefined) return
      const event: ToolState = { type: 'tool', ...tool }
      if (tool.state === 'running') tail.tools.set(tool.callId, { event, output: tail.tools.get(tool.callId)?.output ?? '' })
      else tail.tools.delete(tool.callId)
      publish(attempt.jobId, event)
    },
    toolOutput(attempt, callId, text) {
      const tool = tailOf(attempt)?.tools.get(callId)
      if (tool === undefined || text === '') return
      tool.output = `${tool.output}${text}`.slice(-MAX_OUTPUT_KEPT).toWellFormed()
      publish(attempt.jobId, { type: 'tool_output', callId, text })
    },
    textUnderWay: (jobId) => streams.get(jobId)?.text ?? '',
    begin({ jobId, claim }, lastSeq) {
      streams.set(jobId, { claim, seq: lastSeq + 1, text: '', isTextComplete: true, tools: new Map() })
    },
    step(jobId, step) {
      const tail = streams.get(jobId)
      if (tail !== undefined) {
        tail.seq = step.seq + 1
        if (step.kind === 'reply') Object.assign(tail, { text: '', isTextComplete: true })
      }
      publish(jobId, { type: 'step', step })
    },
    waiting(jobId, status) {
      streams.delete(jobId)
      publish(jobId, { type: 'waiting', status })
    },
    waitingBelow(jobId) {
      publish(jobId, { type: 'waiting', status: 'awaiting_child' })
    },
    release(jobId) {
      streams.delete(jobId)
    },
    finished(jobId, status) {
      streams.delete(jobId)
      publish(jobId, { type: 'finished', status })
    },
  }
}
