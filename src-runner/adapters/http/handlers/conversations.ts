import { transact } from '../../../platform/db/database.ts'
import { keepTaintsOfTurns } from '../../../domain/approvals/taints.ts'
import { deleteConversation, getConversation, listConversations, listMessages } from '../../../domain/conversations/conversations.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

const SHOWN_TURNS = 200

export function conversationHandlers({ db, jobs }: HandlerDeps) {
  return {
    listConversations: ({ query }, { caller }) => listConversations(db, { ...query, entityId: caller.entityId }),

    getConversation: ({ params: { conversationId } }) => ({
      conversation: getConversation(db, conversationId),
      messages: listMessages(db, conversationId, SHOWN_TURNS),
      jobs: jobs.listJobsOfConversation(db, conversationId, SHOWN_TURNS),
    }),

    deleteConversation({ params }) {
      transact(db, (tx) => {
        keepTaintsOfTurns(tx, params.conversationId)
        deleteConversation(tx, { jobs }, params.conversationId)
      })
      return { ok: true }
    },
  } satisfies Partial<Handlers>
}
