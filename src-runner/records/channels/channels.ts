import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Channel, ChannelKind, ChannelStatus } from '../../contract/channels.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import { listPeople } from './people.ts'
import { requestCodeOf } from './request-code.ts'

/** Accounts at chat services, apart from their tokens, which are in the vault. */

type ChannelRow = {
  seq: number
  id: string
  agent_id: string
  agent_name: string
  kind: ChannelKind
  account_id: string
  name: string
  link: string | null
  base_url: string | null
  enabled: number
  status: ChannelStatus
  problem: string
  last_round_trip_at: number | null
  position: string | null
  created_at: number
}

/** What a connection needs to know. */
export type ConnectableChannel = {
  id: string
  agentId: string
  kind: ChannelKind
  accountId: string
  baseUrl: string | null
  enabled: boolean
  status: ChannelStatus
  /** How far the service's messages have been taken in, in the words of its driver. */
  position: string | null
}

/** An account as its service tells of it. */
export type ChannelAccount = { accountId: string; name: string; link: string | null }

const SELECT_CHANNEL = `SELECT channel.*, agent.name AS agent_name FROM channels AS channel JOIN agents AS agent ON agent.id = channel.agent_id`

/** Newest first. */
export function listChannels(db: Db, { agentId }: { agentId?: string } = {}): Channel[] {
  const rows =
    agentId === undefined
      ? db.prepare<ChannelRow>(`${SELECT_CHANNEL} ORDER BY channel.seq DESC`).all()
      : db.prepare<ChannelRow>(`${SELECT_CHANNEL} WHERE channel.agent_id = ? ORDER BY channel.seq DESC`).all(agentId)
  return rows.map((row) => channelOf(db, row))
}

export function findChannel(db: Db, channelId: string): Channel | null {
  const row = db.prepare<ChannelRow>(`${SELECT_CHANNEL} WHERE channel.id = ?`).get(channelId)
  return row === undefined ? null : channelOf(db, row)
}

/** Throws AppError channel_not_found. */
export function getChannel(db: Db, channelId: string): Channel {
  const channel = findChannel(db, channelId)
  if (channel === null) throw new AppError('channel_not_found', 'There is no such channel.')
  return channel
}

export function findConnectable(db: Db, channelId: string): ConnectableChannel | null {
  const row = db.prepare<ChannelRow>(`${SELECT_CHANNEL} WHERE channel.id = ?`).get(channelId)
  return row === undefined ? null : connectableOf(row)
}

export function listConnectable(db: Db): ConnectableChannel[] {
  return db.prepare<ChannelRow>(`${SELECT_CHANNEL} ORDER BY channel.seq`).all().map(connectableOf)
}

/** The channel that this account has already; one account speaks for one agent. */
export function findChannelOfAccount(db: Db, kind: ChannelKind, accountId: string): Channel | null {
  const row = db.prepare<ChannelRow>(`${SELECT_CHANNEL} WHERE channel.kind = ? AND channel.account_id = ?`).get(kind, accountId)
  return row === undefined ? null : channelOf(db, row)
}

/** Throws AppError channel_exists. The agent and the token are looked at by the caller. */
export function insertChannel(
  tx: Tx,
  { clock }: { clock: Clock },
  channel: { id: string; agentId: string; kind: ChannelKind; account: ChannelAccount; baseUrl: string | null },
): Channel {
  const { id, agentId, kind, account, baseUrl } = channel
  const present = findChannelOfAccount(tx, kind, account.accountId)
  if (present !== null) throw new AppError('channel_exists', `${account.name} is connected already, to the agent “${present.agentName}”.`)
  tx.prepare(
    `INSERT INTO channels (id, agent_id, kind, account_id, name, link, base_url, enabled, status, status_since, problem, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 1, 'connecting', now_ms(), '', ?)`,
  ).run(id, agentId, kind, account.accountId, account.name, account.link, baseUrl, clock.now())
  tx.emit({ type: 'channel.created', payload: { channelId: id, agentId } })
  return getChannel(tx, id)
}

/** Turns it on or off, by the person's word. Turned on it is to be connected anew. Throws AppError channel_not_found. */
export function setChannelEnabled(tx: Tx, channelId: string, enabled: boolean): Channel {
  const { agentId } = getChannel(tx, channelId)
  tx.prepare("UPDATE channels SET enabled = ?, status = ?, status_since = now_ms(), problem = '' WHERE id = ?").run(
    enabled ? 1 : 0,
    enabled ? 'connecting' : 'off',
    channelId,
  )
  tx.emit({ type: 'channel.changed', payload: { channelId, agentId } })
  return getChannel(tx, channelId)
}

/** People rename their accounts. Throws AppError channel_not_found. */
export function renameChannel(tx: Tx, channelId: string, { name, link }: ChannelAccount): void {
  const before = getChannel(tx, channelId)
  if (before.name === name && before.link === link) return
  tx.prepare('UPDATE channels SET name = ?, link = ? WHERE id = ?').run(name, link, channelId)
  tx.emit({ type: 'channel.changed', payload: { channelId, agentId: before.agentId } })
}

/** How its connection does. Says nothing when that is known already, or when the channel has gone meanwhile. */
export function setChannelStatus(tx: Tx, channelId: string, status: ChannelStatus, problem: string): void {
  const changed = tx
    .prepare<{ agent_id: string }>(
      `UPDATE channels SET status = ?, status_since = CASE WHEN status = ? THEN status_since ELSE now_ms() END, problem = ?
       WHERE id = ? AND (status <> ? OR problem <> ?) RETURNING agent_id`,
    )
    .get(status, status, problem, channelId, status, problem)
  if (changed !== undefined) tx.emit({ type: 'channel.changed', payload: { channelId, agentId: changed.agent_id } })
}

/** Only a later moment counts, and nobody is told: pages that are open ask. */
export function noteRoundTrip(tx: Tx, channelId: string, at: number): void {
  tx.prepare('UPDATE channels SET last_round_trip_at = ? WHERE id = ? AND ifnull(last_round_trip_at, 0) < ?').run(at, channelId, at)
}

/** Part of the transaction that keeps what stood before this position. */
export function moveChannelPosition(tx: Tx, channelId: string, position: string): void {
  tx.prepare('UPDATE channels SET position = ? WHERE id = ?').run(position, channelId)
}

/** Throws AppError channel_not_found. What was said stays in the conversations. */
export function deleteChannel(tx: Tx, channelId: string): void {
  const { agentId } = getChannel(tx, channelId)
  tx.prepare('DELETE FROM channels WHERE id = ?').run(channelId)
  tx.emit({ type: 'channel.deleted', payload: { channelId, agentId } })
}

/** The agent goes, and with it the accounts that spoke for it. */
export function deleteChannelsOfAgent(tx: Tx, agentId: string): void {
  const rows = tx.prepare<{ id: string }>('SELECT id FROM channels WHERE agent_id = ?').all(agentId)
  for (const { id } of rows) deleteChannel(tx, id)
}

function channelOf(db: Db, row: ChannelRow): Channel {
  return {
    id: row.id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    kind: row.kind,
    name: row.name,
    link: row.link,
    status: row.status,
    problem: row.problem,
    lastRoundTripAt: row.last_round_trip_at,
    baseUrl: row.base_url,
    enabled: row.enabled === 1,
    requestCode: requestCodeOf(row.id),
    people: listPeople(db, row.id),
    createdAt: row.created_at,
  }
}

function connectableOf(row: ChannelRow): ConnectableChannel {
  return {
    id: row.id,
    agentId: row.agent_id,
    kind: row.kind,
    accountId: row.account_id,
    baseUrl: row.base_url,
    enabled: row.enabled === 1,
    status: row.status,
    position: row.position,
  }
}
