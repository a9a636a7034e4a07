import { transact } from '../../platform/db/transact.ts'
import type { Database } from '../../platform/db/database.ts'
import { SandboxFailed } from '../../platform/sandbox/sandbox-types.ts'
import type { McpServer } from '../../contract/mcp.ts'
import type { Message } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage, englishText, quote } from '../../lib/messages.ts'
import {
  findConnectableServer,
  listMcpServers,
  noteMcpServerRun,
  noteMcpServerUse,
  setMcpServerStatus,
} from '../../domain/mcp/mcp-servers.ts'
import { recordTools } from '../../domain/mcp/mcp-tools.ts'
import { McpServerError, type Elicitation, type ElicitationAnswer } from '../../agent/mcp/connect-server.ts'
import { openServer, type OpenedServer, type OpenServerDeps } from './open-server.ts'
import type { ServerFolders } from './server-folders.ts'
import { createServerLog, type LogLine, type ServerLog } from './server-log.ts'

export type McpPoolDeps = Omit<OpenServerDeps, 'monotonic'> & { db: Database; clock: Clock; log: Log; folders: ServerFolders }

/** `scrub` takes the server's secrets out of a text. */
export type ServerUse = { connection: OpenedServer; scrub(text: string): string }

/** `isOfOneCall`: no other call of the server is under way, so this one asks. */
export type AnswerElicitation = (question: Elicitation, isOfOneCall: boolean) => Promise<ElicitationAnswer>

export type McpPool = {
  /**
   * Runs `work` with a connection, which is opened first if there is none. Throws AppError with the reason if the server cannot be
   * reached, and whatever `work` throws.
   */
  use<T>(serverId: string, signal: AbortSignal, work: (use: ServerUse) => Promise<T>): Promise<T>
  /** Introduces itself and reads the tools, whatever failed before. null: it works. */
  test(serverId: string, signal: AbortSignal): Promise<Message | null>
  /** After a change: the next use connects again. */
  restart(serverId: string): Promise<void>
  /** Deletes what deleted servers left behind before a crash. */
  sweep(): Promise<void>
  /** After the server was deleted: ends it, and deletes its folder. */
  forget(serverId: string): Promise<void>
  readLog(serverId: string): LogLine[]
  /** The server as it is now, with what only a running connection shows. */
  withLiveStatus(server: McpServer): McpServer
  /** Answers questions of a server while a call runs. Returns how to stop. */
  onElicitation(serverId: string, answer: AnswerElicitation): () => void
  stop(): Promise<void>
}

const IDLE_MS = 5 * 60_000
const PING_AFTER_MS = 60_000
const PING_MS = 5_000
const LONGEST_WAIT_MS = 5 * 60_000
/** A server that says twice in this time that its tools have changed is asked once. */
const LIST_AGAIN_MS = 1_000

type Entry = {
  log: ServerLog
  /** Set while it is opened and while it is open. */
  opening: Promise<OpenedServer> | null
  isOpen: boolean
  uses: number
  usedAt: number
  failures: number
  /** On the monotonic clock. Before that it is not tried again. */
  notBefore: number
  secrets: readonly string[]
  closing: AbortController
  cancelIdle: (() => void) | null
  cancelList: (() => void) | null
  /** While changed tools are read. */
  listing: Promise<void> | null
  elicit: AnswerElicitation[]
}

/** Connections to MCP servers. None is opened before it is needed, and each has its own trouble. */
export function createMcpPool(deps: McpPoolDeps): McpPool {
  const { db, clock, log } = deps
  const entries = new Map<string, Entry>()
  let isStopped = false

  function entryOf(serverId: string): Entry {
    let entry = entries.get(serverId)
    if (entry === undefined) {
      entry = {
        ...{ log: createServerLog(() => clock.now()), opening: null, isOpen: false, uses: 0, usedAt: 0, failures: 0, notBefore: 0 },
        ...{ secrets: [], closing: new AbortController(), cancelIdle: null, cancelList: null, listing: null, elicit: [] },
      }
      entries.set(serverId, entry)
    }
    return entry
  }

  function scrub({ secrets }: Entry, text: string): string {
    return secrets.reduce((left, secret) => (secret.length < 6 ? left : left.replaceAll(secret, '[secret]')), text)
  }

  function write(serverId: string, work: (tx: Parameters<Parameters<typeof transact>[1]>[0]) => void): void {
    try {
      transact(db, (tx) => {
        // It may have been deleted meanwhile.
        if (findConnectableServer(tx, serverId) !== null) work(tx)
      })
    } catch (error) {
      log.warn({ error, serverId }, 'could not record the state of an MCP server')
    }
  }

  async function open(serverId: string, entry: Entry): Promise<OpenedServer> {
    const server = findConnectableServer(db, serverId)
    if (server === null) throw new AppError('mcp_server_not_found')
    if (!server.enabled || isStopped) throw new AppError('invalid_request', createMessage('mcp_off'))
    const { signal } = entry.closing
    entry.log.add('[starting]', (text) => text)
    emitChanged(serverId)
    try {
      const opened = await openServer({ ...deps, monotonic: () => clock.monotonic() }, server, {
        note: (text) => entry.log.add(text, (one) => scrub(entry, one)),
        onToolsChanged: () => listAgainSoon(serverId, entry),
        async onElicitation(question) {
          const answers = await Promise.all(entry.elicit.map((answer) => answer(question, entry.elicit.length === 1)))
          return answers[0] ?? { action: 'decline' }
        },
        onSecrets: (secrets) => void (entry.secrets = secrets),
        signal,
      })
      try {
        const tools = await opened.listTools(signal)
        const { version, sandboxed } = opened
        write(serverId, (tx) => {
          recordTools(tx, { clock }, serverId, tools)
          noteMcpServerRun(tx, serverId, { version, sandboxed })
        })
        signal.throwIfAborted()
      } catch (thrown) {
        await opened.close()
        throw thrown
      }
      entry.failures = 0
      entry.isOpen = true
      entry.usedAt = clock.monotonic()
      void opened.closed.then(() => closed(serverId, entry, opened))
      emitChanged(serverId)
      return opened
    } catch (thrown) {
      if (signal.aborted) throw new AppError('invalid_request', createMessage('mcp_off'))
      throw failed(serverId, entry, thrown)
    }
  }

  function failed(serverId: string, entry: Entry, thrown: unknown): AppError {
    const problem = problemWith(thrown, (text) => scrub(entry, text))
    backOff(entry)
    entry.log.add(`[failed] ${englishText(problem)}`, (text) => text)
    const isSignIn = thrown instanceof McpServerError && thrown.kind === 'unauthorized'
    write(serverId, (tx) => setMcpServerStatus(tx, serverId, isSignIn ? 'needs_sign_in' : 'failing', problem))
    return new AppError('invalid_request', problem, { cause: thrown })
  }

  /** The first failure does not count: programs are updated, networks change. */
  function backOff(entry: Entry): void {
    entry.failures++
    entry.notBefore = entry.failures < 2 ? 0 : clock.monotonic() + Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** (entry.failures - 1))
  }

  /** The connection ended by itself, or was closed. */
  function closed(serverId: string, entry: Entry, opened: OpenedServer): void {
    entry.isOpen = false
    entry.opening = null
    const problem = opened.problem()
    if (!entry.closing.signal.aborted) {
      backOff(entry)
      entry.log.add(`[ended] ${problem?.message ?? 'The connection was closed.'}`, (text) => text)
    }
    emitChanged(serverId)
  }

  function emitChanged(serverId: string): void {
    write(serverId, (tx) => tx.emit({ type: 'mcp_server.changed', payload: { mcpServerId: serverId } }))
  }

  function listAgainSoon(serverId: string, entry: Entry): void {
    entry.cancelList ??= clock.after(LIST_AGAIN_MS, () => void listAgain(serverId, entry))
  }

  function listAgain(serverId: string, entry: Entry): Promise<void> {
    entry.cancelList?.()
    entry.cancelList = null
    const listing = readChangedTools(serverId, entry).finally(() => {
      if (entry.listing === listing) entry.listing = null
    })
    entry.listing = listing
    return listing
  }

  async function readChangedTools(serverId: string, entry: Entry): Promise<void> {
    try {
      const opened = await entry.opening
      if (opened === null || !entry.isOpen) return
      const tools = await opened.listTools(entry.closing.signal)
      write(serverId, (tx) => void recordTools(tx, { clock }, serverId, tools))
    } catch (error) {
      entry.log.add(`[${messageOf(error)}]`, (text) => scrub(entry, text))
    }
  }

  async function connected(serverId: string, entry: Entry, isForced: boolean): Promise<OpenedServer> {
    if (entry.opening === null) {
      const waitMs = entry.notBefore - clock.monotonic()
      if (waitMs > 0 && !isForced) throw new AppError('invalid_request', createMessage('mcp_waits', { seconds: Math.ceil(waitMs / 1_000) }))
      entry.closing = new AbortController()
      const opening = open(serverId, entry)
      entry.opening = opening
      opening.catch(() => {
        if (entry.opening === opening) entry.opening = null
      })
    }
    return entry.opening
  }

  async function healthy(serverId: string, entry: Entry, isForced: boolean): Promise<OpenedServer> {
    const opened = await connected(serverId, entry, isForced)
    if (entry.uses > 0 || clock.monotonic() - entry.usedAt < PING_AFTER_MS) return opened
    if (await opened.ping(PING_MS)) return opened
    entry.log.add('[it does not respond and is started again]', (text) => text)
    await close(entry)
    return connected(serverId, entry, isForced)
  }

  async function close(entry: Entry): Promise<void> {
    const { opening } = entry
    entry.cancelIdle?.()
    entry.cancelList?.()
    entry.cancelIdle = entry.cancelList = null
    entry.opening = null
    entry.isOpen = false
    entry.closing.abort(new Error('The server is stopped.'))
    await (await opening?.catch(() => null))?.close()
  }

  function stopWhenIdle(entry: Entry): void {
    entry.cancelIdle?.()
    entry.cancelIdle = clock.after(IDLE_MS, () => {
      entry.log.add('[stopped: nobody uses it]', (text) => text)
      void close(entry)
    })
  }

  async function cleanUp(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      // The next start tries again.
      log.warn({ error }, 'the folder of a deleted MCP server is still there')
    }
  }

  const pool: McpPool = {
    async use(serverId, signal, work) {
      const entry = entryOf(serverId)
      const opened = await untilAborted(healthy(serverId, entry, false), signal)
      // It has said that its tools have changed, and nobody has seen how.
      const listing = entry.cancelList === null ? entry.listing : listAgain(serverId, entry)
      if (listing !== null) await untilAborted(listing, signal)
      entry.uses++
      entry.cancelIdle?.()
      entry.cancelIdle = null
      write(serverId, (tx) => noteMcpServerUse(tx, serverId, clock.now()))
      try {
        const result = await work({ connection: opened, scrub: (text) => scrub(entry, text) })
        return result
      } catch (thrown) {
        // The rest of the answer may still come, or the server hangs. Its other calls end as well; the next use starts it again.
        if (thrown instanceof McpServerError && thrown.kind !== 'refused') {
          entry.log.add(`[${thrown.message}]`, (text) => scrub(entry, text))
          if (entry.uses === 1) void opened.close()
        }
        throw thrown
      } finally {
        entry.usedAt = clock.monotonic()
        if (--entry.uses === 0 && entry.opening !== null) stopWhenIdle(entry)
      }
    },
    async test(serverId, signal) {
      const entry = entryOf(serverId)
      try {
        await close(entry)
        await untilAborted(connected(serverId, entry, true), signal)
        stopWhenIdle(entry)
        return null
      } catch (thrown) {
        signal.throwIfAborted()
        return problemWith(thrown, (text) => scrub(entry, text))
      }
    },
    async restart(serverId) {
      const entry = entries.get(serverId)
      if (entry === undefined) return
      entry.failures = 0
      entry.notBefore = 0
      await close(entry)
    },
    async forget(serverId) {
      await pool.restart(serverId)
      entries.delete(serverId)
      await cleanUp(() => deps.folders.remove(serverId))
    },
    sweep: () => cleanUp(() => deps.folders.sweep(listMcpServers(db).map(({ id }) => id))),
    readLog: (serverId) => entries.get(serverId)?.log.lines() ?? [],
    withLiveStatus(server) {
      const entry = entries.get(server.id)
      if (entry === undefined || entry.opening === null || !server.enabled) return server
      return { ...server, status: entry.isOpen ? 'running' : 'starting' }
    },
    onElicitation(serverId, answer) {
      const { elicit } = entryOf(serverId)
      elicit.push(answer)
      return () => void elicit.splice(elicit.indexOf(answer), 1)
    },
    async stop() {
      isStopped = true
      await Promise.all([...entries.values()].map(close))
    },
  }
  return pool
}

function problemWith(thrown: unknown, scrub: (text: string) => string): Message {
  if (thrown instanceof AppError) return thrown.detail
  if (thrown instanceof McpServerError) {
    return thrown.kind === 'unauthorized'
      ? createMessage('mcp_unauthorized')
      : createMessage('mcp_not_started', { reason: scrub(thrown.message) })
  }
  return thrown instanceof SandboxFailed
    ? quote(scrub(thrown.message))
    : createMessage('mcp_not_started', { reason: scrub(messageOf(thrown)) })
}

/** The work goes on for others. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason as Error)
  signal.addEventListener('abort', stop, { once: true })
  work.catch(() => {})
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
