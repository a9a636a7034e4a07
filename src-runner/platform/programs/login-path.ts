import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { userInfo } from 'node:os'
import { basename, delimiter, isAbsolute } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../lib/errors.ts'
import { sendSignal } from '../sandbox/process-tree.ts'

/** Where a person's terminal looks for programs. */
export type LoginPath = {
  /** In the order of PATH. */
  folders: readonly string[]
  /** The name of the shell, for people; null: there is none. */
  shell: string | null
  /** Why the folders are those of this process; null: they are the shell's. */
  problem: string | null
  /** The shell was not started, because an agent can write what it reads. */
  agentsWrite?: boolean
}

const TIMEOUT_MS = 10_000
const KILL_AFTER_MS = 3_000
const LAST_OUTPUT_MS = 200
const MAX_OUTPUT_CHARS = 256 * 1024
const MAX_FOLDERS = 100
const MAX_FOLDER_CHARS = 4_096

/**
 * The variables that the shell gets: those that lead to its start-up files, and those of a running session. Without the latter
 * some start-up files start a key agent or a desktop.
 */
const PASSED_ON = [
  ...['HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'PATH', 'ZDOTDIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR'],
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'SSH_AUTH_SOCK'],
]

type ReadOptions = { env?: NodeJS.ProcessEnv; timeoutMs?: number; signal?: AbortSignal }

/**
 * The PATH of the person's shell. An app that was started from a launcher has only the short PATH of the desktop. The shell is
 * interactive and a login shell, because people extend PATH in either kind of start-up file.
 */
export async function readLoginPath({ env = process.env, timeoutMs = TIMEOUT_MS, signal }: ReadOptions = {}): Promise<LoginPath> {
  const shell = shellOf(env)
  const failed = (problem: string): LoginPath => ({ folders: splitPath(env['PATH'] ?? ''), shell: shell && basename(shell), problem })
  if (shell === null) return failed('this person has no login shell')
  const known = PASSED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]))
  // Start-up files can skip slow parts when DECKHAND_READING_PATH is set.
  const given = { ...Object.fromEntries(known), TERM: 'dumb', DECKHAND_READING_PATH: '1' }
  let problem = 'this shell is not supported'
  for (const flags of flagsFor(basename(shell))) {
    const mark = randomBytes(12).toString('hex')
    // /bin/sh reads no start-up files, and gets PATH joined by colons from every shell.
    const command = `/bin/sh -c 'printf "${mark}%s${mark}" "$PATH"'`
    try {
      const [, path, end] = (await outputOf(shell, [flags, command], { env: given, timeoutMs, signal })).split(mark)
      const folders = end === undefined ? [] : splitPath(path!)
      if (folders.length > 0) return { folders, shell: basename(shell), problem: null }
      problem = 'the shell ended without an answer'
    } catch (thrown) {
      return failed(messageOf(thrown))
    }
  }
  return failed(problem)
}

/** The PATH of this process. Started from a terminal, that is the shell's. */
export async function readProcessPath(): Promise<LoginPath> {
  return { folders: splitPath(process.env['PATH'] ?? ''), shell: null, problem: null }
}

/** For when an agent can write what the shell reads. */
export async function readPathUnasked(): Promise<LoginPath> {
  const shell = shellOf(process.env)
  return { ...(await readProcessPath()), shell: shell && basename(shell), problem: 'an agent can write what it reads', agentsWrite: true }
}

function shellOf(env: NodeJS.ProcessEnv): string | null {
  const named = env['SHELL'] ?? ''
  if (isAbsolute(named)) return named
  try {
    return userInfo().shell
  } catch {
    // The user id has no account.
    return null
  }
}

/** The second try is for interactive start-up files that switch to something else, such as a terminal multiplexer. */
function flagsFor(name: string): string[] {
  if (/^(ba|z|k|mk|da|a|fi)?sh$/.test(name)) return ['-ilc', '-lc']
  return /^t?csh$/.test(name) ? ['-ic'] : []
}

function splitPath(path: string): string[] {
  const folders = path.split(delimiter).filter((folder) => folder !== '' && folder.length <= MAX_FOLDER_CHARS && !/\p{Cc}/u.test(folder))
  return [...new Set(folders)].slice(0, MAX_FOLDERS)
}

type OutputOptions = { env: Record<string, string>; timeoutMs: number; signal: AbortSignal | undefined }

/**
 * What the shell prints. Afterwards, and when the time is over, its process group first gets the signal of a closing terminal,
 * because start-up files hold locks in the home that a killed one would leave behind.
 */
async function outputOf(file: string, args: readonly string[], { env, timeoutMs, signal }: OutputOptions): Promise<string> {
  const over = new AbortController()
  const stop = (problem: string) => over.abort(new Error(problem))
  const cancel = () => stop('it was cancelled')
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  const timer = setTimeout(() => stop(`it did not answer within ${timeoutMs / 1000} seconds`), timeoutMs)
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  let output = ''
  child.stdout.setEncoding('utf8').on('error', () => {})
  child.stdout.on('data', (text: string) => {
    output += text
    if (output.length > MAX_OUTPUT_CHARS) stop('it printed too much')
  })
  const closed = once(child, 'close').catch(() => {})
  try {
    await once(child, 'exit', { signal: over.signal })
    // A background program may hold the output open.
    await Promise.race([closed, sleep(LAST_OUTPUT_MS)])
    return output
  } catch (thrown) {
    throw over.signal.aborted ? over.signal.reason : thrown
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
    hangUp(child.pid)
    child.stdout.destroy()
  }
}

/** The group keeps its number while any process of it lives, even after the shell has ended. */
function hangUp(pid: number | undefined): void {
  if (pid === undefined || !sendSignal(-pid, 'SIGHUP')) return
  setTimeout(() => sendSignal(-pid, 'SIGKILL'), KILL_AFTER_MS).unref()
}
