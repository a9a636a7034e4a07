import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { SandboxFailed, type ReachedLimit, type SandboxOptions } from './sandbox-types.ts'
import type { Launch } from './launch.ts'
import { watchPlaces } from './place-watch.ts'
import { activityUnder } from './process-tree.ts'
import {
  DEFAULT_LIMITS,
  TERM_GRACE_MS,
  endOf,
  endTree,
  giveDescriptors,
  prepare,
  readStatus,
  sandboxIsEmpty,
  spawnLaunch,
  watchLimits,
} from './run-sandboxed.ts'

const MAX_EXIT_WAIT_MS = 5_000

/** `stdin`, `stdout` and `stderr` never throw: a program that has ended reads nothing. */
export type RunningProgram = {
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Resolves when everything that it has put by now where files run by themselves is renamed and was told to `onSetAside`. */
  recheck(): Promise<void>
  /** Resolves when no process of it is left, and after the last recheck. */
  ended: Promise<ProgramEnd>
  /** Ends every process of it: SIGTERM, then SIGKILL. Resolves like `ended`. */
  stop(): Promise<ProgramEnd>
}

export type ProgramEnd = { exitCode: number | null; signal: NodeJS.Signals | null; limit: ReachedLimit | null }

/**
 * Starts a program that is talked to over its streams, in the sandbox, or without one if there is none. It runs until it ends, is
 * stopped or reaches a limit. If this process is killed, so is the program. `options.timeoutMs` only says how long a later process
 * looks for files that it left behind. Throws SandboxFailed.
 */
export async function startSandboxed(options: Omit<SandboxOptions, 'onOutput' | 'keepBytes' | 'signal'>): Promise<RunningProgram> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const launch = await prepare({ ...options, separatesErrors: true }, limits)
  let child: ChildProcess
  try {
    child = await spawned(launch)
  } catch (thrown) {
    await launch.cleanUp()
    throw thrown
  }
  const status = giveDescriptors(child, launch)
  const sandbox = status && readStatus(status)
  let limit: ReachedLimit | null = null
  const watch = watchLimits(
    () => sandbox?.firstProcess() ?? child.pid,
    options,
    limits,
    (reached) => {
      limit ??= reached
      void endTree(child, sandbox, 'SIGKILL')
    },
  )
  const places = watchPlaces(
    launch.recheck,
    (found) => options.onSetAside?.(found),
    () => {
      const first = sandbox?.firstProcess() ?? null
      return first === null ? null : activityUnder(first)
    },
  )
  const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => child.once('exit', (...end) => resolve(end)))
  const ended = exited.then(async ([exitCode, signal]): Promise<ProgramEnd> => {
    watch.stop()
    if (sandbox === null) await endTree(child, null, 'SIGKILL')
    else await sandboxIsEmpty(sandbox.firstProcess())
    await Promise.race([Promise.all([endOf(child.stdout!), endOf(child.stderr!)]), after(MAX_EXIT_WAIT_MS)])
    child.stdin!.destroy()
    child.stdout!.destroy()
    child.stderr!.destroy()
    await places.stop()
    await launch.cleanUp()
    return { exitCode, signal, limit }
  })
  return {
    stdin: child.stdin!,
    stdout: child.stdout!,
    stderr: child.stderr!,
    recheck: places.recheck,
    ended,
    stop() {
      void endTree(child, sandbox, 'SIGTERM')
      const kill = setTimeout(() => void endTree(child, sandbox, 'SIGKILL'), TERM_GRACE_MS)
      return ended.finally(() => clearTimeout(kill))
    },
  }
}

function spawned(launch: Launch): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawnLaunch(launch, ['pipe', 'pipe', 'pipe'])
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {})
    child.once('spawn', () => resolve(child))
    child.once('error', (thrown) => reject(new SandboxFailed(`The program could not be started: ${thrown.message}`, { cause: thrown })))
  })
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}
