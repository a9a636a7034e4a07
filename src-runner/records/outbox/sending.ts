import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { ChannelStatus } from '../../contract/channels.ts'
import type { OutboundState } from '../../contract/outbox.ts'
import type { Clock } from '../../kit/clock.ts'
import { say } from '../../kit/said.ts'
import { findApproval } from '../approvals/approval-rows.ts'
import { attachmentsFor } from './message-texts.ts'
import type { OutgoingMessage, PartNote, SendResult } from './outgoing.ts'

/** Waits between the three tries. */
const BACK_OFF_MS = [30_000, 300_000]
/** While the channel itself is down, tries count for nothing and go on at this pace. */
const PROBE_EVERY_MS = 60_000
/** As long as a service may ask to be left alone. */
export const LONGEST_WAIT_MS = 3_600_000
/** Deaths of the process in the middle of sending a message, before it is said to be what kills it. */
const MOST_CUT_OFF = 3

type Row = {
  id: string
  agent_id: string
  kind: string
  state: OutboundState
  channel_id: string
  chat_id: string
  approval_id: string | null
  text: string
  buttons: string
  files: string
  tries: number
  cut_off: number
  parts_sent: number
  problem: string
}

const Buttons = z.array(z.object({ label: z.string(), action: z.string(), whole: z.literal(true).optional() }))
const Files = z.array(z.string())

/**
 * The first of its chat that is still pending: nothing that was written later is sent before it. One of which only files are
 * left holds up nobody: its words stand in the chat, and its files may have to be tried again for a day.
 */
const IS_HEAD = `NOT EXISTS (SELECT 1 FROM outbox AS earlier INDEXED BY outbox_of_chat WHERE earlier.state = 'pending'
  AND earlier.only_files_left = 0 AND earlier.channel_id = message.channel_id
  AND earlier.chat_id = message.chat_id AND earlier.seq < message.seq)`

/** Channels with something pending through which a message may be tried now. Of the others, messages wait. */
export function listSendingChannels(db: Db): string[] {
  return db
    .prepare<{ id: string }>(
      `SELECT id FROM channels WHERE status IN ('open', 'failing')
         AND EXISTS (SELECT 1 FROM outbox WHERE outbox.channel_id = channels.id AND outbox.state = 'pending') ORDER BY seq`,
    )
    .all()
    .map((row) => row.id)
}

/** The message that this channel sends next; null: none is due. */
export function findDueOf(db: Db, channelId: string, now: number): string | null {
  // A moment further away than any wait was computed by a clock that has since been set back.
  const row = db
    .prepare<{ id: string }>(
      `SELECT id FROM outbox AS message INDEXED BY outbox_of_channel WHERE state = 'pending' AND channel_id = ? AND (next_try_at <= ? OR next_try_at > ?) AND ${IS_HEAD}
       ORDER BY seq LIMIT 1`,
    )
    .get(channelId, now, now + LONGEST_WAIT_MS)
  return row?.id ?? null
}

/** When this channel's next message is due; null: it has none. */
export function findNextDueOf(db: Db, channelId: string): number | null {
  return db
    .prepare<{ at: number | null }>(
      `SELECT min(next_try_at) AS at FROM outbox AS message INDEXED BY outbox_of_channel WHERE state = 'pending' AND channel_id = ? AND ${IS_HEAD}`,
    )
    .get(channelId)!.at
}

/** When the next message that nobody could send is given up; null: nothing is pending. */
export function findNextGivenUp(db: Db): number | null {
  return db.prepare<{ at: number | null }>("SELECT min(give_up_at) AS at FROM outbox WHERE state = 'pending'").get()!.at
}

/**
 * Writes down that a try begins, and answers what to send. null: it is not to be sent any more, and the row says why. Without
 * this line a message that kills the process would be sent, and kill it, for ever.
 */
export function beginTry(tx: Tx, { clock }: { clock: Clock }, messageId: string): OutgoingMessage | null {
  const row = tx.prepare<Row>("SELECT * FROM outbox WHERE id = ? AND state = 'pending'").get(messageId)
  if (row === undefined) return null
  if (row.kind === 'approval' && !isOpen(tx, row.approval_id)) {
    endAs(tx, clock, row, 'nowhere', say('sent_answered_before'))
    return null
  }
  if (row.cut_off >= MOST_CUT_OFF) {
    giveUp(tx, clock, row, `The app stopped ${MOST_CUT_OFF} times while this was being sent, so it is not tried again.`)
    return null
  }
  tx.prepare('UPDATE outbox SET cut_off = cut_off + 1 WHERE id = ?').run(messageId)
  return {
    id: row.id,
    channelId: row.channel_id,
    chatId: row.chat_id,
    text: row.text,
    buttons: Buttons.parse(JSON.parse(row.buttons)),
    attachments: row.approval_id === null ? [] : attachmentsOf(tx, row.approval_id),
    files: Files.parse(JSON.parse(row.files)),
    partsSent: row.parts_sent,
  }
}

/**
 * Writes down that a part has gone out: whoever goes on after a crash does not send it again, and what died before it did not
 * die of it. false: the message is not to be sent any more.
 */
export function notePart(
  tx: Tx,
  messageId: string,
  partsSent: number,
  { onlyFilesLeft = false, incomplete = false }: PartNote = {},
): boolean {
  if (incomplete) withdrawWholeButtons(tx, messageId)
  const noted = tx.prepare(
    "UPDATE outbox SET parts_sent = max(parts_sent, ?), only_files_left = ?, cut_off = 1 WHERE id = ? AND state = 'pending'",
  )
  return noted.run(partsSent, Number(onlyFilesLeft), messageId).changes > 0
}

/** What the message refers to is not there, so it is not approved by it: neither by a button nor by a code. */
function withdrawWholeButtons(tx: Tx, messageId: string): void {
  const row = tx.prepare<Pick<Row, 'buttons'>>('SELECT buttons FROM outbox WHERE id = ?').get(messageId)
  if (row === undefined) return
  const left = Buttons.parse(JSON.parse(row.buttons)).filter(({ whole }) => whole !== true)
  tx.prepare('UPDATE outbox SET buttons = ? WHERE id = ?').run(JSON.stringify(left), messageId)
}

function attachmentsOf(db: Db, approvalId: string): { name: string; text: string }[] {
  const approval = findApproval(db, approvalId)
  return approval === null ? [] : attachmentsFor(approval)
}

/** Writes down how a try ended. Answers the state that the message is in now. */
export function recordTry(tx: Tx, { clock }: { clock: Clock }, messageId: string, result: SendResult): OutboundState {
  const row = tx.prepare<Row>('SELECT * FROM outbox WHERE id = ?').get(messageId)
  if (row === undefined) return result.state === 'sent' ? 'sent' : 'nowhere'
  if (result.state === 'sent') {
    tx.prepare(
      `UPDATE outbox SET state = 'sent', sent_at = ?, external_id = ?, problem = '', cut_off = 0, next_try_at = NULL, failed_at = NULL
       WHERE id = ?`,
    ).run(clock.now(), result.externalId, messageId)
    tx.emit({ type: 'outbound.sent', payload: { messageId, agentId: row.agent_id } })
    return 'sent'
  }
  // Given up in the meantime, or the channel was removed: what did not go out changes nothing about that.
  if (row.state !== 'pending') return row.state
  const partsSent = Math.max(row.parts_sent, result.partsSent)
  const counts = result.retryAfterMs === null && statusOf(tx, row.channel_id) === 'open'
  const tries = row.tries + (counts || result.permanent ? 1 : 0)
  tx.prepare('UPDATE outbox SET tries = ?, parts_sent = ?, cut_off = 0, problem = ? WHERE id = ?').run(
    tries,
    partsSent,
    result.problem,
    messageId,
  )
  if (result.permanent || tries > BACK_OFF_MS.length) {
    return giveUp(tx, clock, row, result.problem)
  }
  const wait =
    result.retryAfterMs === null
      ? counts
        ? BACK_OFF_MS[tries - 1]!
        : PROBE_EVERY_MS
      : Math.min(Math.max(result.retryAfterMs, 1000), LONGEST_WAIT_MS)
  tx.prepare('UPDATE outbox SET next_try_at = ? WHERE id = ?').run(clock.now() + wait, messageId)
  tx.emit({ type: 'outbound.failed', payload: { messageId, agentId: row.agent_id, state: 'pending' } })
  return 'pending'
}

/** A try that was called off because the app stops: it neither counts nor was it a crash. */
export function releaseTry(tx: Tx, messageId: string, partsSent: number): void {
  tx.prepare("UPDATE outbox SET cut_off = 0, parts_sent = max(parts_sent, ?) WHERE id = ? AND state = 'pending'").run(partsSent, messageId)
}

/** Gives up what could not be sent for a day, and what has lost its channel. Those that are being tried now are left alone. */
export function giveUpOverdue(tx: Tx, { clock, now }: { clock: Clock; now: number }, underWay: ReadonlySet<string>): void {
  const overdue = tx.prepare<Row>("SELECT * FROM outbox WHERE state = 'pending' AND give_up_at <= ? ORDER BY seq").all(now)
  for (const row of overdue) {
    const problem = row.problem === '' ? say('sent_not_for_a_day') : row.problem
    if (!underWay.has(row.id)) giveUp(tx, clock, row, problem)
  }
  for (const row of listOrphans(tx)) if (!underWay.has(row.id)) endAs(tx, clock, row, 'nowhere', say('sent_channel_removed'))
}

/** Whether `giveUpOverdue` has something to do. */
export function hasOverdue(db: Db, now: number): boolean {
  return (findNextGivenUp(db) ?? Infinity) <= now || listOrphans(db).length > 0
}

/** The clock was set by so much: none is given up before its day is over. */
export function moveGivingUp(tx: Tx, byMs: number): void {
  tx.prepare("UPDATE outbox SET give_up_at = give_up_at + ? WHERE state = 'pending'").run(byMs)
}

const RETENTION_MS = 90 * 24 * 3_600_000

/** Forgets messages that are older than 90 days, at most 500 in one go. Answers how many went. */
export function pruneOutbox(tx: Tx, now: number): number {
  return tx
    .prepare(
      `DELETE FROM outbox WHERE seq IN (
         SELECT seq FROM (SELECT seq, state, created_at FROM outbox ORDER BY seq LIMIT 500) WHERE state <> 'pending' AND created_at < ?)`,
    )
    .run(now - RETENTION_MS).changes
}

function listOrphans(db: Db): Row[] {
  return db.prepare<Row>("SELECT * FROM outbox WHERE state = 'pending' AND channel_id IS NULL ORDER BY seq LIMIT 500").all()
}

/** The person has to see it, unless it was for a stranger who waits to be let in: anybody could make work for them by that. */
function giveUp(tx: Tx, clock: Clock, row: Pick<Row, 'id' | 'agent_id'>, problem: string): OutboundState {
  const stranger = tx.prepare(
    `SELECT 1 FROM outbox AS message JOIN channel_people AS person ON person.id = message.person_id WHERE message.id = ? AND person.role = 'asked'`,
  )
  const state = stranger.get(row.id) === undefined ? 'undeliverable' : 'nowhere'
  endAs(tx, clock, row, state, problem)
  return state
}

function endAs(tx: Tx, clock: Clock, row: Pick<Row, 'id' | 'agent_id'>, state: 'undeliverable' | 'nowhere', problem: string): void {
  tx.prepare('UPDATE outbox SET state = ?, problem = ?, next_try_at = NULL, failed_at = ? WHERE id = ?').run(
    state,
    problem,
    state === 'undeliverable' ? clock.now() : null,
    row.id,
  )
  tx.emit({ type: 'outbound.failed', payload: { messageId: row.id, agentId: row.agent_id, state } })
}

function isOpen(db: Db, approvalId: string | null): boolean {
  return db.prepare("SELECT 1 FROM approvals WHERE id = ? AND status = 'pending'").get(approvalId) !== undefined
}

function statusOf(db: Db, channelId: string | null): ChannelStatus | undefined {
  return db.prepare<{ status: ChannelStatus }>('SELECT status FROM channels WHERE id = ?').get(channelId)?.status
}
