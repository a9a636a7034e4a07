import type { Message } from '../../contract/messages.ts'
import { findConnectableServer, noteMcpServerUse } from '../../domain/mcp/mcp-servers.ts'
import { orAbort } from '../../agent/loop/abortable.ts'
import { McpServerError } from '../../agent/mcp/connect-server.ts'
import { createCallListeners, type CallListener } from './call-listeners.ts'
import type { OpenedServer } from './open-server.ts'
import type { ServerConnection } from './server-connection.ts'
import { createServerLink, problemWith, type ServerLinkDeps } from './server-link.ts'

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

/** One MCP server: opened when it is first needed, checked, closed when nobody uses it, and opened again with growing waits. */
export function createManagedServer(deps: ServerLinkDeps, serverId: string) {
  const { db, clock } = deps
  const listeners = createCallListeners(() => findConnectableServer(db, serverId)?.mayAskModel === true)
  const link = createServerLink(deps, serverId, listeners)
  const { waits, note, scrub } = link
  let uses = 0
  /** Those that have got the connection. */
  let underWay = 0
  let usedAt = 0
  let checking: Promise<ServerConnection> | null = null
  let cancelIdle = () => {}

  /** A connection that responds. Uses that begin at the same time share the check. */
  function ready(): Promise<ServerConnection> {
    checking ??= check().finally(() => (checking = null))
    return checking
  }

  async function check(): Promise<ServerConnection> {
    const connection = await link.connect()
    // A busy one may respond late, and its calls would end.
    const isFresh = underWay > 0 || clock.monotonic() - Math.max(usedAt, link.openedAt()) < PING_AFTER_MS
    if (isFresh || (await connection.responds())) return connection
    if (connection.isClosed()) return link.connect()
    note('[it does not respond and is started again]')
    waits.failed()
    await link.close()
    return link.connect()
  }

  /** Unless other calls are under way and it still responds. */
  async function giveUp(connection: ServerConnection): Promise<void> {
    if (underWay > 0 && (await connection.responds())) return
    await link.giveUp(connection)
  }

  function close(): Promise<void> {
    cancelIdle()
    return link.close()
  }

  function stopWhenIdle(): void {
    cancelIdle()
    cancelIdle = clock.after(IDLE_MS, () => {
      if (link.liveStatus() === null) return
      note('[stopped: nobody uses it]')
      void link.close()
    })
  }

  async function run<T>(connection: ServerConnection, work: (use: ServerUse) => Promise<T>): Promise<T> {
    const own = new Set<CallListener>()
    const listen = (listener: CallListener) => {
      own.add(listener)
      listeners.add(listener)
    }
    const opened = await connection.opened
    link.write((tx) => noteMcpServerUse(tx, serverId, clock.now()))
    underWay++
    const working = work({ connection: opened, scrub, listen }).finally(() => {
      underWay--
      for (const listener of own) listeners.remove(listener)
    })
    try {
      const result = await working
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
        const connection = await orAbort(link.connect({ isForced: true }), signal)
        if (isUsed) await connection.readTools(signal)
        if (uses === 0) stopWhenIdle()
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
      cancelIdle()
      await link.end()
    },
    takeSetAside: link.takeSetAside,
    readLog: link.readLog,
    liveStatus: link.liveStatus,
  }
}
