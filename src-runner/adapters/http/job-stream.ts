import { createMessage, englishText } from '../../lib/messages.ts'
import type { Approval } from '../../contract/approvals.ts'
import type { LiveJobStream } from '../../contract/events.ts'
import { isTerminal, type ChatStreamEvent, type Job } from '../../contract/jobs.ts'
import { saidIn } from '../../domain/jobs/said-text.ts'
import { unreachable } from '../../lib/errors.ts'
import type { HandlerDeps } from './handlers/deps.ts'
import { frame, type EventSink } from './stream.ts'

/**
 * Sends a job as it happens: `start`, then the reply under way so far, then each delta, tool call and recorded step, and
 * `done` when the job has ended or waits for a person. `done` is always last, and its reply is authoritative. A failed
 * job sends `error` before it.
 */
export function openJobStream(deps: Pick<HandlerDeps, 'db' | 'jobs' | 'liveStreams' | 'approvals'>, job: Job, sink: EventSink): () => void {
  const { db, jobs, liveStreams, approvals } = deps
  let ended = false
  let detach = () => {}

  function stop(): void {
    ended = true
    detach()
  }

  function sendEnd(): void {
    if (ended) return
    stop()
    const now = jobs.getJob(db, job.id)
    if (now.status === 'failed') {
      const detail = now.errorMessage ?? createMessage('job_broken')
      send(sink, { type: 'error', error: now.error ?? 'internal', message: englishText(detail), detail })
    }
    const asking = [job.id, ...jobs.listAskingBelow(db, job.id)]
    for (const { id, kind, callId, tool, expiresAt, ...about } of asking.flatMap((jobId) => approvals.listPendingOf(db, jobId))) {
      send(sink, { type: 'approval', approvalId: id, kind, callId, tool, summary: summaryOf({ tool, ...about }), expiresAt })
    }
    const reply = now.result ?? textSoFar(deps, now)
    send(sink, { type: 'done', reply, jobId: now.id, conversationId: now.conversationId, status: now.status, costUsd: now.costUsd })
    sink.end()
  }

  function onTail(tail: LiveJobStream): void {
    if (ended) return
    switch (tail.type) {
      case 'delta':
        // The one line that runs for every token of every model.
        return sink.send(`event: delta\ndata: {"text":${JSON.stringify(tail.text)},"seq":${tail.seq}}\n\n`)
      case 'reset':
      case 'tool':
      case 'tool_output':
        return send(sink, tail)
      case 'waiting':
        if (hasStopped(deps, job.id)) sendEnd()
        return
      case 'finished':
        return sendEnd()
      case 'step':
        // Read back, because only the database knows whether a failed call was refused.
        return send(sink, { type: 'step', step: jobs.listSteps(db, job.id, tail.step.seq - 1)[0] ?? tail.step })
      default:
        return unreachable(tail)
    }
  }

  send(sink, { type: 'start', jobId: job.id, conversationId: job.conversationId })
  detach = liveStreams.attach(job.id, onTail)
  // Attached first, then read: an end before is seen here, an end after is heard there.
  if (hasStopped(deps, job.id)) sendEnd()
  return stop
}

/** Whether a turn has ended, or goes on only when a person answers: itself, or a job that it waits for. */
export function hasStopped({ db, jobs }: Pick<HandlerDeps, 'db' | 'jobs'>, jobId: string): boolean {
  const { status } = jobs.getJob(db, jobId)
  if (status === 'awaiting_child') return jobs.listAskingBelow(db, jobId).length > 0
  return isTerminal(status) || status === 'awaiting_approval'
}

/** What a turn that waits has said so far: the texts of its recorded replies. */
export function textSoFar({ db, jobs }: Pick<HandlerDeps, 'db' | 'jobs'>, job: Job): string {
  return saidIn(jobs.listSteps(db, job.id).filter((step) => step.kind === 'reply'))
}

/** One line for a card that is shown before the approval itself is read. */
function summaryOf({ tool, facts, question, budget }: Pick<Approval, 'tool' | 'facts' | 'question' | 'budget'>): string {
  if (question !== null) return question.server === undefined ? question.text : `${question.server}: “${question.text}”`
  if (budget !== null) return `$${budget.spentUsd.toFixed(2)} of $${budget.limitUsd.toFixed(2)} are spent.`
  return facts?.summary ?? `Did ${tool ?? 'the call'} take effect?`
}

function send(sink: EventSink, { type, ...data }: ChatStreamEvent): void {
  sink.send(frame(type, JSON.stringify(data)))
}
