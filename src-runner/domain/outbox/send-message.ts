import type { Message } from '../../contract/messages.ts'
import { createMessage, readMessage, writeMessage, type Speech } from '../../lib/messages.ts'
import { and, eq, isNull, lte, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { OutboundState } from '../../contract/outbox.ts'
import type { Clock } from '../../lib/clock.ts'
import { findApproval } from '../approvals/find-approval.ts'
import { channelPeople, channels } from '../channels/channels-table.ts'
import { findNextGivenUp, LONGEST_WAIT_MS } from './due-messages.sql.ts'
import { attachmentsFor } from './message-texts.ts'
import { outbox } from './outbox-table.ts'
import type { OutgoingMessage, PartNote, SendResult } from './outgoing.ts'

/** Waits between the three tries. */
const BACK_OFF_MS = [30_000, 300_000]
/** The interval of tries while the channel is down. They do not count. */
const PROBE_EVERY_MS = 60_000
/** Crashes during a send after which the message is assumed to cause them. */
const MAX_CUT_OFF = 3

type Row = typeof outbox.$inferSelect

/** As SQL text, because a bound value would not match the condition of the partial indexes. */
const isPending = sql`${outbox.state} = 'pending'`

/**
 * Records that a try begins and returns what to send, or null if the message is no longer to be sent. Counting begun tries stops a
 * message that crashes the process.
 */
export function beginTry(tx: Tx, { clock, speech }: { clock: Clock; speech: Speech }, messageId: string): OutgoingMessage | null {
  const row = tx
    .select()
    .from(outbox)
    .where(and(eq(outbox.id, messageId), isPending))
    .get()
  if (row === undefined) return null
  if (row.kind === 'approval' && !isApprovalPending(tx, row.approvalId)) {
    endAs(tx, clock, row, 'not_sent', createMessage('sent_answered_before'))
    return null
  }
  if (row.cutOff >= MAX_CUT_OFF) {
    giveUp(tx, clock, row, createMessage('sent_crashed', { times: MAX_CUT_OFF }))
    return null
  }
  tx.update(outbox)
    .set({ cutOff: row.cutOff + 1 })
    .where(eq(outbox.id, messageId))
    .run()
  const approval = row.approvalId === null ? null : findApproval(tx, row.approvalId)
  const attachments = approval === null ? [] : attachmentsFor(speech(), approval)
  const { id, text, buttons, files, partsSent } = row
  // A pending message has its address.
  const [channelId, chatId] = [row.channelId!, row.chatId!]
  return { id, channelId, chatId, text, buttons, attachments, files, partsSent }
}

/**
 * Records the parts that were sent, so that a try after a crash does not repeat them. Returns false if the message is no longer to be
 * sent.
 */
export function notePart(
  tx: Tx,
  messageId: string,
  partsSent: number,
  { onlyFilesLeft = false, incomplete = false }: PartNote = {},
): boolean {
  if (incomplete) removeApproveButtons(tx, messageId)
  const { changes } = tx
    .update(outbox)
    .set({ partsSent: sql`max(${outbox.partsSent}, ${partsSent})`, onlyFilesLeft, cutOff: 1 })
    .where(and(eq(outbox.id, messageId), isPending))
    .run()
  return changes > 0
}

/** The message is incomplete, so neither a button nor a code may approve the call. */
function removeApproveButtons(tx: Tx, messageId: string): void {
  const row = tx.select({ buttons: outbox.buttons }).from(outbox).where(eq(outbox.id, messageId)).get()
  if (row === undefined) return
  tx.update(outbox)
    .set({ buttons: row.buttons.filter((button) => !button.needsCompleteCall) })
    .where(eq(outbox.id, messageId))
    .run()
}

/** Records how a try ended. Returns the message's new state. */
export function recordTry(tx: Tx, { clock }: { clock: Clock }, messageId: string, result: SendResult): OutboundState {
  const row = tx.select().from(outbox).where(eq(outbox.id, messageId)).get()
  if (row === undefined) return result.state === 'sent' ? 'sent' : 'not_sent'
  const { agentId } = row
  const update = (set: Partial<Row>) => void tx.update(outbox).set(set).where(eq(outbox.id, messageId)).run()
  if (result.state === 'sent') {
    update({ state: 'sent', sentAt: clock.now(), externalId: result.externalId, problem: '', cutOff: 0, nextTryAt: null, failedAt: null })
    tx.emit({ type: 'outbound.sent', payload: { messageId, agentId } })
    return 'sent'
  }
  // It was given up or its channel was removed meanwhile. A failed try does not change that.
  if (row.state !== 'pending') return row.state
  const counts = result.retryAfterMs === null && isOpen(tx, row.channelId)
  const tries = row.tries + (counts || result.permanent ? 1 : 0)
  update({ tries, partsSent: Math.max(row.partsSent, result.partsSent), cutOff: 0, problem: writeMessage(result.problem) })
  if (result.permanent || tries > BACK_OFF_MS.length) return giveUp(tx, clock, row, result.problem)
  update({ nextTryAt: clock.now() + waitAfter(result.retryAfterMs, counts ? tries : null) })
  tx.emit({ type: 'outbound.failed', payload: { messageId, agentId, state: 'pending' } })
  return 'pending'
}

/** `tries` null: the try did not count. */
function waitAfter(retryAfterMs: number | null, tries: number | null): number {
  if (retryAfterMs !== null) return Math.min(Math.max(retryAfterMs, 1000), LONGEST_WAIT_MS)
  return tries === null ? PROBE_EVERY_MS : BACK_OFF_MS[tries - 1]!
}

/** Ends a try that was interrupted by stopping the app. It does not count, and was no crash. */
export function releaseTry(tx: Tx, messageId: string, partsSent: number): void {
  tx.update(outbox)
    .set({ cutOff: 0, partsSent: sql`max(${outbox.partsSent}, ${partsSent})` })
    .where(and(eq(outbox.id, messageId), isPending))
    .run()
}

/** Gives up messages that could not be sent for a day or have lost their channel, except those being sent now. */
export function giveUpOverdue(tx: Tx, { clock, now }: { clock: Clock; now: number }, underWay: ReadonlySet<string>): void {
  const overdue = tx
    .select()
    .from(outbox)
    .where(and(isPending, lte(outbox.giveUpAt, now)))
    .orderBy(outbox.seq)
    .all()
  for (const row of overdue) {
    if (!underWay.has(row.id)) giveUp(tx, clock, row, readMessage(row.problem) ?? createMessage('sent_not_for_a_day'))
  }
  for (const row of listOrphans(tx)) if (!underWay.has(row.id)) endAs(tx, clock, row, 'not_sent', createMessage('sent_channel_removed'))
}

/** Whether `giveUpOverdue` has something to do. */
export function hasOverdue(db: Db, now: number): boolean {
  return (findNextGivenUp(db) ?? Infinity) <= now || listOrphans(db).length > 0
}

/** After the clock was set: pending messages keep the time that they had left. */
export function moveGivingUp(tx: Tx, byMs: number): void {
  tx.update(outbox)
    .set({ giveUpAt: sql`${outbox.giveUpAt} + ${byMs}` })
    .where(isPending)
    .run()
}

function listOrphans(db: Db): Row[] {
  return ORPHANS(db).all()
}

const ORPHANS = prepareOnce((db: Db) =>
  db
    .select()
    .from(outbox)
    .where(and(isPending, isNull(outbox.channelId)))
    .orderBy(outbox.seq)
    .limit(500),
)

/** Shows the message to the person, unless it was for a stranger: otherwise anybody could make work for them. */
function giveUp(tx: Tx, clock: Clock, row: Row, problem: Message): OutboundState {
  const stranger = tx
    .select({ id: channelPeople.id })
    .from(channelPeople)
    .where(and(eq(channelPeople.id, row.personId ?? ''), eq(channelPeople.role, 'requested')))
    .get()
  const state = stranger === undefined ? 'undeliverable' : 'not_sent'
  endAs(tx, clock, row, state, problem)
  return state
}

function endAs(tx: Tx, clock: Clock, { id, agentId }: Row, state: 'undeliverable' | 'not_sent', problem: Message): void {
  tx.update(outbox)
    .set({ state, problem: writeMessage(problem), nextTryAt: null, failedAt: state === 'undeliverable' ? clock.now() : null })
    .where(eq(outbox.id, id))
    .run()
  tx.emit({ type: 'outbound.failed', payload: { messageId: id, agentId, state } })
}

function isApprovalPending(db: Db, approvalId: string | null): boolean {
  return approvalId !== null && findApproval(db, approvalId)?.status === 'pending'
}

function isOpen(db: Db, channelId: string | null): boolean {
  return (
    channelId !== null && db.select({ status: channels.status }).from(channels).where(eq(channels.id, channelId)).get()?.status === 'open'
  )
}
