import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoxLimits } from './box-types.ts'

/**
 * A group of processes that the kernel counts. A process joins by writing its number to each of `doors`.
 * `limitsProcesses`: the kernel lets no more of them be started, and not only their memory is counted.
 */
export type ControlGroup = { doors: string[]; limitsProcesses: boolean; remove(): Promise<void> }

const MOUNT = '/sys/fs/cgroup'

/**
 * Root is exempt from the limit on its number of processes, so that a fork bomb of a box that runs as root would be
 * stopped only when somebody looks. Who may make control groups, which is root again, gets one that counts. null:
 * this machine does not let it.
 */
export async function createControlGroup(
  owner: string,
  limits: Pick<BoxLimits, 'processes' | 'memoryBytes'>,
): Promise<ControlGroup | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null
  const name = `deckhand-box-${owner}-${randomUUID()}`
  // Threads count as well, and the programs that build the box.
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
      // Not here, or not ours to make: the watch from outside remains.
    }
  }
  const remove = async () => {
    for (const folder of folders) await removeWhenEmpty(folder)
  }
  return folders.length === 0 ? null : { doors: folders.map((folder) => join(folder, 'cgroup.procs')), limitsProcesses, remove }
}

/** Those that a process left behind. Once nothing runs in them. */
export async function removeControlGroups(isAbandoned: (name: string) => boolean): Promise<void> {
  for (const parent of [MOUNT, join(MOUNT, 'pids'), join(MOUNT, 'memory')]) {
    const names = await readdir(parent).catch((): string[] => [])
    for (const name of names.filter(isAbandoned)) await removeWhenEmpty(join(parent, name))
  }
}

/** The kernel counts the dead out a moment after they were waited for. */
async function removeWhenEmpty(folder: string): Promise<void> {
  for (let waitMs = 1; waitMs < 1_000; waitMs *= 2) {
    const isGone = await rmdir(folder).then(() => true, (thrown: NodeJS.ErrnoException) => thrown.code !== 'EBUSY') // prettier-ignore
    if (isGone) return
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}
