import type { Tx } from '../../platform/db/database.ts'
import type { SetAside } from '../../platform/protected-places/set-aside.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import type { McpTransport } from '../../contract/mcp.ts'
import { noteMcpServerRun } from '../../domain/mcp/mcp-servers.ts'
import { recordTools } from '../../domain/mcp/mcp-tools.ts'
import type { ConnectOptions, Elicitation, ElicitationAnswer } from '../../agent/mcp/connect-server.ts'
import { openServer, type OpenedServer, type OpenServerDeps } from './open-server.ts'

export type ServerConnectionDeps = Omit<OpenServerDeps, 'monotonic'> & {
  clock: Clock
  /** Records what is known of the server. Does nothing if it was deleted meanwhile. */
  write(work: (tx: Tx) => void): void
  /** For the log of the server. */
  note(text: string): void
  onElicitation(question: Elicitation): Promise<ElicitationAnswer>
  onSampling: NonNullable<ConnectOptions['onSampling']>
  onSecrets(secrets: readonly string[]): void
  onSetAside(setAside: readonly SetAside[]): void
  /** Takes the server's secrets out of a text. */
  scrub(text: string): string
}

export type ServerConnection = {
  /** Rejects with why it could not be opened. */
  opened: Promise<OpenedServer>
  isOpen(): boolean
  /** Whether it was closed here. Otherwise it ended by itself. */
  isClosed(): boolean
  /** Asks for the tools and records them. */
  readTools(signal: AbortSignal): Promise<void>
  /** Resolves when all changes that the server told are recorded. null: there are none. */
  readChanges(): Promise<void> | null
  /** Whether the server still responds. */
  responds(): Promise<boolean>
  close(): Promise<void>
}

const PING_MS = 5_000
/** A server that says twice in this time that its tools have changed is asked once. */
const LIST_AGAIN_MS = 1_000

/** Opens one connection to a server, and keeps the record of its tools up to date while it lasts. */
export function startConnection(
  deps: ServerConnectionDeps,
  server: { id: string; transport: McpTransport; mayAskModel: boolean },
): ServerConnection {
  const { clock, note, write } = deps
  const closing = new AbortController()
  let isOpen = false
  /** Set while it is about to be asked for its changed tools. */
  let cancelReading: (() => void) | null = null
  let reading: Promise<void> | null = null
  const opened = open()

  async function open(): Promise<OpenedServer> {
    const { signal } = closing
    try {
      const { onElicitation, onSampling, onSecrets, onSetAside } = deps
      const asking = server.mayAskModel ? { onElicitation, onSampling } : { onElicitation }
      const listeners = { note, signal, ...asking, onSecrets, onSetAside, onToolsChanged: readSoon }
      const connection = await openServer({ ...deps, monotonic: () => clock.monotonic() }, server, listeners)
      void connection.closed.then(() => (isOpen = false))
      try {
        await recordToolsOf(connection, signal)
        const { version, sandboxed } = scrubAll({ version: connection.version, sandboxed: connection.sandboxed }, deps.scrub)
        write((tx) => noteMcpServerRun(tx, server.id, { version, sandboxed }))
        signal.throwIfAborted()
      } catch (thrown) {
        await connection.close()
        throw thrown
      }
      isOpen = true
      return connection
    } catch (thrown) {
      throw signal.aborted ? new AppError('invalid_request', createMessage('mcp_interrupted'), { cause: thrown }) : thrown
    }
  }

  async function recordToolsOf(connection: OpenedServer, signal: AbortSignal): Promise<void> {
    // A name is what the tool is called by, so it stays.
    const tools = (await connection.listTools(signal)).map((tool) => ({ ...scrubAll(tool, deps.scrub), name: tool.name }))
    write((tx) => void recordTools(tx, { clock }, server.id, tools))
  }

  function readSoon(): void {
    cancelReading ??= clock.after(LIST_AGAIN_MS, () => void readNow())
  }

  function readNow(): Promise<void> {
    cancelReading?.()
    cancelReading = null
    const now = opened
      .then((connection) => recordToolsOf(connection, closing.signal))
      .catch((error: unknown) => note(`[${messageOf(error)}]`))
      .finally(() => {
        if (reading === now) reading = null
      })
    reading = now
    return now
  }

  return {
    opened,
    isOpen: () => isOpen,
    isClosed: () => closing.signal.aborted,
    readTools: async (signal) => recordToolsOf(await opened, signal),
    readChanges: () => (cancelReading === null ? reading : readNow()),
    async responds() {
      const over = new AbortController()
      const cancel = clock.after(PING_MS, () => over.abort())
      try {
        return await (await opened).ping(over.signal)
      } finally {
        cancel()
      }
    },
    async close() {
      isOpen = false
      cancelReading?.()
      cancelReading = null
      closing.abort(new Error('The server is stopped.'))
      await (await opened.catch(() => null))?.close()
    },
  }
}

/** In all texts of a small value from outside. */
export function scrubAll<T>(value: T, scrub: (text: string) => string): T {
  return JSON.parse(scrub(JSON.stringify(value))) as T
}
