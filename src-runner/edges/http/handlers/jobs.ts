import { commitSoon, transact, type Tx } from '../../../base/db/transact.ts'
import type { Job } from '../../../contract/jobs.ts'
import { AppError } from '../../../kit/errors.ts'
import { saidAs } from '../../../kit/said.ts'
import type { Handlers } from '../handler.ts'
import { openJobStream } from '../job-stream.ts'
import { resolveAgent } from './agent-of-task.ts'
import type { HandlerDeps } from './deps.ts'

type Routes = 'submitTask' | 'listJobs' | 'countJobs' | 'getJob' | 'listSteps' | 'streamJob' | 'cancelJob' | 'retryJob'

export function jobHandlers(deps: HandlerDeps): Pick<Handlers, Routes> {
  const { db, jobs } = deps
  return {
    async submitTask({ body }) {
      const job = await createJob(deps, (tx) =>
        jobs.enqueue(tx, {
          agentId: resolveAgent(tx, body).id,
          channel: 'api',
          task: body.task,
          conversation: body.conversationId ?? null,
          parentJobId: body.parentJobId,
        }),
      )
      return { jobId: job.id, status: 'pending' }
    },

    listJobs({ query }) {
      const { jobs: listed, ...rest } = jobs.listJobs(db, query)
      return { ...rest, jobs: listed.map(withSaid) }
    },
    countJobs: () => jobs.countJobs(db),
    getJob: ({ params }) => ({ job: withSaid(jobs.getJob(db, params.jobId)) }),
    listSteps: ({ params, query }) => ({ steps: jobs.listSteps(db, params.jobId, query.after) }),

    streamJob({ params }) {
      const job = jobs.getJob(db, params.jobId)
      return (sink) => openJobStream(deps, job, sink)
    },

    cancelJob: ({ params }) => ({ job: withSaid(transact(db, (tx) => jobs.cancel(tx, params.jobId))) }),

    async retryJob({ params }) {
      return { job: await createJob(deps, (tx) => jobs.retry(tx, params.jobId)) }
    },
  }
}

function withSaid<T extends Pick<Job, 'errorMessage'>>(job: T): T {
  return { ...job, ...saidAs('errorSaid', job.errorMessage) }
}

/** Resolves when the job is on disk. What goes wrong without a code of its own is the creation that failed. */
export async function createJob({ db }: Pick<HandlerDeps, 'db'>, create: (tx: Tx) => Job): Promise<Job> {
  try {
    return await commitSoon(db, create)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('job_creation_failed', 'The job could not be created. Nothing was started.', { cause: error })
  }
}
