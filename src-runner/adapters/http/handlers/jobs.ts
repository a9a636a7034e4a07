import { commitSoon, transact, type Db, type Tx } from '../../../platform/db/database.ts'
import type { Agent } from '../../../contract/agents.ts'
import { AppError } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { findAgent, findAgentBySlug, findDefaultAgent } from '../../../domain/agents/agents.ts'
import { findDefaultEntity } from '../../../domain/entities/entities.ts'
import { listKeptResults } from '../../../domain/files/kept-results.ts'
import { readKeptResult } from '../../../execution/kept-results.ts'
import type { Handlers } from '../handler.ts'
import { openJobStream } from '../job-stream.ts'
import type { HandlerDeps } from './deps.ts'

export function jobHandlers(deps: HandlerDeps) {
  const { db, jobs, files, blobs } = deps
  return {
    async submitTask({ body }, { overMcp }) {
      const job = await createJob(deps, (tx) =>
        jobs.enqueue(tx, {
          agentId: resolveAgent(tx, body).id,
          channel: 'api',
          task: body.task,
          conversation: body.conversationId ?? null,
          parentJobId: body.parentJobId,
          context: overMcp === true ? { overMcp } : null,
        }),
      )
      return { jobId: job.id, status: 'pending' }
    },

    listJobs: ({ query }, { caller }) => jobs.listJobs(db, { ...query, entityId: caller.entityId }),
    countJobs: (_input, { caller }) => jobs.countJobs(db, caller.entityId),
    getJob: ({ params }) => ({ job: jobs.getJob(db, params.jobId) }),
    listSteps: ({ params, query }) => ({ steps: jobs.listSteps(db, params.jobId, query.after) }),

    streamJob({ params }) {
      const job = jobs.getJob(db, params.jobId)
      return (sink) => openJobStream(deps, job, sink)
    },

    cancelJob: ({ params }) => ({ job: transact(db, (tx) => jobs.cancel(tx, params.jobId)) }),

    async retryJob({ params }) {
      return { job: await createJob(deps, (tx) => deps.codeTasks.copy(tx, params.jobId, jobs.retry(tx, params.jobId))) }
    },

    listKeptResults({ params }) {
      jobs.getJob(db, params.jobId)
      return { results: listKeptResults(db, params.jobId) }
    },
    getKeptResult: ({ params }) => readKeptResult({ db, blobs, jobs }, params.jobId, params.number),
    listJobFiles: async ({ params }) => ({ files: await files.list(params.jobId) }),
    getFileDiff: ({ params, query }) => files.diff(params.jobId, query.path, query.callId),
    undoFile: async ({ params, body }) => ({ file: await files.undo(params.jobId, body.path, body.force) }),
  } satisfies Partial<Handlers>
}

/** Resolves when the job is on disk. An error without a code becomes AppError job_creation_failed. */
export async function createJob<T extends object>({ db }: Pick<HandlerDeps, 'db'>, create: (tx: Tx) => T): Promise<T> {
  try {
    return (await commitSoon<object>(db, create)) as T
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('job_creation_failed', undefined, { cause: error })
  }
}

/** The agent that a task names, or the default agent of its workspace. Throws AppError agent_not_found. */
function resolveAgent(db: Db, { agentId, agentSlug, entityId }: { agentId?: string; agentSlug?: string; entityId?: string }): Agent {
  const workspaceId = entityId ?? findDefaultEntity(db).id
  const isNamed = agentId !== undefined || agentSlug !== undefined
  const find = () => {
    if (agentId !== undefined) return findAgent(db, agentId)
    return agentSlug === undefined ? findDefaultAgent(db, workspaceId) : findAgentBySlug(db, workspaceId, agentSlug)
  }
  const agent = find()
  if (agent !== null && (entityId === undefined || agent.entityId === entityId)) return agent
  throw new AppError('agent_not_found', isNamed ? undefined : createMessage('agent_missing'))
}
