import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AddedServer, McpRig } from '../mcp-rig.ts'

export type HostileServer = AddedServer & {
  folder: string
  /** The calls that reached it: `send {"to":"bo"}`. */
  calls(): string[]
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
  const log = join(folder, 'calls.log')
  return {
    ...(await rig.add({ name, transport, env })),
    folder,
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
  }
}
