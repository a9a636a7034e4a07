import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

export type RunningProcess = { pid: number; residentBytes: number }

const PAGE_BYTES = 4096

/**
 * All descendants of `pid`, parents first, at most `most`. A process whose parent ended is not found, except in a sandbox of
 * namespaces, where the first process adopts it.
 */
export async function processesUnder(pid: number, most = Infinity): Promise<RunningProcess[]> {
  return process.platform === 'linux' ? fromProc(pid, most) : fromPs(pid)
}

function fromProc(root: number, most: number): RunningProcess[] {
  const found: RunningProcess[] = []
  const queue = childrenOf(root)
  for (let pid = queue.pop(); pid !== undefined && found.length < most; pid = queue.pop()) {
    found.push({ pid, residentBytes: residentBytesOf(pid) })
    queue.push(...childrenOf(pid))
  }
  return found
}

function childrenOf(pid: number): number[] {
  return readProcFolder(`${pid}/task`).flatMap((thread) => numbersIn(readProc(`${pid}/task/${thread}/children`)))
}

/**
 * A text that is only the same twice if no thread of `pid` and its descendants has run in between, on Linux in a sandbox of namespaces.
 * null: one is running, or the system does not say.
 */
export function activityUnder(pid: number): string | null {
  if (process.platform !== 'linux') return null
  const first = readActivity(pid)
  // A process that was started during the first reading is in the second, or its parent has run.
  return first !== null && first === readActivity(pid) ? first : null
}

function readActivity(root: number): string | null {
  const descendants = fromProc(root, Infinity)
  // The first process of a sandbox only waits for the program. Some kernels do not list children.
  if (descendants.length === 0) return null
  const lines: string[] = []
  for (const pid of [root, ...descendants.map((one) => one.pid)]) {
    for (const thread of readProcFolder(`${pid}/task`)) {
      const ran = readProc(`${pid}/task/${thread}/schedstat`)
      if (ran === '' || !/^State:\s+[^R]/m.test(readProc(`${pid}/task/${thread}/status`))) return null
      lines.push(`${pid} ${thread} ${ran}`)
    }
  }
  return lines.sort().join('')
}

/** On Linux: the process exists and is no zombie. */
export function isRunning(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(readProc(`${pid}/status`))
}

function residentBytesOf(pid: number): number {
  return (numbersIn(readProc(`${pid}/statm`))[1] ?? 0) * PAGE_BYTES
}

function readProcFolder(path: string): string[] {
  try {
    return readdirSync(`/proc/${path}`)
  } catch {
    return []
  }
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'latin1')
  } catch {
    return ''
  }
}

const numbersIn = (text: string) => text.split(/\s+/).filter(Boolean).map(Number)

async function fromPs(root: number): Promise<RunningProcess[]> {
  if (process.platform === 'win32') return []
  const { stdout } = await promisify(execFile)('/bin/ps', ['-A', '-o', 'pid=,ppid=,rss='], { maxBuffer: 16 * 1024 * 1024 })
  const rows = stdout.split('\n').map(numbersIn)
  const found: RunningProcess[] = []
  const parents = new Set([root])
  for (let before = -1; before !== parents.size;) {
    before = parents.size
    for (const [pid, parent, rssKb] of rows) {
      if (pid === undefined || !parents.has(parent!) || parents.has(pid)) continue
      parents.add(pid)
      found.push({ pid, residentBytes: rssKb! * 1024 })
    }
  }
  return found
}

/** A negative number is a process group. Returns false if there is no such process. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
