import { z } from 'zod'
import { CodeRepository, CodeTaskDiff } from '../code-tasks.ts'
import { Id } from '../primitives.ts'
import { get, jobParams, Nothing, post } from './route.ts'

const UNUSABLE = ['code_task_not_found', 'git_missing', 'code_not_available'] as const

export const codeResultRoutes = {
  getCodeTaskDiff: get('/api/code-tasks/:jobId/diff', {
    reach: 'workspace',
    summary: 'How one of the changed files of a code task differs from the commit that it began with.',
    params: jobParams,
    query: z.object({ path: z.string().min(1).max(8192) }),
    answer: CodeTaskDiff,
    errors: UNUSABLE,
    shows: ['code_task'],
  }),
  applyCodeTask: post('/api/code-tasks/:jobId/apply', {
    ownerOnly: true,
    reach: 'workspace',
    summary: "Bring the changes of a code task into the files of the person's checkout, all or none. `files`: how many were written.",
    params: jobParams,
    answer: z.object({ ok: z.literal(true), files: z.number().int() }),
    errors: [...UNUSABLE, 'job_not_finished', 'code_does_not_apply'],
  }),
  discardCodeTask: post('/api/code-tasks/:jobId/discard', {
    ownerOnly: true,
    reach: 'workspace',
    summary: 'Delete the folder and the branch of a code task.',
    params: jobParams,
    answer: Nothing,
    errors: [...UNUSABLE, 'job_not_finished', 'code_branch_in_use'],
  }),
  removeCodeTaskFolder: post('/api/code-tasks/:jobId/remove-folder', {
    ownerOnly: true,
    reach: 'workspace',
    summary: 'Delete the folder of a code task. The branch keeps the work.',
    params: jobParams,
    answer: Nothing,
    errors: [...UNUSABLE, 'job_not_finished', 'code_folder_unsaved'],
  }),
  listCodeRepositories: get('/api/code-repositories', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'The Git repositories among the folders of an agent, and up to two levels below them.',
    query: z.object({ agentId: Id }),
    answer: z.object({ repositories: z.array(CodeRepository) }),
    errors: ['agent_not_found', 'git_missing'],
  }),
}
