import { transact, type Database, type Tx } from '../../platform/db/database.ts'
import { createMask } from '../../platform/log/scrubber.ts'
import type { SetAside } from '../../platform/protected-places/set-aside.ts'
import { SandboxFailed } from '../../platform/sandbox/sandbox-types.ts'
import type { Message } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage, englishText, quote } from '../../lib/messages.ts'
import { findConnectableServer, noteMcpServerUse, setMcpServerStatus } from '../../domain/mcp/mcp-servers.ts'
import { orAbort } from '../../agent/loop/abortable.ts'
import { McpServerError, type Elicitation, type ElicitationAnswer } from '../../agent/mcp/connect-server.ts'
import { namesOf } from '../../agent/tools/set-aside-note.ts'
import { SamplingRefused, type Sampled, type Sampling } from '../../agent/mcp/sampling.ts'
import type { OpenedServer, OpenServerDeps } from './open-server.ts'
import { scrubAll, startConnection, type ServerConnection } from './server-connection.ts'
import { createServerLog } from './server-log.ts'

export type ManagedServerDeps = Omit<OpenServerDeps, 'monotonic'> & { db: Database; clock: Clock; log: Log }

export type CallListener = {
  /** `isOfOneCall`: no other call of the server is under way, so this one asks. */
  elicit(question: Elicitation, isOfOneCall: boolean): Promise<ElicitationAnswer>
  /** Throws SamplingRefused. */
  sample(sampling: Sampling, signal: AbortSignal): Promise<Sampled>
}

export type ServerUse = {
  connection: OpenedServer
  /** Takes the server's secrets out of a text. */
  scrub(text: string): string
  /** Answers what the server asks from now on, until the use ends. */
  listen(listener: CallListener): void
}

export type ManagedServer = ReturnType<typeof createManagedServer>

const IDLE_MS = 5 * 60_000
/** After this time without a use, the server is asked whether it still responds. */
const PING_AFTER_MS = 60_000
const LONGEST_WAIT_MS = 5 * 60_000

/** One MCP server: opened when it is first needed, checked, closed when nobody uses it, and opened again with growing waits. */
export function createManagedServer(deps: ManagedServerDeps, serverId: string) {
  const { db, clock, log } = deps
  const lines = createServerLog(() => clock.now())
  const waits = createWaits(clock)
  const listeners = new Set<CallListener>()
  let current: ServerConnection | null = null
  let isEnded = false
  let uses = 0
  /** What its program left where files run by themselves, and no result has told yet. */
  let setAside: SetAside[] = []
  /** Those that have got the connection. */
  let underWay = 0
  let usedAt = 0
  let mask = createMask()
  let checking: Promise<ServerConnection> | null = null
  let cancelIdle = () => {}

  const scrub = (text: string) => mask.scrub(text)
  const note = (text: string) => lines.add(text, scrub)
  const emitChanged = () => write((tx) => tx.emit({ type: 'mcp_server.changed', payload: { mcpServerId: serverId } }))

  function write(work: (tx: Tx) => void): void {
    try {
      transact(db, (tx) => {
        if (findConnectableServer(tx, serverId) !== null) work(tx)
      })
    } catch (error) {
      log.warn({ error, serverId }, 'could not record the state of an MCP server')
    }
  }

  function onSetAside(found: readonly SetAside[]): void {
    setAside.push(...found)
    log.warn({ serverId, setAside: found }, 'an MCP server left files that run by themselves')
    for (const line of namesOf(found)) note(`[renamed, because it would run by itself] ${line}`)
  }

  async function onElicitation(question: Elicitation): Promise<ElicitationAnswer> {
    const clean = scrubAll(question, scrub)
    const answers = await Promise.all([...listeners].map((listener) => listener.elicit(clean, listeners.size === 1)))
    return answers[0] ?? { action: 'decline' }
  }

  async function onSampling({ text, maxTokens }: Sampling, signal: AbortSignal): Promise<Sampled> {
    // It was switched off, and this connection is about to end.
    if (findConnectableServer(db, serverId)?.mayAskModel !== true) throw new SamplingRefused('It may not ask the model.')
    const [listener, ...others] = listeners
    if (listener === undefined) throw new SamplingRefused('No call is under way.')
    if (others.length > 0) throw new SamplingRefused('Several calls are under way, and nobody can tell which of them asks.')
    return listener.sample({ text: scrub(text), maxTokens }, signal)
  }

  /** `isForced`: whatever failed before. Throws AppError with the reason. */
  async function connect({ isForced = false } = {}): Promise<ServerConnection> {
    const connection = current ?? start(isForced)
    try {
      await connection.opened
      return connection
    } catch (thrown) {
      throw new AppError('invalid_request', problemWith(thrown, scrub), { cause: thrown })
    }
  }

  function start(isForced: boolean): ServerConnection {
    const waitMs = waits.leftMs()
    if (waitMs > 0 && !isForced) throw new AppError('invalid_request', createMessage('mcp_waits', { seconds: Math.ceil(waitMs / 1_000) }))
    const server = findConnectableServer(db, serverId)
    if (server === null) throw new AppError('mcp_server_not_found')
    if (!server.enabled || isEnded) throw new AppError('invalid_request', createMessage('mcp_off'))
    note('[starting]')
    const known = createMask()
    mask = known
    // Servers repeat the key of a header without the word before it.
    const onSecrets = (all: readonly string[]) => all.flatMap((value) => [value, ...value.split(' ')]).forEach(known.add)
    const connection = startConnection({ ...deps, write, note, onElicitation, onSampling, onSecrets, onSetAside, scrub }, server)
    current = connection
    emitChanged()
    connection.opened.then(
      (opened) => {
        usedAt = clock.monotonic()
        emitChanged()
        void opened.closed.then(() => onClosed(connection, opened))
      },
      (thrown: unknown) => onFailed(connection, thrown),
    )
    return connection
  }

  function drop(connection: ServerConnection): void {
    if (current === connection) current = null
  }

  function onFailed(connection: ServerConnection, thrown: unknown): void {
    drop(connection)
    if (connection.isClosed()) return
    const problem = problemWith(thrown, scrub)
    const isSignIn = thrown instanceof McpServerError && thrown.kind === 'unauthorized'
    // Only a person helps there, and then it works at once.
    if (!isSignIn) waits.failed()
    note(`[failed] ${englishText(problem)}`)
    write((tx) => setMcpServerStatus(tx, serverId, isSignIn ? 'needs_sign_in' : 'failing', problem))
  }

  function onClosed(connection: ServerConnection, opened: OpenedServer): void {
    drop(connection)
    if (!connection.isClosed()) {
      waits.failed()
      note(`[ended] ${opened.problem()?.message ?? 'The connection was closed.'}`)
    }
    emitChanged()
  }

  /** A connection that responds. Uses that begin at the same time share the check. */
  function ready(): Promise<ServerConnection> {
    checking ??= check().finally(() => (checking = null))
    return checking
  }

  async function check(): Promise<ServerConnection> {
    const connection = await connect()
    // A busy one may respond late, and its calls would end.
    const isFresh = underWay > 0 || clock.monotonic() - usedAt < PING_AFTER_MS
    if (isFresh || (await connection.responds())) return connection
    if (connection.isClosed()) return connect()
    note('[it does not respond and is started again]')
    waits.failed()
    await close()
    return connect()
  }

  /** Ends the connection unless other calls are under way and it still responds. The next use opens it again. */
  async function giveUp(connection: ServerConnection): Promise<void> {
    if (underWay > 0 && (await connection.responds())) return
    drop(connection)
    await (await connection.opened).close()
  }

  async function close(): Promise<void> {
    const connection = current
    current = null
    cancelIdle()
    await connection?.close()
  }

  function stopWhenIdle(): void {
    cancelIdle()
    cancelIdle = clock.after(IDLE_MS, () => {
      if (current === null) return
      note('[stopped: nobody uses it]')
      void close()
    })
  }

  async function run<T>(connection: ServerConnection, work: (use: ServerUse) => Promise<T>): Promise<T> {
    const own = new Set<CallListener>()
    const listen = (listener: CallListener) => void (own.add(listener), listeners.add(listener))
    const opened = await connection.opened
    write((tx) => noteMcpServerUse(tx, serverId, clock.now()))
    underWay++
    const ending = work({ connection: opened, scrub, listen }).finally(() => {
      underWay--
      for (const listener of own) listeners.delete(listener)
    })
    try {
      const result = await ending
      waits.forget()
      return result
    } catch (thrown) {
      if (!(thrown instanceof McpServerError)) throw thrown
      if (thrown.kind === 'refused') waits.forget()
      else {
        // The rest of the answer may still come, or the server hangs.
        note(`[${thrown.message}]`)
        void giveUp(connection)
      }
      throw new McpServerError(thrown.kind, scrub(thrown.message))
    }
  }

  return {
    /**
     * Runs `work` with a connection, which is opened first if there is none. Throws AppError with the reason if the server cannot be
     * reached, and whatever `work` throws.
     */
    async use<T>(signal: AbortSignal, work: (use: ServerUse) => Promise<T>): Promise<T> {
      uses++
      cancelIdle()
      try {
        const connection = await orAbort(ready(), signal)
        // It has said that its tools have changed, and nobody has seen how.
        const changes = connection.readChanges()
        if (changes !== null) await orAbort(changes, signal)
        return await run(connection, work)
      } finally {
        usedAt = clock.monotonic()
        if (--uses === 0) stopWhenIdle()
      }
    },
    /** Introduces itself and reads the tools, whatever failed before. null: it works. */
    async test(signal: AbortSignal): Promise<Message | null> {
      try {
        // Calls under way go on.
        const isUsed = uses > 0
        if (!isUsed) await close()
        const connection = await orAbort(connect({ isForced: true }), signal)
        if (isUsed) await connection.readTools(signal)
        else stopWhenIdle()
        waits.forget()
        return null
      } catch (thrown) {
        signal.throwIfAborted()
        return problemWith(thrown, scrub)
      }
    },
    /** After a change: the next use opens it again. */
    async restart(): Promise<void> {
      waits.forget()
      await close()
    },
    /** Ends it for good. */
    async end(): Promise<void> {
      isEnded = true
      await close()
    },
    /** What its program has left by now where files run by themselves, each once. It is renamed. */
    async takeSetAside(): Promise<SetAside[]> {
      await (await current?.opened.catch(() => null))?.recheck()
      const found = setAside
      setAside = []
      return found
    },
    readLog: () => lines.lines(),
    /** null: there is no connection. */
    liveStatus: () => (current === null ? null : current.isOpen() ? ('running' as const) : ('starting' as const)),
  }
}

/** How long a server that failed is left alone. It is forgotten when the server has answered a call. */
function createWaits(clock: Clock) {
  let failures = 0
  let until = 0
  return {
    leftMs: () => until - clock.monotonic(),
    failed(): void {
      failures++
      // The first one does not count: programs are updated, networks change.
      until = failures < 2 ? 0 : clock.monotonic() + Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** (failures - 1))
    },
    forget(): void {
      failures = 0
      until = 0
    },
  }
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
