import { transact } from '../../../platform/db/database.ts'
import { keepTaintsOfTurns } from '../../../domain/approvals/taints.ts'
import { deleteConversation, getConversation, listConversations, listMessagePage } from '../../../domain/conversations/conversations.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

const SHOWN_TURNS = 200

export function conversationHandlers({ db, jobs }: HandlerDeps) {
  return {
    listConversations: ({ query }, { caller }) => listConversations(db, { ...query, entityId: caller.entityId }),

    getConversation({ params: { conversationId }, query: { before } }) {
      const conversation = getConversation(db, conversationId)
      const page = listMessagePage(db, conversationId, { before, limit: SHOWN_TURNS })
      const turns =
        before === undefined
          ? jobs.listJobsOfConversation(db, conversationId, SHOWN_TURNS)
          : jobs.listJobsByIds(db, new Set(page.messages.map(({ jobId }) => jobId)))
      return { conversation, ...page, jobs: turns }
    },

    deleteConversation({ params }) {
      transact(db, (tx) => {
        keepTaintsOfTurns(tx, params.conversationId)
        deleteConversation(tx, { jobs }, params.conversationId)
      })
      return { ok: true }
    },
  } satisfies Partial<Handlers>
}
