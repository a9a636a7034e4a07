import { z } from 'zod'
import { CodeTask, CodeTaskSummary } from '../code-tasks.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { get, jobParams } from './route.ts'

export const codeTaskRoutes = {
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
