import { z } from 'zod'
import { FileDiff, KeptResult, KeptResultContent, WrittenFile } from '../files.ts'
import { get, jobParams, post } from './route.ts'

export const fileRoutes = {
  listJobFiles: get('/api/jobs/:jobId/files', {
    reach: 'workspace',
    summary: 'The files that a job wrote, in the order of the first write.',
    params: jobParams,
    answer: z.object({ files: z.array(WrittenFile) }),
    errors: ['job_not_found'],
    shows: ['job'],
  }),
  getFileDiff: get('/api/jobs/:jobId/file-diff', {
    reach: 'workspace',
    summary:
      'What a job, or one call of it, changed in a file. It is read from stored content, so later changes do not affect it. `path`: as listed, absolute, or as in the call.',
    params: jobParams,
    query: z.object({ path: z.string().min(1).max(8192), callId: z.string().min(1).max(200).optional() }),
    answer: FileDiff,
    errors: ['job_not_found', 'file_not_written'],
    shows: ['job'],
  }),
  listKeptResults: get('/api/jobs/:jobId/results', {
    reach: 'workspace',
    summary: 'What the calls of a job returned beyond what a model reads at once.',
    params: jobParams,
    answer: z.object({ results: z.array(KeptResult) }),
    errors: ['job_not_found'],
    shows: ['job'],
  }),
  getKeptResult: get('/api/jobs/:jobId/results/:number', {
    reach: 'workspace',
    summary: 'One of them with its content, which is untrusted.',
    params: jobParams.extend({ number: z.coerce.number().int().min(1) }),
    answer: KeptResultContent,
    errors: ['job_not_found', 'result_not_kept'],
  }),
  undoFile: post('/api/jobs/:jobId/files/undo', {
    reach: 'workspace',
    summary: 'Restore a file as it was before a job wrote it. `force`: even if it was changed since.',
    params: jobParams,
    body: z.object({ path: z.string().min(1).max(8192), force: z.boolean().default(false) }),
    answer: z.object({ file: WrittenFile }),
    errors: ['job_not_found', 'file_not_written', 'file_changed_since', 'file_cannot_be_undone'],
  }),
}
