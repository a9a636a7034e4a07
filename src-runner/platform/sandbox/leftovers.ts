import { readFileSync, readlinkSync } from 'node:fs'
import { lstat, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeControlGroups } from './cgroup.ts'
import { recheckLate } from './recheck.ts'
import { sendSignal } from './process-tree.ts'

/** Tells bubblewrap's own processes which Deckhand process started them. */
export const OWNER_VARIABLE = 'DECKHAND_SANDBOX_OWNER'

const OWNER = String.raw`\d+\.\d+\.\d+`
const FOLDER_NAME = new RegExp(`^deckhand-[a-z]+-(${OWNER})-`)

/** A container has pids of its own: what it started can be seen from outside, but not under the pid that is in its mark. */
const PID_NAMESPACE = pidNamespace()

/** Identifies this process. The pid alone may be reused. */
export function ownMark(): string {
  return `${process.pid}.${startOf(process.pid) ?? 0}.${PID_NAMESPACE}`
}

/** A private folder. If this process dies first, a later one removes it. */
export async function temporaryFolder(what: 'sandbox' | 'command' | 'proxy' | 'recheck' | 'output' | 'skill'): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), `deckhand-${what}-${ownMark()}-`)))
}

/** Ends and removes what killed Deckhand processes left behind: half-built sandboxes, temporary folders, control groups. */
export async function sweepLeftovers(): Promise<void> {
  for (const pid of await abandonedProcesses()) sendSignal(pid, 'SIGKILL')
  await Promise.all([
    sweepFolders(),
    removeControlGroups((name) => isAbandoned(new RegExp(`^deckhand-sandbox-(${OWNER})-`).exec(name)?.[1])),
  ])
}

async function abandonedProcesses(): Promise<number[]> {
  if (process.platform !== 'linux') return []
  const pids = (await readdir('/proc').catch((): string[] => [])).filter((name) => /^\d+$/.test(name)).map(Number)
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')))
  const pattern = new RegExp(`(?:^|\\0)${OWNER_VARIABLE}=(${OWNER})(?:\\0|$)`)
  return pids.filter((_, at) => isAbandoned(pattern.exec(environments[at]!)?.[1]))
}

async function sweepFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch((): string[] => [])
  // Whatever the namespace: a container that starts again has another one, and must not skip the recheck.
  for (const name of names.filter((one) => isOwnerGone(FOLDER_NAME.exec(one)?.[1]))) {
    const path = join(tmpdir(), name)
    const stats = await lstat(path).catch(() => null)
    // Anybody can create such a name there.
    if (!stats?.isDirectory() || stats.uid !== process.getuid?.()) continue
    if (name.startsWith('deckhand-recheck-')) await recheckLate(path).catch(() => {})
    await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}

function isAbandoned(mark: string | undefined): boolean {
  return mark?.split('.')[2] === PID_NAMESPACE && isOwnerGone(mark)
}

function isOwnerGone(mark: string | undefined): boolean {
  if (mark === undefined) return false
  const [pid, start] = mark.split('.')
  return startOf(Number(pid)) !== start
}

/** The number of this process's pid namespace, or 0 where there is none. https://man7.org/linux/man-pages/man7/namespaces.7.html */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}

/** The start time of a process in clock ticks, or 0 where that is unknown; null: there is no such process. */
function startOf(pid: number): string | null {
  if (process.platform !== 'linux') return isThere(pid) ? '0' : null
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name, in parentheses, may hold anything. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const [state, ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // Dead, but not reaped yet.
    return state === 'Z' || state === 'X' ? null : (more[18] ?? null)
  } catch {
    return null
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}
