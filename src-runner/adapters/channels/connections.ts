import { transact } from '../../platform/db/database.ts'
import type { EventHub } from '../../platform/events/event-hub.ts'
import type { ChannelKind } from '../../contract/channels.ts'
import type { StoredEvent } from '../../contract/events.ts'
import { createMessage } from '../../lib/messages.ts'
import { channelTokenKey } from '../../lib/vault.ts'
import { findSentApproval, listAskingMessages } from '../../domain/channels/answer-by-message.ts'
import {
  findConnectable,
  listConnectable,
  setChannelStatus,
  type ConnectableChannel,
  type Identified,
} from '../../domain/channels/channels.ts'
import { pruneReceived } from '../../domain/channels/receive-message.ts'
import type { Deliver } from '../../domain/outbox/outgoing.ts'
import { splitTokens, type ChannelAccess } from '../../domain/channels/channel-access.ts'
import type { ChannelDriver } from './channel.ts'
import { NO_DRIVER, openChannel, VAULT_RETRY_MS, type OpenChannel, type OpenChannelDeps } from './open-channel.ts'
import { createTyping } from './typing.ts'

export type ConnectionsDeps = OpenChannelDeps & {
  hub: EventHub
  drivers: readonly ChannelDriver[]
  /** Nothing is connected, because a received message may have caused the crash. */
  safeMode: boolean
}

type DeletedChannel = Extract<StoredEvent, { type: 'channel.deleted' }>['payload']

const PRUNE_EVERY_MS = 6 * 3_600_000

/** Keeps a connection for each channel whose row is enabled. */
export function createChannelConnections(deps: ConnectionsDeps) {
  const { db, hub, clock, log, vault, safeMode } = deps
  const opened = new Map<string, OpenChannel>()
  /** By channel: openings and closings run one after another. */
  const turns = new Map<string, Promise<void>>()
  const stops: (() => void)[] = []
  const stopping = new AbortController()
  const connectionOf = (channelId: string) => opened.get(channelId)?.connection() ?? null
  const findDriver = (kind: string | undefined) => deps.drivers.find((driver) => driver.kind === kind)
  const typing = createTyping({ ...deps, show: (channelId, chatId) => void connectionOf(channelId)?.showTyping(chatId) })

  function open(channel: ConnectableChannel): void {
    if (safeMode) transact(db, (tx) => setChannelStatus(tx, channel.id, 'off', createMessage('chat_safe_mode')))
    else opened.set(channel.id, openChannel(deps, findDriver(channel.kind), channel))
  }

  async function close(channelId: string): Promise<void> {
    const channel = opened.get(channelId)
    opened.delete(channelId)
    await channel?.close()
  }

  function inTurn(channelId: string, work: () => Promise<void>): Promise<void> {
    const turn = (turns.get(channelId) ?? Promise.resolve()).then(work)
    const done = turn.catch(() => {})
    turns.set(channelId, done)
    return turn
  }

  /** The vault may have been locked since the deletion was asked for. An open channel has its access in memory. */
  async function forget({ channelId, kind }: DeletedChannel): Promise<void> {
    const inUse = opened.get(channelId)?.access() ?? null
    await close(channelId)
    const access = inUse ?? (await readAccess(channelId))
    await findDriver(kind)
      ?.forget?.(channelId, access)
      .catch((error: unknown) => log.warn({ error, channelId }, 'could not remove what a driver kept of a deleted channel'))
    await deleteTokens(channelId)
  }

  async function readAccess(channelId: string): Promise<ChannelAccess | null> {
    const tokens = await vault.get(channelTokenKey(channelId)).catch(() => null)
    return tokens === null ? null : { channelId, ...splitTokens(tokens), baseUrl: null }
  }

  async function deleteTokens(channelId: string): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        return await vault.delete(channelTokenKey(channelId))
      } catch (error) {
        log.warn({ error, channelId }, 'could not delete the token of a deleted channel')
        await clock.sleep(VAULT_RETRY_MS, stopping.signal).catch(() => {})
      }
    }
  }

  /** An approval that is no longer pending keeps no buttons in any chat. */
  function removeButtons(approvalId: string): void {
    for (const { channelId, chatId, externalId } of listAskingMessages(db, approvalId)) {
      void connectionOf(channelId)?.removeButtons(chatId, externalId)
    }
  }

  function onEvent(event: StoredEvent): void {
    typing.onEvent(event)
    const { type, payload } = event
    if (type === 'channel.deleted') void inTurn(payload.channelId, () => forget(payload))
    if (type === 'approval.answered' || type === 'approval.expired' || type === 'approval.withdrawn') removeButtons(payload.approvalId)
    if (type === 'outbound.sent') {
      // The approval may have been answered while the message was being sent.
      const approvalId = findSentApproval(db, payload.messageId)
      if (approvalId !== null && deps.approvals.findApproval(db, approvalId)?.status !== 'pending') removeButtons(approvalId)
    }
  }

  const deliver: Deliver = async (message, signal, onPart = () => true) => {
    const connection = connectionOf(message.channelId)
    if (connection !== null) return connection.deliver(message, signal, onPart)
    const { partsSent } = message
    return { state: 'failed', permanent: false, partsSent, retryAfterMs: null, problem: createMessage('sent_not_connected') }
  }

  return {
    start(): void {
      const prune = () => transact(db, (tx) => pruneReceived(tx, (deps.age ?? clock).now()))
      stops.push(hub.subscribe(onEvent), clock.every(PRUNE_EVERY_MS, prune), typing.stop)
      for (const channel of listConnectable(db)) if (channel.enabled && channel.status !== 'logged_out') open(channel)
    },
    async stop(): Promise<void> {
      stopping.abort()
      for (const stop of stops.splice(0)) stop()
      await Promise.all(turns.values())
      await Promise.all([...opened.keys()].map(close))
    },
    /** Closes the connection after a change of the channel or its token, and opens it again if it is enabled. */
    refresh: (channelId: string) =>
      inTurn(channelId, async () => {
        await close(channelId)
        const channel = findConnectable(db, channelId)
        if (!stopping.signal.aborted && channel?.enabled === true) open(channel)
      }),
    /** Asks the service whose token this is. */
    identify: async (kind: ChannelKind, access: ChannelAccess): Promise<Identified> =>
      findDriver(kind)?.identify(access, new AbortController().signal) ?? { state: 'refused', problem: NO_DRIVER },
    deliver,
    /** The machine was asleep until now. */
    woke: () => opened.forEach((channel) => channel.connection()?.woke?.()),
    /** The last one of this process, or null. */
    lastRoundTripAt: (channelId: string) => opened.get(channelId)?.lastRoundTripAt() ?? null,
  }
}
