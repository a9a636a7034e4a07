import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function codeResultHandlers({ codeResults }: Pick<HandlerDeps, 'codeResults'>) {
  return {
    getCodeTaskDiff: ({ params, query }) => codeResults.diff(params.jobId, query.path),
    applyCodeTask: async ({ params }) => ({ ok: true, files: await codeResults.apply(params.jobId) }),
    async discardCodeTask({ params }) {
      await codeResults.discard(params.jobId)
      return { ok: true }
    },
    async removeCodeTaskFolder({ params }) {
      await codeResults.removeFolder(params.jobId)
      return { ok: true }
    },
    listCodeRepositories: async ({ query }) => ({ repositories: await codeResults.listRepositories(query.agentId) }),
  } satisfies Partial<Handlers>
}
