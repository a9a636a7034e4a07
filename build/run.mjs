// Starting programs, and saying what is going on, for the scripts in this folder. Plain Node 20, no dependencies: these
// run on a fresh clone, before node_modules exists.
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

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

/** Runs `main` and turns what it throws into one line and exit code 1. */
export async function begin(main) {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    process.stderr.write(`✗ Deckhand needs Node 20 or newer to start from source; this is ${process.version}.\n`)
    process.exit(1)
  }
  try {
    await main()
  } catch (error) {
    process.stderr.write(`✗ ${error instanceof Stop ? error.message : error.stack}\n`)
    process.exit(1)
  }
}

/** Runs a program to its end in the project's environment. `log` takes its output into a file instead of the terminal. */
export async function run(command, args, { env = {}, log, cwd = root } = {}) {
  if (log) mkdirSync(dirname(log), { recursive: true })
  const out = log ? openSync(log, 'w') : 'inherit'
  try {
    const child = spawn(command, args, {
      cwd,
      env: { ...projectEnv, ...env },
      stdio: ['ignore', out, out],
      shell: process.platform === 'win32',
    })
    return await exitCode(child)
  } finally {
    if (log) closeSync(out)
  }
}

/** Runs a program and gives back what it wrote. */
export async function capture(command, args, { env = {}, cwd = root } = {}) {
  const child = spawn(command, args, {
    cwd,
    env: { ...projectEnv, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return { code: await exitCode(child), output }
}

/** Lets a program take over the terminal: signals pass on to it, and its end is ours. */
export function handOver(command, args, { env = {}, stdio = 'inherit' } = {}) {
  const child = spawn(command, args, { cwd: root, env: { ...projectEnv, ...env }, stdio })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`✗ ${command} could not be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
  return child
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
