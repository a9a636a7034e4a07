import { getCodeTask, listCodeTasks } from '../../../domain/code-tasks/code-tasks.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function codeTaskHandlers({ db }: Pick<HandlerDeps, 'db'>) {
  return {
    listCodeTasks: ({ query }, { caller }) => listCodeTasks(db, { ...query, entityId: caller.entityId }),
    getCodeTask: ({ params }) => ({ codeTask: getCodeTask(db, params.jobId) }),
  } satisfies Partial<Handlers>
}
