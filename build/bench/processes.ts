import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const ROOT = new URL('../..', import.meta.url).pathname

/** Every process that a measurement starts, so that none outlives it. */
const started = new Set<ChildProcess>()
const folders: string[] = []
process.once('exit', () => {
  for (const child of started) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-bench-'))
  folders.push(folder)
  return folder
}

export type Started<T> = { pid: number; line: T; child: ChildProcess; stop(): Promise<void> }

/** Starts a Node program that says where it is in one line of JSON, and waits for the line. */
export function startProgram<T>(file: string, args: string[] = [], env: Record<string, string> = {}): Promise<Started<T>> {
  const child = spawn(process.execPath, [file, ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  started.add(child)
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk).slice(-4000)))
  const stop = () =>
    new Promise<void>((resolve) => {
      started.delete(child)
      if (child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once('exit', () => resolve())
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), 8000).unref()
    })
  return new Promise((resolve, reject) => {
    let output = ''
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}: ${errors}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk
      const end = output.indexOf('\n')
      if (end < 0) return
      child.stdout.removeAllListeners('data').resume()
      child.removeAllListeners('exit')
      resolve({ pid: child.pid!, line: JSON.parse(output.slice(0, end)) as T, child, stop })
    })
  })
}

/** The local model server: speaks the real protocol, answers at once. */
export function startModelServer(...args: string[]): Promise<Started<{ url: string; port: number }>> {
  return startProgram(join(ROOT, 'src-runner/testing/model-servers/main.ts'), args)
}

/** The runner as users have it: the built one. */
export function startRunner(env: Record<string, string> = {}): Promise<Started<{ runnerUrl: string }>> {
  const built = join(ROOT, process.env['BENCH_RUNNER'] ?? 'out/main/runner.js')
  if (!existsSync(built)) throw new Error('Build first: npm run build')
  return startProgram(built, [], {
    DECKHAND_DATA_DIR: makeFolder(),
    RUNNER_PORT: '0',
    WORKER_SECRET: 'x'.repeat(43),
    LOG_LEVEL: 'warn',
    ...env,
  })
}

const TICKS_PER_SECOND = 100

/** Seconds of processor time that a process has used (user and system), from the kernel's own account. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** `12.3 (11.9 to 14.0)`: the median, and how far the rounds lay apart. */
export function spread(values: readonly number[], digits = 1): string {
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`
}
