import { and, eq, gt, like } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import { SERVICE_NAMES, type ChannelKind } from '../../contract/channels.ts'
import type { Speech } from '../../lib/messages.ts'
import { outbox } from '../outbox/outbox-table.ts'
import { writeOutbound } from '../outbox/write-message.ts'
import { chatOfPerson, findOwner } from './people.ts'

/** A message that is received this long after it was sent is not run: what it asks for may no longer be wanted. */
export const LATE_MS = 24 * 3_600_000
/** The note waits this long for further late messages, which come right after one another. */
const COLLECT_MS = 5000
const DAY_MS = 24 * 3_600_000
const MAX_LINE_CHARS = 120
const MAX_CHARS = 2500

type Late = { externalId: string; text: string; files: readonly string[] }
type Addressed = { agentId: string; to: { channelId: string; personId: string; chatId: string } }

/** Lists in one note what somebody wrote long before it could be received. */
export function noteLate(
  tx: Tx,
  deps: Pick<Services, 'clock' | 'ids'> & { speech: Speech },
  { agentId, to }: Addressed,
  { externalId, text }: Late,
): void {
  const line = `• ${[...text.replace(/\s+/g, ' ').trim()].slice(0, MAX_LINE_CHARS).join('') || '…'}`
  const at = deps.clock.now()
  const isCollecting = and(
    eq(outbox.personId, to.personId),
    eq(outbox.state, 'pending'),
    like(outbox.key, 'late:%'),
    gt(outbox.nextTryAt, at),
  )
  const note = tx.select({ id: outbox.id, text: outbox.text }).from(outbox).where(isCollecting).get()
  if (note === undefined) {
    const message = { key: `late:${to.channelId}:${externalId}`, kind: 'notification', agentId, jobId: null } as const
    writeOutbound(tx, deps, { ...message, text: `${deps.speech()('outbound.note.late')}\n${line}`, to, delayMs: COLLECT_MS })
  } else if (!note.text.endsWith('\n…')) {
    const next = note.text.length > MAX_CHARS ? '…' : line
    tx.update(outbox)
      .set({ text: `${note.text}\n${next}` })
      .where(eq(outbox.id, note.id))
      .run()
  }
}

/** Tells the owner that the service has deleted messages which nobody has read. `from` and `to`: when we were away, in ms. */
export function noteMissed(
  tx: Tx,
  deps: Pick<Services, 'clock' | 'ids'> & { speech: Speech },
  { id: channelId, agentId, kind }: { id: string; agentId: string; kind: ChannelKind },
  { from, to }: { from: number; to: number },
): void {
  const owner = findOwner(tx, channelId)
  if (owner === null) return
  const params = { days: Math.floor((to - from) / DAY_MS), service: SERVICE_NAMES[kind] }
  writeOutbound(tx, deps, {
    key: `missed:${channelId}:${from}`,
    kind: 'notification',
    agentId,
    jobId: null,
    text: deps.speech()('outbound.note.missed', params),
    to: { channelId, personId: owner.id, chatId: chatOfPerson(tx, owner.id) },
  })
}
