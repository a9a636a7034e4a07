import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Tool, ToolOutput } from '../agent/tools/tool.ts'

export type ScratchFolder = {
  path: string
  at(...parts: string[]): string
  write(path: string, content?: string | Uint8Array): Promise<string>
}

/** An empty folder that is deleted after the test. */
export async function scratchFolder(name?: string): Promise<ScratchFolder> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'deckhand-')))
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  const path = name === undefined ? base : join(base, name)
  await mkdir(path, { recursive: true })
  return {
    path,
    at: (...parts) => join(path, ...parts),
    async write(file, content = '') {
      const full = join(path, file)
      await mkdir(dirname(full), { recursive: true })
      await writeFile(full, content)
      return full
    },
  }
}

/** Calls a tool as the loop does: an error is a result. */
export async function callTool(
  tool: Tool,
  args: Record<string, unknown>,
  folders: string[],
  signal = new AbortController().signal,
  closedFolders: string[] = [],
): Promise<ToolOutput> {
  try {
    return await tool.run(tool.args.parse(args), { jobId: 'job', agentId: 'agent', callId: 'call', folders, closedFolders, signal })
  } catch (thrown) {
    return { ok: false, output: (thrown as Error).message }
  }
}
