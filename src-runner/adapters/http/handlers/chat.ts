import { isTerminal, type ChatTurn, type Job } from '../../../contract/jobs.ts'
import { AppError } from '../../../lib/errors.ts'
import { getAgent } from '../../../domain/agents/agents.ts'
import { findTurn, keepTurn } from '../../../domain/jobs/client-turns.ts'
import { readSettings } from '../../../domain/settings/settings.ts'
import { modelsOf } from '../../../execution/agent-work.ts'
import type { Handlers } from '../handler.ts'
import { openJobStream, textSoFar } from '../job-stream.ts'
import type { HandlerDeps } from './deps.ts'
import { createJob } from './jobs.ts'

export function chatHandlers(deps: HandlerDeps): Pick<Handlers, 'chat' | 'chatStream'> {
  const { db, jobs, clock } = deps

  /** Refuses what a person would otherwise only learn from a failed turn, then puts the turn on disk. */
  function startTurn(turn: ChatTurn): Promise<Job> {
    const agent = getAgent(db, turn.agentId)
    // Looked at again in the transaction. Before the checks: a turn that was begun is joined whatever changed since.
    const begun = findTurn(db, turn)
    if (begun !== null) return Promise.resolve(jobs.getJob(db, begun))
    if (modelsOf(agent, readSettings(db).defaultModel).length === 0) {
      throw new AppError('agent_has_no_model', 'This agent has no model, and there is no default model. Choose one first.')
    }
    return createJob(deps, (tx) => {
      const begun = findTurn(tx, turn)
      if (begun !== null) return jobs.getJob(tx, begun)
      const job = jobs.enqueue(tx, {
        agentId: turn.agentId,
        channel: 'chat',
        task: turn.message,
        conversation: turn.conversationId ?? 'new',
      })
      keepTurn(tx, turn, job, clock.now())
      return job
    })
  }

  return {
    async chat({ body }, call) {
      const { id } = await startTurn(body)
      await untilEndedOrWaiting(deps, id, call.gone)
      const job = jobs.getJob(db, id)
      return { reply: job.result ?? textSoFar(deps, job), conversationId: job.conversationId!, jobId: id, status: job.status }
    },

    async chatStream({ body }) {
      const job = await startTurn(body)
      return (sink) => openJobStream(deps, job, sink)
    },
  }
}

/** Resolves when the job has ended or waits for somebody, or when the caller has gone: the turn goes on without it. */
function untilEndedOrWaiting({ db, jobs, liveStreams }: HandlerDeps, jobId: string, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      detach()
      gone.removeEventListener('abort', finish)
      resolve()
    }
    let detach = () => {}
    detach = liveStreams.attach(jobId, (tail) => {
      if (tail.type === 'finished' || tail.type === 'waiting') finish()
    })
    gone.addEventListener('abort', finish, { once: true })
    // It may have ended between the commit and here; what the tail says from now on, it says to us.
    const { status } = jobs.getJob(db, jobId)
    if (gone.aborted || isTerminal(status) || status.startsWith('awaiting_')) finish()
  })
}
