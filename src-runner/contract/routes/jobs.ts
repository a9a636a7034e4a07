import { z } from 'zod'
import { Job, JobChannel, JobStatus, JobSummary, Step, SubmitTask } from '../jobs.ts'
import { Id, Moment, NextCursor, PageQuery } from '../primitives.ts'
import { get, jobParams, post } from './route.ts'

export const jobRoutes = {
  submitTask: post('/api/agent', {
    reach: 'workspace',
    summary: 'Submit a task to an agent. Responds after the job is on disk.',
    body: SubmitTask,
    status: 202,
    answer: z.object({ jobId: Id, status: z.literal('pending') }),
    errors: ['agent_not_found', 'conversation_not_found', 'job_not_found', 'job_creation_failed'],
  }),
  listJobs: get('/api/jobs', {
    reach: 'workspace',
    summary:
      'Jobs, newest first. `status` takes several, separated by commas. A page examines a bounded number of jobs: it may hold fewer than `limit`, even none, and have a `nextCursor`.',
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
    answer: z.object({ jobs: z.array(JobSummary), nextCursor: NextCursor }),
    shows: ['jobs'],
  }),
  countJobs: get('/api/jobs/counts', {
    reach: 'workspace',
    summary: 'How many jobs are pending, running or waiting right now.',
    answer: z.object({ pending: z.number(), running: z.number(), awaiting_approval: z.number(), awaiting_child: z.number() }),
    shows: ['jobs'],
  }),
  getJob: get('/api/jobs/:jobId', {
    reach: 'workspace',
    summary: 'One job.',
    params: jobParams,
    answer: z.object({ job: Job }),
    errors: ['job_not_found'],
    shows: ['job'],
  }),
  listSteps: get('/api/jobs/:jobId/steps', {
    reach: 'workspace',
    summary: 'The recorded steps of a job, in order. `after` is the last known `seq`.',
    params: jobParams,
    query: z.object({ after: z.coerce.number().int().min(0).default(0) }),
    answer: z.object({ steps: z.array(Step) }),
    errors: ['job_not_found'],
    shows: ['steps'],
  }),
  streamJob: get('/api/jobs/:jobId/stream', {
    reach: 'workspace',
    summary: 'Attach to a job: the current reply so far, then what follows, as in /api/chat/stream.',
    params: jobParams,
    stream: true,
    answer: z.unknown(),
    errors: ['job_not_found', 'too_many_streams'],
  }),
  cancelJob: post('/api/jobs/:jobId/cancel', {
    reach: 'workspace',
    summary: 'Stop a job. Takes effect within two seconds; the text written so far is kept.',
    params: jobParams,
    status: 202,
    answer: z.object({ job: Job }),
    errors: ['job_not_found', 'job_already_finished'],
  }),
  retryJob: post('/api/jobs/:jobId/retry', {
    reach: 'workspace',
    summary: 'Create a new job with the same task, linked to this one.',
    params: jobParams,
    status: 201,
    answer: z.object({ job: Job }),
    errors: ['job_not_found', 'job_not_finished', 'agent_not_found'],
  }),
}
