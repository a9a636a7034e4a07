// Starting programs, and reporting progress, for the scripts in this folder. No dependencies: these run on a fresh
// clone, before node_modules exists, and on whatever Node the machine has. All of them import this file, so an old Node
// is refused here, before anything else runs.
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// 20.11 brought import.meta.filename and import.meta.dirname.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 11)) {
  process.stderr.write(`✗ Deckhand needs Node 20.11 or newer to start from source; this is ${process.versions.node}.\n`)
  process.exit(1)
}

export const root = fileURLToPath(new URL('..', import.meta.url))

/** The project's own Node 24 and tools come first, whatever the machine has. Colours are for people at a terminal. */
export const projectEnv = {
  ...process.env,
  PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`,
  ...(process.stdout.isTTY ? {} : { NO_COLOR: '1', FORCE_COLOR: undefined }),
}

/** The Node that the product runs on. */
export const projectNode = join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')

/** Progress goes to stderr: stdout belongs to what was asked for. */
export const say = (line) => process.stderr.write(`· ${line}\n`)

/** A failure that a person can act on: shown as one line, without a stack. */
export class Stop extends Error {}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** How often a script looks whether the shell it was started from is still there. */
const PARENT_EVERY_MS = 250

/** Pass a signal on to each program that runs now. */
const running = new Set()
let stopping = false

/** Runs `main` and turns what it throws into one line and exit code 1. A signal ends what it started, and then it. */
export async function begin(main) {
  for (const signal of SIGNALS) process.on(signal, () => stop(signal))
  stopWithShell()
  try {
    await main()
  } catch (error) {
    process.stderr.write(`✗ ${error instanceof Stop ? error.message : error.stack}\n`)
    process.exit(1)
  }
}

function stop(signal) {
  stopping = true
  process.exitCode = 128 + constants.signals[signal]
  for (const pass of running) pass(signal)
  if (running.size === 0) process.exit()
}

/** npm passes a signal to its shell, and a shell that waits for a program (dash under npm 9) ends without telling it. */
function stopWithShell() {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent && !stopping) stop('SIGTERM')
  }, PARENT_EVERY_MS).unref()
}

/** Signals for this script go to `child` too, and the script waits for its end. */
function adopt(child, pass = (signal) => child.kill(signal)) {
  running.add(pass)
  const release = () => {
    running.delete(pass)
    if (stopping && running.size === 0) process.exit()
  }
  child.on('error', release)
  child.on('exit', release)
  return child
}

/** On Windows a tool is found by its name in a shell only, and a shell takes a space in a path for the end of the name. */
const needsShell = (command) => process.platform === 'win32' && !isAbsolute(command)

/**
 * Runs a program to its end in the project's environment. `log` takes its output into a file instead of the terminal.
 * With `limitMs` it runs in a process group of its own: nothing that it started outlives it, and it ends in time.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, log?: string, cwd?: string, limitMs?: number }} [options]
 */
export async function run(command, args, { env = {}, log, cwd = root, limitMs } = {}) {
  if (log) mkdirSync(dirname(log), { recursive: true })
  const out = log ? openSync(log, 'w') : 'inherit'
  try {
    const child = spawn(command, args, {
      cwd,
      env: { ...projectEnv, ...env },
      stdio: ['ignore', out, out],
      shell: needsShell(command),
      detached: limitMs !== undefined && process.platform !== 'win32',
    })
    return await (limitMs === undefined ? exitCode(adopt(child)) : endOfGroup(child, limitMs, command))
  } finally {
    if (log) closeSync(out)
  }
}

/** A signal ends the whole group at once, since a terminal no longer reaches it. */
async function endOfGroup(child, limitMs, command) {
  const signalGroup = (signal) => {
    try {
      process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal)
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
  adopt(child, () => signalGroup('SIGKILL'))
  const late = setTimeout(() => {
    process.stderr.write(`✗ ${command} was still running after ${Math.round(limitMs / 60_000)} minutes and was stopped\n`)
    signalGroup('SIGKILL')
  }, limitMs)
  const code = await new Promise((resolve) => {
    child.on('error', () => resolve(127))
    child.on('exit', (exit) => resolve(exit ?? 1))
  })
  clearTimeout(late)
  if (child.pid !== undefined) signalGroup('SIGKILL')
  return code
}

/** Runs a program and gives back what it wrote. */
export async function capture(command, args, { env = {}, cwd = root } = {}) {
  const child = spawn(command, args, {
    cwd,
    env: { ...projectEnv, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: needsShell(command),
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return { code: await exitCode(adopt(child)), output }
}

/** Lets a program take over the terminal: signals pass on to it, and its end is ours. */
export function handOver(command, args, { env = {}, stdio = 'inherit' } = {}) {
  const child = spawn(command, args, { cwd: root, env: { ...projectEnv, ...env }, stdio, shell: needsShell(command) })
  child.on('error', (error) => {
    process.stderr.write(`✗ ${command} could not be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
  return adopt(child)
}

/** The last lines of a log, for the moment when something went wrong. */
export function tail(log, lines = 15) {
  return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-lines).join('\n')
}

function exitCode(child) {
  return new Promise((resolve) => {
    child.on('error', () => resolve(127))
    child.on('close', (code) => resolve(code ?? 1))
  })
}
