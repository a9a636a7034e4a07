import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** How a program ended. `error`: it could not be started at all. */
export type ProgramEnd = { code: number | null; signal: NodeJS.Signals | null; error: Error | null }

export type StartedProgram = {
  readonly pid: number | undefined
  /** Resolves once the program is gone and its last words were heard. */
  readonly ended: Promise<ProgramEnd>
  /** Asks it to end; ends it after `graceMs`. Resolves when it is gone. */
  stop(graceMs: number): Promise<void>
}

export type ProgramOptions = {
  file: string
  /** A list, never a line for a shell. */
  args: readonly string[]
  /** All that it finds there. */
  env: Record<string, string>
  /** Each line of standard output and standard error. */
  onLine(line: string): void
}

const MAX_LINE_CHARS = 4_096
const LAST_WORDS_MS = 500

/**
 * Stands between us and the program on POSIX systems. A process that is killed says nothing to its children, and a
 * program that publishes a port must not outlive what listens there: the pipe that we hold open ends with us, however we
 * end, and the program with it. Signals for the group are for the program; the shell waits until it is really gone.
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
 * Starts a program of the person's that goes on until it is stopped. What agents run has a box of its own in base/box;
 * nothing here is ever chosen by a model. On Windows the program ends with this process by itself: children that are not
 * detached are in a job object that closes with their parent.
 */
export function startProgram({ file, args, env, onLine }: ProgramOptions): StartedProgram {
  const isWindows = process.platform === 'win32'
  const [program, given] = isWindows ? [file, args] : ['/bin/sh', ['-c', KEEPER, 'sh', file, ...args]]
  const child = spawn(program, given, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: !isWindows, windowsHide: true })
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
    // Somebody whom the program started may hold its output open.
    setTimeout(finish, LAST_WORDS_MS).unref()
  })

  function signalAll(signal: NodeJS.Signals): void {
    if (isGone || child.pid === undefined) return
    try {
      if (isWindows) child.kill(signal)
      else process.kill(-child.pid, signal)
    } catch {
      // It went in this very moment.
    }
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
