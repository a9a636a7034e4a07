import { z } from 'zod'
import { Job, JobChannel, JobStatus, JobSummary, Step, SubmitTask } from '../jobs.ts'
import { Id, Moment, NextCursor, PageQuery } from '../primitives.ts'
import { jobParams, routeTable } from './route.ts'

export const jobRoutes = routeTable({
  submitTask: {
    method: 'POST',
    path: '/api/agent',
    gate: 'runner',
    summary: 'Submit a task to an agent. The answer leaves after the job is on disk.',
    body: SubmitTask,
    status: 202,
    answer: z.object({ jobId: Id, status: z.literal('pending') }),
    errors: ['invalid_request', 'agent_not_found', 'conversation_not_found', 'job_not_found', 'job_creation_failed', 'disk_full'],
  },
  listJobs: {
    method: 'GET',
    path: '/api/jobs',
    gate: 'runner',
    summary:
      'Jobs, newest first. `status` takes several, separated by commas. A page looks at a bounded number of jobs: it may hold fewer than `limit`, even none, and have a `nextCursor`.',
    query: PageQuery.extend({
      status: z
        .string()
        .transform((text) => text.split(','))
        .pipe(z.array(JobStatus).min(1).max(10))
        .optional(),
      agentId: Id.optional(),
      channel: JobChannel.optional(),
      /** The jobs that this one delegated. */
      parentJobId: Id.optional(),
      /** Created at or after. */
      from: z.coerce.number().pipe(Moment).optional(),
      /** Created before. */
      to: z.coerce.number().pipe(Moment).optional(),
      /** Full-text search over title, task and result. */
      q: z.string().trim().max(500).optional(),
    }),
    status: 200,
    answer: z.object({ jobs: z.array(JobSummary), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['jobs'],
  },
  countJobs: {
    method: 'GET',
    path: '/api/jobs/counts',
    gate: 'runner',
    summary: 'How many jobs are pending, running or waiting right now.',
    status: 200,
    answer: z.object({ pending: z.number(), running: z.number(), awaiting_approval: z.number(), awaiting_child: z.number() }),
    errors: [],
    shows: ['jobs'],
  },
  getJob: {
    method: 'GET',
    path: '/api/jobs/:jobId',
    gate: 'runner',
    summary: 'One job.',
    params: jobParams,
    status: 200,
    answer: z.object({ job: Job }),
    errors: ['invalid_request', 'job_not_found'],
    shows: ['job'],
  },
  listSteps: {
    method: 'GET',
    path: '/api/jobs/:jobId/steps',
    gate: 'runner',
    summary: 'The recorded steps of a job, in order. `after` is the last seq already held.',
    params: jobParams,
    query: z.object({ after: z.coerce.number().int().min(0).default(0) }),
    status: 200,
    answer: z.object({ steps: z.array(Step) }),
    errors: ['invalid_request', 'job_not_found'],
    shows: ['job'],
  },
  streamJob: {
    method: 'GET',
    path: '/api/jobs/:jobId/stream',
    gate: 'runner',
    summary: 'Attach to a job: the text of the reply under way so far, then what follows, as in /api/chat/stream.',
    params: jobParams,
    status: 200,
    stream: true,
    answer: z.unknown(),
    errors: ['invalid_request', 'job_not_found'],
  },
  cancelJob: {
    method: 'POST',
    path: '/api/jobs/:jobId/cancel',
    gate: 'runner',
    summary: 'Stop a job. Takes effect within two seconds; the text written so far is kept.',
    params: jobParams,
    bodyOptional: true,
    status: 202,
    answer: z.object({ job: Job }),
    errors: ['invalid_request', 'job_not_found', 'job_already_finished'],
  },
  retryJob: {
    method: 'POST',
    path: '/api/jobs/:jobId/retry',
    gate: 'runner',
    summary: 'Make a new job with the same task, linked to this one.',
    params: jobParams,
    bodyOptional: true,
    status: 201,
    answer: z.object({ job: Job }),
    errors: ['invalid_request', 'job_not_found', 'job_not_finished', 'agent_not_found', 'disk_full'],
  },
})
