import { mkdir, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { removeFolder } from '../../platform/programs/remove-folder.ts'

export type ServerFolders = ReturnType<typeof createServerFolders>

/** What programs of MCP servers download and remember: a folder for each. No other program and no agent sees it. */
export function createServerFolders(dataDir: string) {
  const root = join(dataDir, 'mcp')

  const remove = (name: string) => removeFolder(join(root, name))

  return {
    async open(serverId: string): Promise<string> {
      const path = join(root, serverId)
      await mkdir(path, { recursive: true, mode: 0o700 })
      return realpath(path)
    },
    remove,
    /** Deletes what servers left that are deleted: a crash can come between the two. */
    async sweep(serverIds: readonly string[]): Promise<void> {
      const kept = new Set(serverIds)
      const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      })
      for (const name of names) if (!kept.has(name)) await remove(name)
    },
  }
}
