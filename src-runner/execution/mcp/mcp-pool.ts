import { hasReplacedData } from '../../platform/db/replacement.ts'
import type { SetAside } from '../../platform/protected-places/set-aside.ts'
import type { McpServer } from '../../contract/mcp.ts'
import type { Message } from '../../contract/messages.ts'
import { AppError } from '../../lib/errors.ts'
import { findConnectableServer, listMcpServers } from '../../domain/mcp/mcp-servers.ts'
import { createManagedServer, type ManagedServer, type ServerUse } from './managed-server.ts'
import type { ServerFolders } from './server-folders.ts'
import type { ServerLinkDeps } from './server-link.ts'
import type { LogLine } from './server-log.ts'

export type McpPoolDeps = ServerLinkDeps & { folders: ServerFolders }

export type McpPool = ReturnType<typeof createMcpPool>

/** The MCP servers of this runner. None is opened before it is needed, and each has its own trouble. */
export function createMcpPool(deps: McpPoolDeps) {
  const { db, log, folders } = deps
  const servers = new Map<string, ManagedServer>()
  let isStopped = false

  function serverOf(serverId: string): ManagedServer {
    const known = servers.get(serverId)
    if (known !== undefined) return known
    if (isStopped || findConnectableServer(db, serverId) === null) throw new AppError('mcp_server_not_found')
    const server = createManagedServer(deps, serverId)
    servers.set(serverId, server)
    return server
  }

  async function cleanUp(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      // The next start tries again.
      log.warn({ error }, 'the folder of a deleted MCP server is still there')
    }
  }

  return {
    /** Throws AppError mcp_server_not_found, and what `ManagedServer.use` throws. */
    use: async <T>(serverId: string, signal: AbortSignal, work: (use: ServerUse) => Promise<T>): Promise<T> =>
      serverOf(serverId).use(signal, work),
    /** As `ManagedServer.test`. */
    test: async (serverId: string, signal: AbortSignal): Promise<Message | null> => serverOf(serverId).test(signal),
    /** After a change: the next use connects again. */
    restart: async (serverId: string): Promise<void> => servers.get(serverId)?.restart(),
    /** After the server was deleted: ends it, and deletes its folder. */
    async forget(serverId: string): Promise<void> {
      await servers.get(serverId)?.end()
      servers.delete(serverId)
      await cleanUp(() => folders.remove(serverId))
    },
    /** Deletes what deleted servers left behind before a crash. A server that is unknown here may be known to data that was replaced. */
    sweep: () =>
      cleanUp(async () => {
        if (!hasReplacedData(db.file)) await folders.sweep(listMcpServers(db).map(({ id }) => id))
      }),
    /** As `ManagedServer.takeSetAside`. */
    takeSetAside: async (serverId: string): Promise<SetAside[]> => (await servers.get(serverId)?.takeSetAside()) ?? [],
    readLog: (serverId: string): LogLine[] => servers.get(serverId)?.readLog() ?? [],
    /** The server as it is now, with what only a running connection shows. */
    withLiveStatus(server: McpServer): McpServer {
      const status = server.enabled ? servers.get(server.id)?.liveStatus() : null
      return status == null ? server : { ...server, status }
    },
    async stop(): Promise<void> {
      isStopped = true
      await Promise.all([...servers.values()].map((server) => server.end()))
    },
  }
}
