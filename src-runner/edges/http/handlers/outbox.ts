import { transact } from '../../../base/db/transact.ts'
import { listAttention } from '../../../records/attention/attention.ts'
import { listOutbox, retryOutbound } from '../../../records/outbox/outbox.ts'
import type { OutboundMessage } from '../../../contract/outbox.ts'
import { saidAs } from '../../../kit/said.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type Routes = 'listOutbox' | 'retryOutbound' | 'listAttention'

export function outboxHandlers({ db, clock, publicAddress, recovery }: HandlerDeps): Pick<Handlers, Routes> {
  return {
    listOutbox({ query }) {
      const { messages, nextCursor } = listOutbox(db, query)
      return { messages: messages.map(withSaid), nextCursor }
    },
    retryOutbound: ({ params }) => ({ message: withSaid(transact(db, (tx) => retryOutbound(tx, { clock }, params.messageId))) }),
    listAttention() {
      const found = recovery()
      return {
        items: listAttention(db, { now: clock.now(), publicAddress: publicAddress.read() }),
        ...(found !== null && { recovery: found }),
      }
    },
  }
}

function withSaid(message: OutboundMessage): OutboundMessage {
  return { ...message, ...saidAs('problemSaid', message.problem) }
}
