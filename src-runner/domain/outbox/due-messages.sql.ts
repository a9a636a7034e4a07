import type { Db, Tx } from '../../platform/db/database.ts'

/** The longest wait that a service may request. */
export const LONGEST_WAIT_MS = 3_600_000

/**
 * The first pending message of its chat, for which later ones wait. A message with only files left delays none, because its text is in
 * the chat and its files may be tried for a day.
 */
const IS_HEAD = `NOT EXISTS (SELECT 1 FROM outbox AS earlier INDEXED BY outbox_of_chat WHERE earlier.state = 'pending'
  AND earlier.only_files_left = 0 AND earlier.channel_id = message.channel_id
  AND earlier.chat_id = message.chat_id AND earlier.seq < message.seq)`

/** Channels that have a pending message and can send. Messages of the others wait. */
export function listSendingChannels(db: Db): string[] {
  return db
    .prepare<{ id: string }>(
      `SELECT id FROM channels WHERE status IN ('open', 'failing')
         AND EXISTS (SELECT 1 FROM outbox WHERE outbox.channel_id = channels.id AND outbox.state = 'pending') ORDER BY seq`,
    )
    .all()
    .map(({ id }) => id)
}

/** The message that this channel sends next, or null. */
export function findDueOf(db: Db, channelId: string, now: number): string | null {
  // A time further ahead than any wait was computed by a clock that has been set back since.
  const row = db
    .prepare<{ id: string }>(
      `SELECT id FROM outbox AS message INDEXED BY outbox_of_channel
       WHERE state = 'pending' AND channel_id = ? AND (next_try_at <= ? OR next_try_at > ?) AND ${IS_HEAD}
       ORDER BY seq LIMIT 1`,
    )
    .get(channelId, now, now + LONGEST_WAIT_MS)
  return row?.id ?? null
}

/** When this channel's next message is due, or null. */
export function findNextDueOf(db: Db, channelId: string): number | null {
  return db
    .prepare<{ at: number | null }>(
      `SELECT min(next_try_at) AS at FROM outbox AS message INDEXED BY outbox_of_channel
       WHERE state = 'pending' AND channel_id = ? AND ${IS_HEAD}`,
    )
    .get(channelId)!.at
}

/** When the next pending message is given up, or null. */
export function findNextGivenUp(db: Db): number | null {
  return db.prepare<{ at: number | null }>("SELECT min(give_up_at) AS at FROM outbox WHERE state = 'pending'").get()!.at
}

const RETENTION_MS = 90 * 24 * 3_600_000

/** Deletes messages that are older than 90 days, at most 500 at once. Returns how many. */
export function pruneOutbox(tx: Tx, now: number): number {
  return tx
    .prepare(
      `DELETE FROM outbox WHERE seq IN (
         SELECT seq FROM (SELECT seq, state, created_at FROM outbox ORDER BY seq LIMIT 500) WHERE state <> 'pending' AND created_at < ?)`,
    )
    .run(now - RETENTION_MS).changes
}
