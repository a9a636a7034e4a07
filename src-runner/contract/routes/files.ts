import { z } from 'zod'
import { FileDiff, WrittenFile } from '../files.ts'
import { jobParams, routeTable } from './route.ts'

export const fileRoutes = routeTable({
  listJobFiles: {
    method: 'GET',
    path: '/api/jobs/:jobId/files',
    gate: 'runner',
    summary: 'The files that a job wrote, each once, in the order in which it came upon them.',
    params: jobParams,
    status: 200,
    answer: z.object({ files: z.array(WrittenFile) }),
    errors: ['invalid_request', 'job_not_found'],
    shows: ['job'],
  },
  getFileDiff: {
    method: 'GET',
    path: '/api/jobs/:jobId/file-diff',
    gate: 'runner',
    summary:
      'What a job changed in one file, from what was kept: also after the file has changed again. With `callId`: what this call changed. `path`: as it is listed, or absolute.',
    params: jobParams,
    query: z.object({ path: z.string().min(1).max(8192), callId: z.string().min(1).max(200).optional() }),
    status: 200,
    answer: FileDiff,
    errors: ['invalid_request', 'job_not_found', 'file_not_written'],
    shows: ['job'],
  },
  undoFile: {
    method: 'POST',
    path: '/api/jobs/:jobId/files/undo',
    gate: 'runner',
    summary: 'Put back what was there before a job wrote a file. `force`: also when the file was changed since.',
    params: jobParams,
    body: z.object({ path: z.string().min(1).max(8192), force: z.boolean().default(false) }),
    status: 200,
    answer: z.object({ file: WrittenFile }),
    errors: ['invalid_request', 'job_not_found', 'file_not_written', 'file_changed_since', 'file_cannot_be_undone', 'disk_full'],
  },
})
