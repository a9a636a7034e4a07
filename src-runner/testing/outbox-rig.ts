import { quote } from '../lib/messages.ts'
import { transact } from '../platform/db/database.ts'
import { createEventHub } from '../platform/events/event-hub.ts'
import { createTrustedClock } from '../platform/time/trusted-clock.ts'
import { createMachineTime } from '../platform/time/machine-time.ts'
import type { ChannelStatus } from '../contract/channels.ts'
import type { OutboundMessage } from '../contract/outbox.ts'
import { createOutboxSender, type OutboxSender } from '../adapters/outbox/outbox-sender.ts'
import { guardTimers } from '../lib/clock.ts'
import { silentLog } from '../lib/log.ts'
import { insertChannel, setChannelStatus } from '../domain/channels/channels.ts'
import { listOutbox } from '../domain/outbox/outbox.ts'
import type { OnPart, OutgoingMessage, SendResult } from '../domain/outbox/outgoing.ts'
import { moveGivingUp } from '../domain/outbox/send-message.ts'
import { writeOutbound } from '../domain/outbox/write-message.ts'
import { openDomainRig, type DomainRig } from './domain-rig.ts'

/** A try that has reached the service, which the test plays. */
export type Try = {
  message: OutgoingMessage
  signal: AbortSignal
  /** Reports how many parts were sent. */
  part: OnPart
  answer(result: SendResult): void
}

export type OutboxRig = DomainRig & {
  agentId: string
  /** Tries in the order in which they reached the service. */
  tries: Try[]
  /** Resolves with the next try. */
  nextTry(): Promise<Try>
  addChannel(status?: ChannelStatus): string
  setStatus(channelId: string, status: ChannelStatus): void
  /** Writes a message to a chat. Returns its id. */
  write(channelId: string, chatId: string, text: string): string
  read(messageId: string): OutboundMessage
  sender: OutboxSender
  /** Sets the clock. `isNoticed`: maintenance notices it. */
  setClock(ms: number, isNoticed?: boolean): void
  /** The process dies and another one starts. Tries in progress have no result. */
  crash(): void
}

export const SENT: SendResult = { state: 'sent', externalId: '1' }

export function failed(more: Partial<Extract<SendResult, { state: 'failed' }>> = {}): SendResult {
  return { state: 'failed', permanent: false, partsSent: 0, retryAfterMs: null, problem: quote('the service is down'), ...more }
}

/** Runs everything that needs no time to pass. */
export async function turn(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** The outbox with a real database, and a service that the test plays. */
export function openOutboxRig(): OutboxRig {
  const domain = openDomainRig()
  const agentId = domain.addAgent('Ada').id
  const tries: Try[] = []
  let taken = 0
  const watchers = new Set<() => void>()
  let channels = 0
  let messages = 0
  const times = createTrustedClock({ db: domain.db, clock: domain.clock, time: createMachineTime(domain.clock, null) })
  transact(domain.db, (tx) => times.adjust(tx))

  const startSender = (): OutboxSender => {
    const deliver = (message: OutgoingMessage, signal: AbortSignal, part: OnPart = () => true) =>
      new Promise<SendResult>((resolve) => {
        signal.addEventListener('abort', () => resolve(failed({ problem: quote('called off'), partsSent: message.partsSent })))
        tries.push({ message, signal, part, answer: resolve })
        for (const look of Array.from(watchers)) look()
      })
    const hub = createEventHub({ db: domain.db })
    // As in the runner. The timers of a crashed sender find its database closed.
    const clock = guardTimers(domain.clock, () => {})
    const sender = createOutboxSender({ db: domain.db, hub, clock, times, log: silentLog, speech: domain.speech, deliver })
    sender.start()
    return sender
  }

  const rig: OutboxRig = Object.assign(domain, {
    agentId,
    tries,
    sender: startSender(),
    nextTry: () =>
      new Promise<Try>((resolve) => {
        const look = () => {
          if (tries.length <= taken) return
          watchers.delete(look)
          resolve(tries[taken++]!)
        }
        watchers.add(look)
        look()
      }),
    addChannel(status: ChannelStatus = 'open') {
      const id = domain.ids.next()
      const account = { accountId: `${++channels}`, name: `@bot${channels}`, link: null }
      transact(rig.db, (tx) => {
        insertChannel(tx, { clock: domain.clock }, { id, agentId, kind: 'telegram', account, baseUrl: null })
        setChannelStatus(tx, id, status, null)
      })
      return id
    },
    setStatus: (channelId: string, status: ChannelStatus) => transact(rig.db, (tx) => setChannelStatus(tx, channelId, status, null)),
    write(channelId: string, chatId: string, text: string) {
      const key = `message:${++messages}`
      const to = { channelId, personId: domain.ids.next(), chatId }
      transact(rig.db, (tx) => writeOutbound(tx, rig, { key, kind: 'notification', agentId, jobId: null, text, to }))
      return listOutbox(rig.db, { limit: 1 }).messages[0]!.id
    },
    read: (messageId: string) => listOutbox(rig.db, { limit: 200 }).messages.find(({ id }) => id === messageId)!,
    setClock(ms: number, isNoticed = true) {
      rig.clock.jump(ms)
      if (isNoticed) transact(rig.db, (tx) => moveGivingUp(tx, times.adjust(tx)))
    },
    crash() {
      rig.reboot()
      rig.sender = startSender()
    },
  })
  return rig
}
