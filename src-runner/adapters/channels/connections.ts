import { problemOf } from '../../lib/errors.ts'
import type { Message } from '../../contract/messages.ts'
import type { Database } from '../../platform/db/database.ts'
import { commitSoon, transact } from '../../platform/db/transact.ts'
import type { EventHub } from '../../platform/events/event-hub.ts'
import type { ChannelKind, ChannelStatus } from '../../contract/channels.ts'
import type { StoredEvent } from '../../contract/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage } from '../../lib/messages.ts'
import { channelTokenKey, type Vault } from '../../lib/vault.ts'
import { findAgent } from '../../domain/agents/agents.ts'
import type { ApprovalStore } from '../../domain/approvals/approvals.ts'
import { findSentApproval, listAskingMessages } from '../../domain/channels/answer-by-message.ts'
import {
  findConnectable,
  listConnectable,
  moveChannelPosition,
  noteRoundTrip,
  setChannelStatus,
  type ConnectableChannel,
} from '../../domain/channels/channels.ts'
import { isHeard, pruneReceived, receiveMessage, receivePress, wasReceived } from '../../domain/channels/receive-message.ts'
import type { JobStore } from '../../domain/jobs/job-store.ts'
import type { Deliver } from '../../domain/outbox/outgoing.ts'
import type { ChannelAccess, ChannelDriver, Connection, Identified, Incoming, IncomingMessage } from './channel.ts'
import { putReceivedFile, readFileOfAgent, type AgentFolders } from './agent-files.ts'
import { createTyping } from './typing.ts'

export type ConnectionsDeps = {
  db: Database
  hub: EventHub
  jobs: JobStore
  approvals: ApprovalStore
  vault: Vault
  clock: Clock
  /** The clock by which received messages are forgotten. */
  age?: Pick<Clock, 'now'>
  ids: Ids
  log: Log
  drivers: readonly ChannelDriver[]
  /** Folders in which no received file is stored and from which none is sent. */
  closedFolders: (agentId: string) => readonly string[]
  /** Nothing is connected, because a received message may have caused the crash. */
  safeMode: boolean
}

/** Keeps a connection for each channel whose row is enabled. */
export type ChannelConnections = {
  start(): void
  stop(): Promise<void>
  /** Closes the connection after a change of the channel or its token, and opens it again if it is enabled. */
  refresh(channelId: string): Promise<void>
  identify(kind: ChannelKind, access: ChannelAccess): Promise<Identified>
  deliver: Deliver
  /** The last one of this process, or null. */
  lastRoundTripAt(channelId: string): number | null
}

const ROUND_TRIPS_KEPT_EVERY_MS = 60_000
const PRUNE_EVERY_MS = 6 * 3_600_000
/** How often a locked keychain is asked again. */
const VAULT_AGAIN_MS = 15_000
const SAFE_MODE = createMessage('chat_safe_mode')
const TOKEN_GONE = createMessage('chat_token_gone')
const NO_DRIVER = createMessage('chat_no_driver')

type Held = { closing: AbortController; connection: Connection | null; status: string; tripAt: number | null; tripKeptAt: number }

export function createChannelConnections(deps: ConnectionsDeps): ChannelConnections {
  const { db, hub, clock, log, vault, safeMode } = deps
  const held = new Map<string, Held>()
  /** By channel: openings and closings run one after another. */
  const turns = new Map<string, Promise<void>>()
  const stops: (() => void)[] = []
  let isStopped = false
  const typing = createTyping({
    ...deps,
    show: (channelId, chatId) => void held.get(channelId)?.connection?.showTyping(chatId),
  })

  /** A failed write must not stop the connection; the next change writes again. */
  function tryToWrite(what: string, channelId: string, write: () => void): void {
    try {
      write()
    } catch (error) {
      log.warn({ error, channelId }, `${what} of a channel could not be written`)
    }
  }

  function setStatus(channelId: string, status: ChannelStatus, problem: Message | null): void {
    tryToWrite('the state', channelId, () => transact(db, (tx) => setChannelStatus(tx, channelId, status, problem)))
  }

  function open(channel: ConnectableChannel): void {
    const mine: Held = { closing: new AbortController(), connection: null, status: '', tripAt: null, tripKeptAt: 0 }
    held.set(channel.id, mine)
    setStatus(channel.id, 'connecting', null)
    void connect(channel, mine).catch((error: unknown) => {
      if (mine.closing.signal.aborted) return
      log.error({ error, channelId: channel.id }, 'a channel could not be connected')
      setStatus(channel.id, 'failing', createMessage('chat_broken'))
    })
  }

  async function connect(channel: ConnectableChannel, mine: Held): Promise<void> {
    const driver = deps.drivers.find(({ kind }) => kind === channel.kind)
    if (driver === undefined) return setStatus(channel.id, 'failing', NO_DRIVER)
    const token = await readToken(channel.id, mine.closing.signal)
    if (mine.closing.signal.aborted) return
    if (token === null) return setStatus(channel.id, 'logged_out', TOKEN_GONE)
    mine.connection = driver.connect({ token, baseUrl: channel.baseUrl }, findConnectable(db, channel.id)?.position ?? null, {
      incoming: (incoming) => take(channel, mine, incoming),
      status: (status, problem) => {
        const said = JSON.stringify([status, problem])
        if (mine.closing.signal.aborted || said === mine.status) return
        mine.status = said
        if (status !== 'open') log.warn({ channelId: channel.id, status, problem }, 'a channel does not work')
        setStatus(channel.id, status, problem)
      },
      roundTrip: () => noteTrip(channel.id, mine),
      readFile: (path, mostBytes) => readFileOfAgent(foldersOf(channel), path, mostBytes),
    })
  }

  async function readToken(channelId: string, signal: AbortSignal): Promise<string | null> {
    for (;;) {
      try {
        return await vault.get(channelTokenKey(channelId))
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (signal.aborted) return null
        setStatus(channelId, 'failing', problemOf(error))
        await clock.sleep(VAULT_AGAIN_MS, signal)
      }
    }
  }

  function noteTrip(channelId: string, mine: Held): void {
    const at = clock.now()
    mine.tripAt = at
    // `abs`, because the clock may be set back.
    if (Math.abs(at - mine.tripKeptAt) < ROUND_TRIPS_KEPT_EVERY_MS) return
    mine.tripKeptAt = at
    tryToWrite('a round trip', channelId, () => transact(db, (tx) => noteRoundTrip(tx, channelId, at)))
  }

  /** Resolves when it is on disk. Rejects if the database cannot store it now, so that the driver repeats it. */
  async function take(channel: ConnectableChannel, mine: Held, incoming: Incoming): Promise<void> {
    try {
      if (incoming.type === 'message') return await takeMessage(channel, mine, incoming.message, incoming.position)
      if (incoming.type === 'nothing') return await commitSoon(db, (tx) => moveChannelPosition(tx, channel.id, incoming.position))
      const note = await commitSoon(db, (tx) => receivePress(tx, deps, channel, incoming.press, incoming.position))
      void mine.connection?.answerPress(incoming.press.pressId, note)
    } catch (error) {
      if (mine.closing.signal.aborted || isDatabaseTrouble(error)) throw error
      // Repeated, it would fail again and block everything behind it.
      log.error({ error, channelId: channel.id, type: incoming.type }, 'an incoming update failed and was skipped')
      await commitSoon(db, (tx) => moveChannelPosition(tx, channel.id, incoming.position))
    }
  }

  async function takeMessage(channel: ConnectableChannel, mine: Held, message: IncomingMessage, position: string): Promise<void> {
    const wanted = isHeard(db, channel.id, message.sender) && !wasReceived(db, channel.id, message.externalId) ? message.files : []
    const files: string[] = []
    const missingFiles: { name: string; why: string }[] = []
    for (const file of wanted) {
      const put = await putAway(channel, file, mine.closing.signal)
      if ('path' in put) files.push(put.path)
      else missingFiles.push({ name: file.name, why: put.problem.replace(/\.$/, '') })
    }
    mine.closing.signal.throwIfAborted()
    await commitSoon(db, (tx) => receiveMessage(tx, deps, channel, { ...message, files, missingFiles }, position))
  }

  async function putAway(
    channel: ConnectableChannel,
    { name, download }: IncomingMessage['files'][number],
    signal: AbortSignal,
  ): Promise<{ path: string } | { problem: string }> {
    const where = foldersOf(channel)
    // Without a folder the file is not downloaded.
    if (where.folders.length === 0) return putReceivedFile(where, name, new Uint8Array())
    const fetched = await download(signal)
    return 'bytes' in fetched ? putReceivedFile(where, name, fetched.bytes) : fetched
  }

  function foldersOf({ agentId }: ConnectableChannel): AgentFolders {
    return { folders: findAgent(db, agentId)?.folders ?? [], closedFolders: deps.closedFolders(agentId) }
  }

  async function close(channelId: string): Promise<void> {
    const mine = held.get(channelId)
    if (mine === undefined) return
    held.delete(channelId)
    mine.closing.abort(new Error('the channel is closed'))
    await mine.connection?.close()
  }

  async function refresh(channelId: string): Promise<void> {
    await close(channelId)
    const channel = findConnectable(db, channelId)
    if (isStopped || channel === null || !channel.enabled) return
    if (safeMode) setStatus(channelId, 'off', SAFE_MODE)
    else open(channel)
  }

  function inTurn(channelId: string, work: () => Promise<void>): Promise<void> {
    const turn = (turns.get(channelId) ?? Promise.resolve()).then(work)
    const settled = turn
      .catch(() => {})
      .finally(() => {
        if (turns.get(channelId) === settled) turns.delete(channelId)
      })
    turns.set(channelId, settled)
    return turn
  }

  function forget(channelId: string): void {
    const work = async () => {
      await close(channelId)
      await vault.delete(channelTokenKey(channelId))
    }
    inTurn(channelId, work).catch((error: unknown) => log.warn({ error, channelId }, 'the token of a removed channel could not be removed'))
  }

  /** An approval that is no longer pending keeps no buttons in any chat. */
  function removeButtons(approvalId: string): void {
    for (const { channelId, chatId, externalId } of listAskingMessages(db, approvalId)) {
      void held.get(channelId)?.connection?.removeButtons(chatId, externalId)
    }
  }

  function onEvent(event: StoredEvent): void {
    typing.onEvent(event)
    if (event.type === 'channel.deleted') forget(event.payload.channelId)
    if (event.type === 'approval.answered' || event.type === 'approval.expired' || event.type === 'approval.withdrawn') {
      removeButtons(event.payload.approvalId)
    }
    if (event.type === 'outbound.sent') {
      // It may have been answered elsewhere while it was being sent.
      const approvalId = findSentApproval(db, event.payload.messageId)
      if (approvalId !== null && deps.approvals.findApproval(db, approvalId)?.status !== 'pending') removeButtons(approvalId)
    }
  }

  function prune(): void {
    try {
      transact(db, (tx) => pruneReceived(tx, (deps.age ?? clock).now()))
    } catch (error) {
      log.warn({ error }, 'ids of old messages could not be deleted')
    }
  }

  return {
    start() {
      stops.push(hub.subscribe(onEvent), clock.every(PRUNE_EVERY_MS, prune), typing.stop)
      for (const channel of listConnectable(db)) {
        if (!channel.enabled || channel.status === 'logged_out') continue
        if (safeMode) setStatus(channel.id, 'off', SAFE_MODE)
        else open(channel)
      }
    },
    async stop() {
      isStopped = true
      for (const stop of stops.splice(0)) stop()
      await Promise.all([...turns.values()])
      await Promise.all([...held.keys()].map(close))
    },
    refresh: (channelId) => inTurn(channelId, () => refresh(channelId)),
    async identify(kind, access) {
      const driver = deps.drivers.find((one) => one.kind === kind)
      return driver === undefined ? { state: 'refused', problem: NO_DRIVER } : driver.identify(access, new AbortController().signal)
    },
    async deliver(message, signal, onPart = () => true) {
      const connection = held.get(message.channelId)?.connection ?? null
      if (connection !== null) return connection.deliver(message, signal, onPart)
      const { partsSent } = message
      return { state: 'failed', permanent: false, partsSent, retryAfterMs: null, problem: createMessage('sent_not_connected') }
    },
    lastRoundTripAt: (channelId) => held.get(channelId)?.tripAt ?? null,
  }
}

function isDatabaseTrouble(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'disk_full' || error.code === 'database_unavailable')
}
