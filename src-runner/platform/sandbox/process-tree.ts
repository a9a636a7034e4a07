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
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => numbersIn(readProc(`${pid}/task/${thread}/children`)))
  } catch {
    return []
  }
}

/** On Linux: the process exists and is no zombie. */
export function isRunning(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(readProc(`${pid}/status`))
}

function residentBytesOf(pid: number): number {
  return (numbersIn(readProc(`${pid}/statm`))[1] ?? 0) * PAGE_BYTES
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
