import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { basename, delimiter, isAbsolute } from 'node:path'

/** Where a person's terminal looks for programs. */
export type LoginPath = {
  /** As they stand there, in their order. */
  folders: readonly string[]
  /** Its name, for people; null: there is none. */
  shell: string | null
  /** Why the folders are those this process was started with; null: the shell named them. */
  problem: string | null
  /** It was not asked, because an agent may write what it reads. */
  agentsWrite?: boolean
}

export type Question = {
  args: readonly string[]
  env: Record<string, string>
  cwd?: string
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** Nobody waits for it but the first command. */
const PATIENCE_MS = 10_000
const HANG_UP_MS = 3_000
const LAST_WORDS_MS = 200
const MAX_ANSWER_CHARS = 256 * 1024
const MAX_FOLDERS = 100
const MAX_FOLDER_CHARS = 4_096

/**
 * What a shell needs to find its start-up files, and what tells those that a session is there already: without it some
 * start an agent for keys, or a desktop. Whatever else this process was given is none of their business.
 */
const HANDED_ON = [
  ...['HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'PATH', 'ZDOTDIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR'],
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'SSH_AUTH_SOCK'],
]

/**
 * An app that was started from a launcher has the short PATH of the desktop. The long one is made by the start-up files
 * of the person's shell, so that shell is asked, once: interactive and as a login shell, since people extend PATH in
 * either kind of file. It gets no input and little time, and nothing but PATH is read from what it says.
 */
export async function readLoginPath({
  env = process.env,
  timeoutMs = PATIENCE_MS,
  signal,
}: { env?: NodeJS.ProcessEnv; timeoutMs?: number; signal?: AbortSignal } = {}): Promise<LoginPath> {
  const shell = shellOf(env)
  const failed = (problem: string): LoginPath => ({ folders: splitPath(env['PATH'] ?? ''), shell: shell && basename(shell), problem })
  if (shell === null) return failed('this person has no login shell')
  const ways = waysToAsk(shell)
  let problem = 'this shell is not one of those that can be asked'
  for (const flags of ways) {
    try {
      const folders = await askShell(shell, flags, { env: shellEnvironment(env), timeoutMs, signal })
      if (folders !== null) return { folders, shell: basename(shell), problem: null }
      problem = 'the shell ended without an answer'
    } catch (thrown) {
      return failed((thrown as Error).message)
    }
  }
  return failed(problem)
}

/** Null: it ended, and said nothing of it. */
async function askShell(shell: string, flags: string, how: Omit<Question, 'args'>): Promise<string[] | null> {
  const mark = randomBytes(12).toString('hex')
  // A second shell writes it: that one has no start-up files and speaks the same language everywhere, and in its
  // environment the folders are joined by colons, whatever the first one makes of them.
  const question = `/bin/sh -c 'printf "${mark}%s${mark}" "$PATH"'`
  const [, path, closed] = (await answerOf(shell, { ...how, args: [flags, question] })).split(mark)
  const folders = path === undefined || closed === undefined ? [] : splitPath(path)
  return folders.length === 0 ? null : folders
}

function shellOf(env: NodeJS.ProcessEnv): string | null {
  const named = env['SHELL'] ?? ''
  if (isAbsolute(named)) return named
  try {
    return userInfo().shell
  } catch {
    // A number that no account has.
    return null
  }
}

/** The second way is for those whose interactive start-up goes on to something else, such as a multiplexer. */
function waysToAsk(shell: string): string[] {
  const name = basename(shell)
  if (/^(ba|z|k|mk|da|a|fi)?sh$/.test(name)) return ['-ilc', '-lc']
  return /^t?csh$/.test(name) ? ['-ic'] : []
}

function shellEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const known = HANDED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]))
  // The last one is for start-up files that want to be quick when nobody will type anything.
  return { ...Object.fromEntries(known), TERM: 'dumb', DECKHAND_READING_PATH: '1' }
}

/** Whatever is no plain text is left out here; what of the rest may be used is decided elsewhere. */
function splitPath(path: string): string[] {
  const folders = path.split(delimiter).filter((folder) => folder !== '' && folder.length <= MAX_FOLDER_CHARS && !/\p{Cc}/u.test(folder))
  return [...new Set(folders)].slice(0, MAX_FOLDERS)
}

/** What this process was started with: from a terminal that is what its shell says. */
export async function readProcessPath(): Promise<LoginPath> {
  return { folders: splitPath(process.env['PATH'] ?? ''), shell: null, problem: null }
}

/** Where the shell is there and must not be asked, because an agent may write what it reads. */
export async function readPathUnasked(): Promise<LoginPath> {
  const shell = shellOf(process.env)
  return { ...(await readProcessPath()), shell: shell && basename(shell), problem: 'an agent may write what it reads', agentsWrite: true }
}

/**
 * What a program of the person's says to a question. When its time is over, or it has answered and something of it goes
 * on in the background, it hears what it would hear if its terminal was closed: start-up files hold locks in the home,
 * which whoever is killed leaves behind, to the harm of every terminal after it. Who does not listen to that is killed.
 */
export function answerOf(file: string, { args, env, cwd, timeoutMs, signal }: Question): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, cwd, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    let said = ''
    let isOver = false
    const end = (done: () => void) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      hangUp(child.pid)
      child.stdout.destroy()
      done()
    }
    const timer = setTimeout(() => end(() => reject(new Error(`it did not answer within ${timeoutMs / 1000} seconds`))), timeoutMs)
    const stop = () => end(() => reject(new Error('nobody waits for it any more')))
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.length > MAX_ANSWER_CHARS) end(() => reject(new Error('it said too much')))
    })
    child.stdout.on('error', () => {})
    child.once('error', (thrown) => end(() => reject(thrown)))
    child.once('exit', () => {
      const finish = () => end(() => resolve(said))
      // What it said may still be on its way, and a program in the background may hold the way open.
      child.stdout.once('end', finish)
      setTimeout(finish, LAST_WORDS_MS)
    })
  })
}

/** Also where the first of the group has gone: the others keep its number from being given to anybody else. */
function hangUp(pid: number | undefined): void {
  if (pid === undefined || !signalGroup(pid, 'SIGHUP')) return
  setTimeout(() => signalGroup(pid, 'SIGKILL'), HANG_UP_MS).unref()
}

function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    // Nothing of it is left.
    return false
  }
}
