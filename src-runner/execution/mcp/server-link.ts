import { transact, type Database, type Tx } from '../../platform/db/database.ts'
import { createMask } from '../../platform/log/scrubber.ts'
import type { SetAside } from '../../platform/protected-places/set-aside.ts'
import { SandboxFailed } from '../../platform/sandbox/sandbox-types.ts'
import type { Message } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { createMessage, englishText, quote } from '../../lib/messages.ts'
import { findConnectableServer, setMcpServerStatus } from '../../domain/mcp/mcp-servers.ts'
import { McpServerError } from '../../agent/mcp/connect-server.ts'
import { namesOf } from '../../agent/tools/set-aside-note.ts'
import type { OpenedServer, OpenServerDeps } from './open-server.ts'
import { scrubAll, startConnection, type ServerConnection, type ServerConnectionDeps } from './server-connection.ts'
import { createServerLog } from './server-log.ts'

export type ServerLinkDeps = Omit<OpenServerDeps, 'monotonic'> & { db: Database; clock: Clock; log: Log }

type Asked = Pick<ServerConnectionDeps, 'onElicitation' | 'onSampling'>

const LONGEST_WAIT_MS = 5 * 60_000

/**
 * The one connection to a server: opened when it is needed, and again after it ended, with growing waits if it fails. Records how the
 * server is. What comes from it is without its secrets.
 */
export function createServerLink(deps: ServerLinkDeps, serverId: string, { onElicitation, onSampling }: Asked) {
  const { db, clock, log } = deps
  const lines = createServerLog(() => clock.now())
  const waits = createWaits(clock)
  const asked: Asked = {
    onElicitation: (question) => onElicitation(scrubAll(question, scrub)),
    onSampling: ({ text, maxTokens }, signal) => onSampling({ text: scrub(text), maxTokens }, signal),
  }
  let current: ServerConnection | null = null
  let isEnded = false
  let openedAt = 0
  /** What its program left where files run by themselves, and no result has told yet. */
  let setAside: SetAside[] = []
  let mask = createMask()

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
    const connection = startConnection({ ...deps, ...asked, write, note, onSecrets, onSetAside, scrub }, server)
    current = connection
    emitChanged()
    connection.opened.then(
      (opened) => {
        openedAt = clock.monotonic()
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

  async function close(): Promise<void> {
    const connection = current
    current = null
    await connection?.close()
  }

  return {
    write,
    note,
    scrub,
    waits,
    close,
    /** Opens it if there is none. `isForced`: whatever failed before. Throws AppError with the reason. */
    async connect({ isForced = false } = {}): Promise<ServerConnection> {
      const connection = current ?? start(isForced)
      try {
        await connection.opened
        return connection
      } catch (thrown) {
        throw new AppError('invalid_request', problemWith(thrown, scrub), { cause: thrown })
      }
    },
    /** Closes this connection. The next use opens another one. */
    async giveUp(connection: ServerConnection): Promise<void> {
      drop(connection)
      await (await connection.opened).close()
    },
    /** Closes it for good. */
    async end(): Promise<void> {
      isEnded = true
      await close()
    },
    openedAt: () => openedAt,
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

export function problemWith(thrown: unknown, scrub: (text: string) => string): Message {
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
