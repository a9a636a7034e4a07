import type { Message } from '../../contract/messages.ts'
import { transact, type Tx } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { ChannelStatus } from '../../contract/channels.ts'
import { AppError, problemOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { channelTokenKey } from '../../lib/vault.ts'
import { splitTokens, type ChannelAccess } from '../../domain/channels/channel-access.ts'
import { findAgent } from '../../domain/agents/agents.ts'
import { findConnectable, noteRoundTrip, setChannelStatus, type ConnectableChannel } from '../../domain/channels/channels.ts'
import { noteMissed } from '../../domain/channels/late-messages.ts'
import { listKnownChats } from '../../domain/channels/people.ts'
import { readFileOfAgent, type AgentFolders } from './agent-files.ts'
import type { ChannelDriver, Connection } from './channel.ts'
import { pauseAfter } from './service-calls.ts'
import { storeIncoming, type StoreIncomingDeps } from './store-incoming.ts'

export type OpenChannelDeps = StoreIncomingDeps & {
  vault: Services['vault']
  random: () => number
  /** Folders in which no received file is stored and from which none is sent. */
  closedFolders: (agentId: string) => readonly string[]
}

export type OpenChannel = ReturnType<typeof openChannel>

/** After a connection that lasted this long, the next one follows soon. */
const STEADY_MS = 60_000
const ROUND_TRIP_STORED_EVERY_MS = 60_000
/** How often a locked keychain is tried again. */
export const VAULT_RETRY_MS = 15_000
export const NO_DRIVER = createMessage('chat_no_driver')

/** Connects a channel and stores what comes in, until it is closed. */
export function openChannel(deps: OpenChannelDeps, driver: ChannelDriver | undefined, channel: ConnectableChannel) {
  const { db, clock, log, vault } = deps
  const channelId = channel.id
  const closing = new AbortController()
  const { signal } = closing
  let connection: Connection | null = null
  let access: ChannelAccess | null = null
  let lastStatus = ''
  let lastRoundTripAt: number | null = null
  let storedRoundTripAt = 0
  const folders = (): AgentFolders => ({
    folders: findAgent(db, channel.agentId)?.folders ?? [],
    closedFolders: deps.closedFolders(channel.agentId),
  })
  const take = storeIncoming(deps, channel, {
    signal,
    folders,
    answerPress: ({ pressId }, note) => void connection?.answerPress(pressId, note),
  })

  /** A failed write must not stop the connection; the next change writes again. */
  function tryToWrite(write: (tx: Tx) => void): void {
    try {
      transact(db, write)
    } catch (error) {
      log.warn({ error, channelId }, 'could not store the state of a channel')
    }
  }

  function setStatus(status: ChannelStatus, problem: Message | null): void {
    const now = JSON.stringify([status, problem])
    if (signal.aborted || now === lastStatus) return
    lastStatus = now
    if (problem !== null) log.warn({ channelId, status, problem }, 'a channel does not work')
    tryToWrite((tx) => setChannelStatus(tx, channelId, status, problem))
  }

  /** Connects, and again after each fault of ours. */
  async function stayConnected(): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      const startedAt = clock.monotonic()
      try {
        return await connect()
      } catch (error) {
        if (signal.aborted) return
        log.error({ error, channelId }, 'a fault of ours ended the connection of a channel')
        setStatus('failing', createMessage('chat_broken'))
      }
      await connection?.close()
      connection = null
      if (clock.monotonic() - startedAt >= STEADY_MS) failures = 0
      await clock.sleep(pauseAfter({ retryAfterMs: null }, failures, deps.random), signal).catch(() => {})
    }
  }

  /** Resolves when a person has to act. */
  async function connect(): Promise<void> {
    if (driver === undefined) return setStatus('failing', NO_DRIVER)
    const tokens = await readTokens()
    signal.throwIfAborted()
    if (tokens === null) return setStatus('logged_out', createMessage('chat_token_gone'))
    access = { channelId, ...splitTokens(tokens), baseUrl: channel.baseUrl }
    connection = driver.connect(access, findConnectable(db, channelId)?.position ?? null, {
      incoming: take,
      status: setStatus,
      roundTrip: noteTrip,
      knownChats: () => listKnownChats(db, channelId),
      readFile: (path, maxBytes) => readFileOfAgent(folders(), path, maxBytes),
    })
    await connection.ended
  }

  async function readTokens(): Promise<string | null> {
    for (;;) {
      try {
        return await vault.get(channelTokenKey(channelId))
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        setStatus('failing', problemOf(error))
        await clock.sleep(VAULT_RETRY_MS, signal)
      }
    }
  }

  function noteTrip(): void {
    const at = clock.now()
    noteAbsence(lastRoundTripAt ?? channel.lastRoundTripAt, at)
    lastRoundTripAt = at
    // `abs`, because the clock may be set back.
    if (Math.abs(at - storedRoundTripAt) < ROUND_TRIP_STORED_EVERY_MS) return
    storedRoundTripAt = at
    tryToWrite((tx) => noteRoundTrip(tx, channelId, at))
  }

  /** Also after a sleep of the machine, in which the connection stays. */
  function noteAbsence(from: number | null, to: number): void {
    if (from === null || to - from <= (driver?.keepsMessagesMs ?? Infinity)) return
    tryToWrite((tx) => noteMissed(tx, deps, channel, { from, to }))
  }

  setStatus('connecting', null)
  void stayConnected()
  return {
    /** null until the token is read, and during the pause after a fault. */
    connection: () => connection,
    /** null until the token is read. */
    access: () => access,
    /** The last round trip of this connection. */
    lastRoundTripAt: () => lastRoundTripAt,
    async close(): Promise<void> {
      closing.abort(new Error('the channel is closed'))
      await connection?.close()
    },
  }
}
