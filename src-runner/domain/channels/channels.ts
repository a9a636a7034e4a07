import type { Message } from '../../contract/messages.ts'
import { createMessage, readMessage, writeMessage } from '../../lib/messages.ts'
import { and, desc, eq, getTableColumns, isNull, lt, ne, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { filterBy } from '../../platform/db/statements.ts'
import type { Channel, ChannelKind, ChannelStatus } from '../../contract/channels.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, required } from '../../lib/errors.ts'
import { agents } from '../agents/agents-table.ts'
import { channels } from './channels-table.ts'
import { pairingCodeOf } from './pairing-code.ts'
import { listPeople } from './people.ts'

const { id, agentId, kind, accountId, name, link, baseUrl, enabled, status, problem, lastRoundTripAt, position, createdAt } =
  getTableColumns(channels)

/** What a connection needs. `position`: how far the service's messages were read, in the format of its driver. */
const CONNECTABLE = { id, agentId, kind, accountId, baseUrl, enabled, status, position, lastRoundTripAt }
export type ConnectableChannel = Pick<typeof channels.$inferSelect, keyof typeof CONNECTABLE>

/** An account as its service describes it. */
export type ChannelAccount = { accountId: string; name: string; link: string | null }

/** Whose token it is, or why the service did not say. `problem` never contains the token. */
export type Identified = { state: 'known'; account: ChannelAccount } | { state: 'refused' | 'unreachable'; problem: Message }

function selectChannels(db: Db) {
  return db
    .select({ id, agentId, agentName: agents.name, kind, name, link, status, problem, lastRoundTripAt, baseUrl, enabled, createdAt })
    .from(channels)
    .innerJoin(agents, eq(agents.id, channels.agentId))
}

function withPeople(db: Db, row: NonNullable<ReturnType<ReturnType<typeof selectChannels>['get']>>): Channel {
  return { ...row, problem: readMessage(row.problem), pairingCode: pairingCodeOf(row.id), people: listPeople(db, row.id) }
}

/** Newest first. */
export function listChannels(db: Db, { agentId, entityId }: { agentId?: string; entityId?: string | undefined } = {}): Channel[] {
  return selectChannels(db)
    .where(and(filterBy(channels.agentId, agentId), filterBy(agents.entityId, entityId)))
    .orderBy(desc(channels.seq))
    .all()
    .map((row) => withPeople(db, row))
}

export function findChannel(db: Db, channelId: string): Channel | null {
  const row = selectChannels(db).where(eq(channels.id, channelId)).get()
  return row === undefined ? null : withPeople(db, row)
}

/** Throws AppError channel_not_found. */
export function getChannel(db: Db, channelId: string): Channel {
  return required(findChannel(db, channelId), 'channel_not_found')
}

export function findConnectable(db: Db, channelId: string): ConnectableChannel | null {
  return db.select(CONNECTABLE).from(channels).where(eq(channels.id, channelId)).get() ?? null
}

export function listConnectable(db: Db): ConnectableChannel[] {
  return db.select(CONNECTABLE).from(channels).orderBy(channels.seq).all()
}

/** The channel of this account. An account belongs to one agent. */
export function findChannelOfAccount(db: Db, kind: ChannelKind, accountId: string): Channel | null {
  const row = selectChannels(db)
    .where(and(eq(channels.kind, kind), eq(channels.accountId, accountId)))
    .get()
  return row === undefined ? null : withPeople(db, row)
}

/** Throws AppError channel_exists. The caller has checked the agent and the token. */
export function insertChannel(
  tx: Tx,
  { clock }: { clock: Clock },
  { account, ...channel }: { id: string; agentId: string; kind: ChannelKind; account: ChannelAccount; baseUrl: string | null },
): Channel {
  const present = findChannelOfAccount(tx, channel.kind, account.accountId)
  if (present !== null) {
    throw new AppError('channel_exists', createMessage('chat_account_taken', { account: account.name, agentName: present.agentName }))
  }
  tx.insert(channels)
    .values({ ...channel, ...account, enabled: true, status: 'connecting', statusSince: NOW, problem: '', createdAt: clock.now() })
    .run()
  tx.emit({ type: 'channel.created', payload: { channelId: channel.id, agentId: channel.agentId } })
  return getChannel(tx, channel.id)
}

const NOW = sql<number>`now_ms()`

/** A channel that is turned on reconnects. Throws AppError channel_not_found. */
export function setChannelEnabled(tx: Tx, channelId: string, enabled: boolean): Channel {
  const { agentId } = getChannel(tx, channelId)
  tx.update(channels)
    .set({ enabled, status: enabled ? 'connecting' : 'off', statusSince: NOW, problem: '' })
    .where(eq(channels.id, channelId))
    .run()
  tx.emit({ type: 'channel.changed', payload: { channelId, agentId } })
  return getChannel(tx, channelId)
}

/** The account was renamed at its service. Throws AppError channel_not_found. */
export function renameChannel(tx: Tx, channelId: string, { name, link }: ChannelAccount): void {
  const before = getChannel(tx, channelId)
  if (before.name === name && before.link === link) return
  tx.update(channels).set({ name, link }).where(eq(channels.id, channelId)).run()
  tx.emit({ type: 'channel.changed', payload: { channelId, agentId: before.agentId } })
}

/** Does nothing if nothing has changed or the channel was deleted meanwhile. */
export function setChannelStatus(tx: Tx, channelId: string, status: ChannelStatus, why: Message | null): void {
  const problem = writeMessage(why)
  const changed = tx
    .update(channels)
    .set({ status, statusSince: sql`CASE WHEN ${channels.status} = ${status} THEN ${channels.statusSince} ELSE now_ms() END`, problem })
    .where(and(eq(channels.id, channelId), or(ne(channels.status, status), ne(channels.problem, problem))))
    .returning({ agentId: channels.agentId })
    .get()
  if (changed !== undefined) tx.emit({ type: 'channel.changed', payload: { channelId, ...changed } })
}

/** Keeps the latest time. There is no event, because open pages poll it. */
export function noteRoundTrip(tx: Tx, channelId: string, at: number): void {
  const isEarlier = or(isNull(channels.lastRoundTripAt), lt(channels.lastRoundTripAt, at))
  tx.update(channels)
    .set({ lastRoundTripAt: at })
    .where(and(eq(channels.id, channelId), isEarlier))
    .run()
}

/** Part of the transaction that stores what came before this position. */
export function moveChannelPosition(tx: Tx, channelId: string, position: string): void {
  tx.update(channels).set({ position }).where(eq(channels.id, channelId)).run()
}

/** Conversations and their messages stay. Throws AppError channel_not_found. */
export function deleteChannel(tx: Tx, channelId: string): void {
  const { agentId, kind } = getChannel(tx, channelId)
  tx.delete(channels).where(eq(channels.id, channelId)).run()
  tx.emit({ type: 'channel.deleted', payload: { channelId, agentId, kind } })
}

export function deleteChannelsOfAgent(tx: Tx, agentId: string): void {
  for (const { id } of listChannels(tx, { agentId })) deleteChannel(tx, id)
}
