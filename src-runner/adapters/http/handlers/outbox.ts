import { transact } from '../../../platform/db/transact.ts'
import { listAttention } from '../../../domain/attention/attention.ts'
import { listOutbox, retryOutbound } from '../../../domain/outbox/outbox.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function outboxHandlers({ db, clock, publicAddress, recovery }: HandlerDeps) {
  return {
    listOutbox: ({ query }) => listOutbox(db, query),
    retryOutbound: ({ params }) => ({ message: transact(db, (tx) => retryOutbound(tx, { clock }, params.messageId)) }),
    listAttention() {
      const found = recovery()
      return {
        items: listAttention(db, { now: clock.now(), publicAddress: publicAddress.read() }),
        ...(found !== null && { recovery: found }),
      }
    },
  } satisfies Partial<Handlers>
}
