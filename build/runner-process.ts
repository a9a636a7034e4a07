import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../src-runner/lib/clock.ts'
import type { FaultPoint } from '../src-runner/testing/fault-points.ts'
import type { RunnerClient } from '../src-runner/testing/runner-client.ts'

/** Starting the runner from its sources takes half the CPU time where their compiled form is kept. */
const compileCache = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url))

export type RunnerProcessOptions = {
  dataDir: string
  port: number
  env?: Record<string, string>
  /** Opens the channel of `sendFault`. The real runner takes one for its host and would wait for its configuration. */
  takesFaults?: boolean
  /** Kills the process when aborted: a test passes its own signal, which is aborted when the test runs out of time. */
  signal?: AbortSignal
}

/** Tells the process to die at this point (src-runner/testing/fault-points.ts). Resolves when it will. */
export async function sendFault(child: ChildProcess, point: FaultPoint): Promise<void> {
  const armed = once(child, 'message')
  child.send(point)
  await armed
}

/** A runner in a process of its own that knows nothing of the environment it is started from. What it complains of is shown. */
export function startRunnerProcess(entry: string, options: RunnerProcessOptions): ChildProcess {
  const { dataDir, port, env = {}, takesFaults = false, signal } = options
  signal?.throwIfAborted()
  // A home of its own: at each start the programs that a person has installed in theirs are looked through.
  const own = {
    PATH: process.env['PATH'],
    HOME: dirname(dataDir),
    DECKHAND_DATA_DIR: dataDir,
    RUNNER_PORT: String(port),
    LOG_LEVEL: 'error',
    NODE_COMPILE_CACHE: compileCache,
  }
  const stdio: StdioOptions = ['ignore', 'ignore', 'inherit', ...(takesFaults ? (['ipc'] as const) : [])]
  const child = spawn(process.execPath, [entry], { env: { ...own, ...env }, stdio })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  signal?.addEventListener('abort', kill)
  child.once('exit', () => {
    process.off('exit', kill)
    signal?.removeEventListener('abort', kill)
  })
  return child
}

export function isAlive(child: ChildProcess | null): boolean {
  return child !== null && child.exitCode === null && child.signalCode === null
}

/** Resolves with the exit code when it is gone; null: a signal ended it. */
export async function endProcess(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  if (!isAlive(child)) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
  return child.exitCode
}

/** Resolves within a few milliseconds of the first 200: starts are measured by it. */
export async function untilHealthy(client: RunnerClient, child: ChildProcess, limitMs: number): Promise<void> {
  for (const limit = performance.now() + limitMs; performance.now() < limit; await systemClock.sleep(3)) {
    if (!isAlive(child)) throw new Error(`the runner ended while it started (${child.exitCode ?? child.signalCode})`)
    const answer = await client.ask('health').catch(() => null)
    if (answer?.status === 200) return
  }
  throw new Error(`the runner was not healthy within ${limitMs / 1000} s`)
}
