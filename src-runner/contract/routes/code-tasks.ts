import { z } from 'zod'
import { CodeTask, CodeTaskSummary, CreateCodeTask } from '../code-tasks.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { get, jobParams, post } from './route.ts'

export const codeTaskRoutes = {
  createCodeTask: post('/api/code-tasks', {
    ownerOnly: true,
    reach: 'machine',
    summary: 'Give a task to a coding program. It works in a Git worktree of its own and leaves a branch.',
    body: CreateCodeTask,
    status: 202,
    answer: z.object({ jobId: Id }),
    errors: [
      ...(['agent_not_found', 'folder_not_open', 'not_a_repository', 'repository_has_no_commits', 'program_missing'] as const),
      ...(['git_missing', 'job_creation_failed'] as const),
    ],
  }),
  listCodeTasks: get('/api/code-tasks', {
    reach: 'workspace',
    summary: 'Tasks of coding programs, newest first.',
    query: PageQuery.extend({ agentId: Id.optional() }),
    answer: z.object({ codeTasks: z.array(CodeTaskSummary), nextCursor: NextCursor }),
    shows: ['code_tasks'],
  }),
  getCodeTask: get('/api/code-tasks/:jobId', {
    reach: 'workspace',
    summary: 'The coding program, branch and changed files of a job.',
    params: jobParams,
    answer: z.object({ codeTask: CodeTask }),
    errors: ['code_task_not_found'],
    shows: ['code_task'],
  }),
}
