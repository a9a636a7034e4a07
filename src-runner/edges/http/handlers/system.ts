import type { Handlers } from '../handler.ts'
import { openApiDocument } from '../openapi.ts'
import type { HandlerDeps } from './deps.ts'

export function systemHandlers({ db, worker }: HandlerDeps): Pick<Handlers, 'health' | 'openapi' | 'runWorker'> {
  return {
    health(_input, call) {
      try {
        db.ping()
        return { ok: true, db: 'ok', llm: 'unchecked' }
      } catch {
        call.setStatus(503)
        return { ok: false, db: 'unavailable', llm: 'unchecked' }
      }
    },

    openapi: () => openApiDocument(),

    /** Accepted for every well-formed id: what is to be done with it, the worker finds out behind the answer. */
    runWorker({ body }) {
      setImmediate(() => worker.run(body.jobId))
      return { ok: true, jobId: body.jobId, status: 'accepted' }
    },
  }
}
