import type { ChatTurn, Job } from '../../../contract/jobs.ts'
import { AppError } from '../../../lib/errors.ts'
import { getAgent } from '../../../domain/agents/agents.ts'
import { findTurn, keepTurn } from '../../../domain/jobs/client-turns.ts'
import { readSettings } from '../../../domain/settings/settings.ts'
import { modelsOf } from '../../../execution/agent-work.ts'
import type { Handlers } from '../handler.ts'
import { hasStopped, openJobStream, textSoFar } from '../job-stream.ts'
import type { HandlerDeps } from './deps.ts'
import { createJob } from './jobs.ts'

export function chatHandlers(deps: HandlerDeps) {
  const { db, jobs } = deps

  /** Resolves when the turn is on disk. Refuses an agent without a model, whose turn could only fail. */
  function startTurn(turn: ChatTurn): Promise<Job> {
    const agent = getAgent(db, turn.agentId)
    // Before the checks, because a turn that was begun is joined whatever changed since. The transaction checks again.
    const begun = findTurn(db, turn)
    if (begun !== null) return Promise.resolve(jobs.getJob(db, begun))
    if (modelsOf(agent, readSettings(db).defaultModel).length === 0) {
      throw new AppError('agent_has_no_model')
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
      keepTurn(tx, deps, turn, job)
      return job
    })
  }

  return {
    async chat({ body }, call) {
      const { id, conversationId } = await startTurn(body)
      // A joined turn whose conversation was deleted.
      if (conversationId === null) throw new AppError('conversation_not_found')
      await untilStopped(deps, id, call.gone)
      const job = jobs.getJob(db, id)
      return { reply: job.result ?? textSoFar(deps, job), conversationId, jobId: id, status: job.status }
    },

    async chatStream({ body }) {
      const job = await startTurn(body)
      return (sink) => openJobStream(deps, job, sink)
    },
  } satisfies Partial<Handlers>
}

/** Resolves when the job has ended or waits for a person, or when the caller has disconnected. The turn then continues. */
function untilStopped(deps: HandlerDeps, jobId: string, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      detach()
      gone.removeEventListener('abort', finish)
      resolve()
    }
    let detach = () => {}
    detach = deps.liveStreams.attach(jobId, (tail) => {
      if (tail.type === 'finished' || (tail.type === 'waiting' && hasStopped(deps, jobId))) finish()
    })
    gone.addEventListener('abort', finish, { once: true })
    // The job may have ended before the stream was attached.
    if (gone.aborted || hasStopped(deps, jobId)) finish()
  })
}
