import { getAgent } from '../../../domain/agents/agents.ts'
import { getCodeTask, listCodeTasks } from '../../../domain/code-tasks/code-tasks.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'
import { createJob } from './jobs.ts'

export function codeTaskHandlers({ db, jobs, codeTasks }: HandlerDeps) {
  return {
    async createCodeTask({ body: { agentId, task, ...given } }) {
      const prepared = await codeTasks.examine(getAgent(db, agentId), given)
      const job = await createJob({ db }, (tx) => {
        const made = jobs.enqueue(tx, { agentId, channel: 'api', task })
        codeTasks.attach(tx, made, prepared)
        return made
      })
      return { jobId: job.id }
    },
    listCodeTasks: ({ query }, { caller }) => listCodeTasks(db, { ...query, entityId: caller.entityId }),
    getCodeTask: ({ params }) => ({ codeTask: getCodeTask(db, params.jobId) }),
  } satisfies Partial<Handlers>
}
