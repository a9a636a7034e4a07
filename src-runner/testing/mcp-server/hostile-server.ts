import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AddedServer, McpRig } from '../mcp-rig.ts'

export type HostileServer = AddedServer & {
  folder: string
  /** The calls that reached it: `send {"to":"bo"}`. */
  calls(): string[]
  /** How often it was started. */
  starts(): number
  /** The command lines of its processes. */
  processes(): string[]
  /** From now on it does not start, or it answers nothing. Returns how to repair it. */
  spoil(how: 'broken' | 'hung'): () => void
}

export type HostileServerOptions = {
  modes?: readonly string[]
  hosts?: string[]
  name?: string
  env?: Record<string, string>
}

/** Adds the program beside this file as a server that runs in the sandbox, in a folder of its own. */
export async function addHostileServer(
  rig: McpRig,
  { modes = [], hosts = [], name = 'Hostile', env = {} }: HostileServerOptions = {},
): Promise<HostileServer> {
  const folder = rig.runner.makeFolder()
  copyFileSync(join(import.meta.dirname, 'stdio-server.mjs'), join(folder, 'server.mjs'))
  const transport = { kind: 'stdio' as const, command: 'node', args: [join(folder, 'server.mjs'), ...modes], folders: [folder], hosts }
  const read = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '')
  return {
    ...(await rig.add({ name, transport, env })),
    folder,
    calls: () => read('calls.log').split('\n').slice(0, -1),
    starts: () => read('starts.log').length,
    processes: () => processesNaming(folder),
    spoil(how) {
      writeFileSync(join(folder, how), '')
      return () => rmSync(join(folder, how))
    },
  }
}

function processesNaming(path: string): string[] {
  const lines = readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'latin1')] : []
    } catch {
      return []
    }
  })
  return lines.filter((line) => line.includes(path))
}
