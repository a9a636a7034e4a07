import { transact } from '../../../platform/db/database.ts'
import { listAttention } from '../../../domain/attention/attention.ts'
import { listOutbox, retryOutbound } from '../../../domain/outbox/outbox.ts'
import { isItemOf } from '../workspace-scope.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function outboxHandlers({ db, clock, publicAddress, recovery }: HandlerDeps) {
  return {
    listOutbox: ({ query }, { caller }) => listOutbox(db, { ...query, entityId: caller.entityId }),
    retryOutbound: ({ params }) => ({ message: transact(db, (tx) => retryOutbound(tx, { clock }, params.messageId)) }),
    listAttention(_input, { caller: { entityId } }) {
      const at = { now: clock.now(), publicAddress: publicAddress.readState() }
      if (entityId !== undefined) return { items: listAttention(db, at).filter((item) => isItemOf(db, item, entityId)) }
      const found = recovery()
      return {
        items: listAttention(db, at),
        ...(found !== null && { recovery: found }),
      }
    },
  } satisfies Partial<Handlers>
}
