import type { Handlers } from '../handler.ts'
import { openApiDocument } from '../openapi.ts'
import type { HandlerDeps } from './deps.ts'

export function systemHandlers({ db, worker }: HandlerDeps): Pick<Handlers, 'health' | 'openapi' | 'runWorker'> {
  return {
    health(_input, call) {
      const trouble = db.trouble()
      if (trouble !== null) call.setStatus(503)
      return { ok: trouble === null, db: trouble ?? 'ok', llm: 'unchecked' }
    },

    openapi: () => openApiDocument(),

    /** Accepted for every well-formed id: what is to be done with it, the worker finds out behind the answer. */
    runWorker({ body }) {
      setImmediate(() => worker.run(body.jobId))
      return { ok: true, jobId: body.jobId, status: 'accepted' }
    },
  }
}
