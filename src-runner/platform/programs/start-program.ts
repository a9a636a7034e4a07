import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { sendSignal } from '../sandbox/process-tree.ts'

/** `error`: the program could not be started. */
export type ProgramEnd = { code: number | null; signal: NodeJS.Signals | null; error: Error | null }

export type StartedProgram = {
  readonly pid: number | undefined
  /** Resolves when the program has ended and its output was read. */
  readonly ended: Promise<ProgramEnd>
  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when the program has ended. */
  stop(graceMs: number): Promise<void>
}

export type ProgramOptions = {
  file: string
  args: readonly string[]
  /** The whole environment. */
  env: Record<string, string>
  /** Default: that of this process. */
  folder?: string
  /** Receives each line of both outputs. */
  onLine(line: string): void
}

const MAX_LINE_CHARS = 4_096
const LAST_OUTPUT_MS = 500

/**
 * On POSIX systems a shell holds a pipe to this process and ends the program when the pipe closes, also after a kill. A
 * program that publishes a port must not outlive the server behind it. The shell ignores signals for the group.
 */
const KEEPER = `trap : TERM INT HUP
exec 3<&0 </dev/null
"$@" 3<&- & program=$!
{ cat <&3; kill "$program"; sleep 5; kill -9 "$program"; } >/dev/null 2>&1 & keeper=$!
exec 3<&-
wait "$program"; code=$?
while kill -0 "$program" 2>/dev/null; do wait "$program"; code=$?; done
kill "$keeper" 2>/dev/null
exit "$code"`

/**
 * Starts a long-running program of the person's, outside the sandbox. A model never chooses it. On Windows it ends with this
 * process by itself: children that are not detached are in a job object that closes with their parent.
 */
export function startProgram({ file, args, env, folder, onLine }: ProgramOptions): StartedProgram {
  const isWindows = process.platform === 'win32'
  const [program, given] = isWindows ? [file, args] : ['/bin/sh', ['-c', KEEPER, 'sh', file, ...args]]
  const child = spawn(program, given, { env, cwd: folder, stdio: ['pipe', 'pipe', 'pipe'], detached: !isWindows, windowsHide: true })
  child.stdin.on('error', () => {})
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => onLine(line.slice(0, MAX_LINE_CHARS)))

  const { promise: ended, resolve } = Promise.withResolvers<ProgramEnd>()
  let isGone = false
  child.once('error', (error) => {
    if (child.pid !== undefined) return
    isGone = true
    resolve({ code: null, signal: null, error })
  })
  child.once('exit', (code, signal) => {
    isGone = true
    child.stdin.destroy()
    const finish = () => resolve({ code, signal, error: null })
    child.once('close', finish)
    // A child of the program may hold its output open.
    setTimeout(finish, LAST_OUTPUT_MS).unref()
  })

  function signalAll(signal: NodeJS.Signals): void {
    if (isGone || child.pid === undefined) return
    if (isWindows) child.kill(signal)
    else sendSignal(-child.pid, signal)
  }

  return {
    pid: child.pid,
    ended,
    async stop(graceMs) {
      signalAll('SIGTERM')
      const timer = setTimeout(() => signalAll('SIGKILL'), graceMs)
      await ended
      clearTimeout(timer)
    },
  }
}
