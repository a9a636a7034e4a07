import { spawn } from 'node:child_process'
import { devNull } from 'node:os'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '../../lib/clock.ts'
import { plainEnvironment } from '../programs/trusted-program.ts'
import { sendSignal } from '../sandbox/process-tree.ts'
import { GitFailed } from './git-failed.ts'

/** Where a command works. Each path is absolute. */
export type GitPlace = {
  gitDir: string
  workTree?: string
  /** Instead of those of `gitDir`. */
  objects?: string
  index?: string
}

export type GitRun = {
  at: GitPlace
  args: readonly string[]
  input?: Readable
  /** Default: 1 MB. */
  maxBytes?: number
  /** Stop at `maxBytes`. Without it, more output is a failure. */
  cuts?: boolean
  /** Exit codes besides 0 that are no failure. */
  okCodes?: readonly number[]
  /** undefined: without that variable. */
  env?: Readonly<Record<string, string | undefined>>
  withinMs?: number
  /** Receives the output instead. Git waits while it works. */
  onOutput?: (output: AsyncIterable<Buffer>) => Promise<void>
}

export type GitOutput = { code: number | null; output: Buffer; isCut: boolean }
export type RunGit = (run: GitRun) => Promise<GitOutput>

const MB = 1_000_000
const WITHIN_MS = 60_000
const GRACE_MS = 2_000
const MAX_ERROR_CHARS = 2_000

/**
 * They come after every configuration file, so they win. A repository's configuration is read only for commands that need its
 * refs, and these start nothing else. Filters, drivers of diffs and merges, and signing come up in none of them.
 */
const SETTINGS: readonly [string, string][] = [
  ['core.hooksPath', devNull],
  ['core.fsmonitor', 'false'],
  ['core.untrackedCache', 'false'],
  ['core.splitIndex', 'false'],
  ['core.sparseCheckout', 'false'],
  ['core.attributesFile', devNull],
  ['core.alternateRefsCommand', 'false'],
  ['core.sshCommand', 'false'],
  ['core.askPass', ''],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['core.quotePath', 'false'],
  ['core.protectNTFS', 'true'],
  ['core.protectHFS', 'true'],
  // A commit must be on the disk before a folder is deleted.
  ['core.fsync', 'all'],
  ['credential.helper', ''],
  ['protocol.allow', 'never'],
  ['commit.gpgSign', 'false'],
  ['submodule.recurse', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['branch.autoSetupMerge', 'false'],
  ['advice.detachedHead', 'false'],
]

/** The person's and the system's configuration is not read: it may name filters, and attributes of a hostile work may use them. */
const CLOSED_ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_TERMINAL_PROMPT: '0',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  GIT_EDITOR: 'false',
  GIT_ASKPASS: '',
  LC_ALL: 'C',
}

/**
 * Runs Git without a shell, with its arguments only, in an environment of its own, and with limits on time and output. Throws
 * GitFailed.
 */
export function createGitRunner({ findGit, clock }: { findGit: () => Promise<string>; clock: Pick<Clock, 'after'> }): RunGit {
  return async (run) => {
    const { at, args, input, maxBytes = MB, cuts = false, okCodes = [], env = {}, withinMs = WITHIN_MS, onOutput } = run
    const file = await findGit()
    const isWindows = process.platform === 'win32'
    const child = spawn(file, args, {
      cwd: at.workTree ?? at.gitDir,
      env: { ...environmentAt(at, file), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // Its own children are ended with it.
      detached: !isWindows,
      windowsHide: true,
    })
    let [isLate, isCut, isOver] = [false, false, false]
    const signal = (name: NodeJS.Signals) => {
      if (isOver || child.pid === undefined) return
      if (isWindows) child.kill(name)
      else sendSignal(-child.pid, name)
    }
    const stops: (() => void)[] = []
    // On SIGTERM it removes its locks.
    const end = () => {
      signal('SIGTERM')
      stops.push(clock.after(GRACE_MS, () => signal('SIGKILL')))
    }
    stops.push(clock.after(withinMs, () => ((isLate = true), end())))

    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => void (errors = (errors + text).slice(0, MAX_ERROR_CHARS)))
    const chunks: Buffer[] = []
    let bytes = 0
    const read = async () => {
      if (onOutput !== undefined) return onOutput(child.stdout)
      for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
        if (isCut) continue
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes <= maxBytes) continue
        isCut = true
        end()
      }
    }
    // A git that ends early closes the pipe; its exit code tells why.
    const write = async () => (input === undefined ? void child.stdin.end() : pipeline(input, child.stdin).catch(end))
    child.stdin.on('error', () => {})
    const exited = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve(code))
    })
    try {
      const reading = read().catch((thrown: unknown) => (end(), child.stdout.resume(), Promise.reject(thrown as Error)))
      const [code] = await Promise.all([exited, reading, write()])
      if (isLate) throw new GitFailed('slow', `git ${args[0]} took longer than ${withinMs / 1000} seconds`)
      if (isCut && !cuts) throw new GitFailed('failed', `git ${args[0]} said more than ${maxBytes} bytes`)
      if (!isCut && code !== 0 && !okCodes.includes(code ?? -1))
        throw new GitFailed('failed', `git ${args[0]}: ${errors.trim() || `exit code ${code}`}`)
      return { code, output: Buffer.concat(chunks).subarray(0, maxBytes), isCut }
    } finally {
      isOver = true
      for (const stop of stops) stop()
    }
  }
}

function environmentAt({ gitDir, workTree, objects, index }: GitPlace, file: string): Record<string, string> {
  const settings = SETTINGS.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  return {
    ...plainEnvironment([]),
    PATH: dirname(file),
    ...CLOSED_ENVIRONMENT,
    GIT_CONFIG_COUNT: String(SETTINGS.length),
    ...Object.fromEntries(settings),
    GIT_DIR: gitDir,
    ...(workTree !== undefined && { GIT_WORK_TREE: workTree }),
    ...(objects !== undefined && { GIT_OBJECT_DIRECTORY: objects }),
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
  }
}
