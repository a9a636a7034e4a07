import { chmod, mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'

export type ServerFolders = ReturnType<typeof createServerFolders>

/** What programs of MCP servers download and remember: a folder for each. No other program and no agent sees it. */
export function createServerFolders(dataDir: string) {
  const root = join(dataDir, 'mcp')

  async function remove(name: string): Promise<void> {
    const folder = join(root, name)
    try {
      await rm(folder, { recursive: true, force: true })
    } catch {
      // Some programs make their caches read-only.
      await makeWritable(folder)
      await rm(folder, { recursive: true, force: true })
    }
  }

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

/** Follows no link: links are not folders here. */
async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true })) if (entry.isDirectory()) await makeWritable(join(folder, entry.name))
}
