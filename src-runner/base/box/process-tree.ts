import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

export type LivingProcess = { pid: number; residentBytes: number }

const PAGE_BYTES = 4096

/**
 * The processes that `pid` has started, and theirs, without itself and parents first; at most `most`. Whoever lost its parent is not
 * found, except in a box of namespaces, where the first process adopts all of them.
 */
export async function processesUnder(pid: number, most = Infinity): Promise<LivingProcess[]> {
  return process.platform === 'linux' ? fromProc(pid, most) : fromPs(pid)
}

function fromProc(root: number, most: number): LivingProcess[] {
  const found: LivingProcess[] = []
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
    return [] // it has ended meanwhile
  }
}

/** Whether a process of Linux is there and not merely waited for. */
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

async function fromPs(root: number): Promise<LivingProcess[]> {
  if (process.platform === 'win32') return []
  const { stdout } = await promisify(execFile)('/bin/ps', ['-A', '-o', 'pid=,ppid=,rss='], { maxBuffer: 16 * 1024 * 1024 })
  const rows = stdout.split('\n').map(numbersIn)
  const found: LivingProcess[] = []
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

/** Sends a signal to a process, or with a negative number to its group. Whoever is gone already needs none. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // gone, or never ours
  }
}
