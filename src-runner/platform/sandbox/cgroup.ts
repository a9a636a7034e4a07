import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SandboxLimits } from './sandbox-types.ts'

/**
 * A process joins by writing its number to each of `joinFiles`. `limitsProcesses`: the kernel limits how many there are, not only
 * their memory.
 */
export type ControlGroup = { joinFiles: string[]; limitsProcesses: boolean; remove(): Promise<void> }

const MOUNT = '/sys/fs/cgroup'

/**
 * Root is exempt from the process limit of `prlimit`, so a fork bomb of a sandbox that runs as root would be stopped only by
 * the watch from outside. Root may create control groups, which do count. null: not root, or the machine does not allow it.
 */
export async function createControlGroup(
  owner: string,
  limits: Pick<SandboxLimits, 'processes' | 'memoryBytes'>,
): Promise<ControlGroup | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null
  const name = `deckhand-sandbox-${owner}-${randomUUID()}`
  // Threads count as well, and the programs that build the sandbox.
  const processes = String(limits.processes * 2)
  const memory = String(limits.memoryBytes)
  const handedDown = await readFile(join(MOUNT, 'cgroup.subtree_control'), 'utf8').catch(() => null)
  const wanted: [folder: string, settings: [file: string, value: string][]][] =
    handedDown === null
      ? [
          [join(MOUNT, 'pids', name), [['pids.max', processes]]],
          [join(MOUNT, 'memory', name), [['memory.limit_in_bytes', memory]]],
        ]
      : [[join(MOUNT, name), [['pids.max', processes], ['memory.max', memory]]]] // prettier-ignore
  const folders: string[] = []
  let limitsProcesses = false
  for (const [folder, settings] of wanted) {
    try {
      await mkdir(folder)
      folders.push(folder)
      for (const [file, value] of settings) {
        await writeFile(join(folder, file), value)
        if (file === 'pids.max') limitsProcesses = true
      }
    } catch {
      // This machine does not allow it. The watch from outside remains.
    }
  }
  const remove = async () => {
    for (const folder of folders) await removeWhenEmpty(folder)
  }
  return folders.length === 0 ? null : { joinFiles: folders.map((folder) => join(folder, 'cgroup.procs')), limitsProcesses, remove }
}

export async function removeControlGroups(isAbandoned: (name: string) => boolean): Promise<void> {
  for (const parent of [MOUNT, join(MOUNT, 'pids'), join(MOUNT, 'memory')]) {
    const names = await readdir(parent).catch((): string[] => [])
    for (const name of names.filter(isAbandoned)) await removeWhenEmpty(join(parent, name))
  }
}

/** The kernel removes a dead process from its group a moment after it was reaped. */
async function removeWhenEmpty(folder: string): Promise<void> {
  for (let waitMs = 1; waitMs < 1_000; waitMs *= 2) {
    const isGone = await rmdir(folder).then(() => true, (thrown: NodeJS.ErrnoException) => thrown.code !== 'EBUSY') // prettier-ignore
    if (isGone) return
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}
