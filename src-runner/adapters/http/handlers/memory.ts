import { transact } from '../../../platform/db/database.ts'
import { listJobMemories } from '../../../domain/memory/job-memories.ts'
import { createMemory, deleteMemory, listMemories, rewriteMemory } from '../../../domain/memory/memories.ts'
import { AppError } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function memoryHandlers({ db, jobs, clock, ids }: HandlerDeps) {
  return {
    listMemories: ({ query }, { caller }) => listMemories(db, { ...query, entityId: caller.entityId }),

    createMemory({ body }, { caller }) {
      if (body.agentId === null && caller.entityId !== undefined) throw new AppError('owner_only', createMessage('memory_by_owner'))
      return { memory: transact(db, (tx) => createMemory(tx, { clock, ids }, { ...body, writer: null, untrusted: false })) }
    },

    updateMemory: ({ params, body }) => ({
      memory: transact(db, (tx) => rewriteMemory(tx, { clock }, params.memoryId, body.text)),
    }),

    deleteMemory({ params }) {
      transact(db, (tx) => deleteMemory(tx, params.memoryId))
      return { ok: true }
    },

    listJobMemories({ params }) {
      jobs.getJob(db, params.jobId)
      return { memories: listJobMemories(db, params.jobId) }
    },
  } satisfies Partial<Handlers>
}
