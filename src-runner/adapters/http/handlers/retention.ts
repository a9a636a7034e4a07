import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function retentionHandlers({ retention }: HandlerDeps) {
  return {
    getRetained: ({ query: { kind, days = null } }) => retention.measure(kind, days),

    deleteDue({ body: { kind } }) {
      retention.deleteDue(kind)
      return { ok: true, status: 'accepted' }
    },
  } satisfies Partial<Handlers>
}
