import { transact } from '../../../platform/db/database.ts'
import { AppError } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { createToken, listTokens, revokeToken, type TokenHolder } from '../../../domain/tokens/tokens.ts'
import { pageOfList } from '../../../domain/cursors.ts'
import type { Caller } from '../caller.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function tokenHandlers({ db, clock, ids, acceptsTokens }: HandlerDeps) {
  return {
    listTokens({ query }, { caller }) {
      const { items: tokens, nextCursor } = pageOfList(listTokens(db, holderOf(caller)), query, ({ id }) => id)
      return { tokens, accepted: acceptsTokens(), nextCursor }
    },

    createToken({ body }, { caller }) {
      const { userId = null, tokenId = null } = holderOf(caller)
      // A stolen token must not outlive its revocation.
      if (tokenId !== null) throw new AppError('owner_only', createMessage('token_by_token'))
      return transact(db, (tx) => createToken(tx, { clock, ids }, { ...body, userId }))
    },

    revokeToken({ params }, { caller }) {
      transact(db, (tx) => revokeToken(tx, { clock }, params.tokenId, holderOf(caller)))
      return { ok: true }
    },
  } satisfies Partial<Handlers>
}

/** The tokens that a caller sees: the owner of the installation all, others their own. */
function holderOf(caller: Caller): TokenHolder & { tokenId?: string | null } {
  return caller
}
