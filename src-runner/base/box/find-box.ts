import { constants } from 'node:fs'
import { access, lstat, mkdtemp, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { homedir, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { execFile } from 'node:child_process'
import { messageOf } from '../../kit/errors.ts'
import type { BoxState, BubblewrapSetup, RootEntry, SeatbeltSetup } from './box-types.ts'
import { createControlGroup } from './control-group.ts'
import { runBoxed } from './run-boxed.ts'

let known: Promise<BoxState> | null = null

/**
 * Which box this machine has. The answer is proved by running a command inside, once; `again` proves it anew, for
 * when a person has followed the advice.
 */
export function findBox({ again = false }: { again?: boolean } = {}): Promise<BoxState> {
  if (again || known === null) known = lookForBox()
  return known
}

async function lookForBox(): Promise<BoxState> {
  switch (process.platform) {
    case 'linux':
      return lookForBubblewrap()
    case 'darwin':
      return lookForSeatbelt()
    default:
      return noBox('This system has no box that Deckhand knows how to use.', null)
  }
}

/** How a machine without a box is described; also for tests of what then happens. */
export function noBox(reason: string, advice: string | null): BoxState {
  const network = { works: false, reason: 'Without a box there is no network of its own.', advice: null }
  return { kind: 'none', works: false, reason, advice, network, checkedAt: Date.now(), setup: null }
}

const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']

/** Only from folders that belong to the system: a `bwrap` that an agent has left somewhere else is none. */
async function findProgram(name: string): Promise<string | null> {
  for (const folder of PROGRAM_FOLDERS) {
    const path = join(folder, name)
    if (await access(path, constants.X_OK).then(() => true, () => false)) return path // prettier-ignore
  }
  return null
}

async function lookForBubblewrap(): Promise<BoxState> {
  const [bwrap, sh, stat, prlimit, nice, choom, unshare, mount, python] = await Promise.all(
    ['bwrap', 'sh', 'stat', 'prlimit', 'nice', 'choom', 'unshare', 'mount', 'python3'].map(findProgram),
  )
  if (!bwrap)
    return noBox('bubblewrap is not installed on this machine.', 'Install bubblewrap: apt install bubblewrap, or dnf install bubblewrap.')
  if (!sh || !stat || !prlimit || !nice)
    return noBox('Some of the programs that build the box are missing (sh, stat, prlimit, nice).', 'Install coreutils and util-linux.')
  const help = await promisify(execFile)(bwrap, ['--help'], { env: {} }).then(({ stdout }) => stdout, () => '') // prettier-ignore
  if (!help.includes('--json-status-fd') || !help.includes('--size'))
    return noBox('The bubblewrap of this machine is too old.', 'Install bubblewrap 0.6 or newer.')
  if (process.getuid?.() === 0 && !(await kernelLimitsProcesses()))
    return noBox(
      'Deckhand runs as root here and may make no control groups: nothing would keep a program from starting processes without end.',
      'Start Deckhand as an ordinary user.',
    )
  const setup: BubblewrapSetup = {
    kind: 'bubblewrap',
    bwrap,
    programs: { sh, stat, prlimit, nice, choom: choom ?? null, unshare: unshare ?? null, mount: mount ?? null, python: python ?? null },
    disablesUserNamespaces: help.includes('--disable-userns'),
    countsProcessesPerBox: isAtLeast(release(), 5, 14),
    root: await systemRoot(),
  }
  const failure = await probe(setup)
  if (failure === null) return working(setup, setup.programs.python === null ? NO_NETWORK : NETWORK)
  const { reason, advice } = explainFailure(failure, await machineFacts())
  return noBox(reason, advice)
}

/**
 * To share the machine's network would be to share its loopback, where Deckhand's own servers listen, and every local
 * socket without a file. The box has a network of its own instead, and a small program in it carries connections to a
 * proxy, which knows what is outside.
 */
const NO_NETWORK = {
  works: false,
  reason: 'A boxed command has no network: the program that carries its connections needs Python.',
  advice: 'Install Python: apt install python3, or dnf install python3.',
}
const NETWORK = { works: true, reason: null, advice: null }

async function lookForSeatbelt(): Promise<BoxState> {
  const setup: SeatbeltSetup = { kind: 'seatbelt', sandboxExec: '/usr/bin/sandbox-exec', sh: '/bin/sh' }
  const failure = await probe(setup)
  if (failure === null) return working(setup, NETWORK)
  return noBox(`The sandbox of macOS does not start: ${failure}`, null)
}

function working(setup: BubblewrapSetup | SeatbeltSetup, network: BoxState['network']): BoxState {
  return { kind: setup.kind, works: true, reason: null, advice: null, network, checkedAt: Date.now(), setup }
}

/**
 * Runs a command in the box and lets it try what the box is there to prevent. null: all is well; else what went wrong.
 * Both folders lie side by side in the person's temporary folder, of which the box shows only the one.
 */
async function probe(setup: BubblewrapSetup | SeatbeltSetup): Promise<string | null> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'deckhand-box-')))
  try {
    const inside = await realpath(await mkdtemp(join(base, 'inside-')))
    const secret = join(base, 'secret')
    await writeFile(secret, 'secret')
    const script = `echo written > written || exit 10
cat "$1" 2>/dev/null && exit 11
echo x > "$1.new"
ls "$2" >/dev/null 2>&1 && exit 12
echo "reached the end"`
    const { exitCode, output, ended } = await runBoxed({
      box: working(setup, NO_NETWORK),
      command: ['/bin/sh', '-c', script, 'sh', secret, homedir()],
      folder: inside,
      writable: [inside],
      timeoutMs: 10_000,
    }).ending
    if (ended !== 'exited') return 'a first command in the box did not end'
    if (exitCode !== 0 || !output.includes('reached the end')) return `a first command in the box ended with ${exitCode}: ${output.trim()}`
    if ((await lstat(`${secret}.new`).catch(() => null)) !== null) return 'a first command in the box could write outside of it'
    return (await readFile(join(inside, 'written'), 'utf8')) === 'written\n' ? null : 'what a first command in the box wrote is not there'
  } catch (thrown) {
    return messageOf(thrown)
  } finally {
    await rm(base, { recursive: true, force: true })
  }
}

/** Root is exempt from the limit that holds for everybody else, so for root only a control group stops a fork bomb in time. */
async function kernelLimitsProcesses(): Promise<boolean> {
  const group = await createControlGroup({ processes: 1, memoryBytes: 1024 * 1024 })
  await group?.remove()
  return group?.limitsProcesses ?? false
}

/** What of `/` is the system's own: folders, or links to where they are today. */
async function systemRoot(): Promise<RootEntry[]> {
  const entries: RootEntry[] = []
  for (const path of ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store']) {
    const stats = await lstat(path).catch(() => null)
    if (stats?.isSymbolicLink()) entries.push({ path, linkTo: await readlink(path) })
    else if (stats?.isDirectory()) entries.push({ path, linkTo: null })
  }
  return entries
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [hasMajor = 0, hasMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return hasMajor > major || (hasMajor === major && hasMinor >= minor)
}

/** What decides why bubblewrap does not work here. */
export type MachineFacts = { inContainer: boolean; apparmorRestricts: boolean; cloneForbidden: boolean; maxUserNamespaces: number | null }

async function machineFacts(): Promise<MachineFacts> {
  const read = (path: string) => readFile(path, 'utf8').then((text) => text.trim(), () => null) // prettier-ignore
  const [restrict, clone, max, ...marks] = await Promise.all([
    read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    read('/proc/sys/kernel/unprivileged_userns_clone'),
    read('/proc/sys/user/max_user_namespaces'),
    ...['/.dockerenv', '/run/.containerenv'].map((path) => access(path).then(() => path, () => null)), // prettier-ignore
  ])
  return {
    inContainer: marks.some((mark) => mark !== null) || process.env['container'] !== undefined,
    apparmorRestricts: restrict === '1',
    cloneForbidden: clone === '0',
    maxUserNamespaces: max === null ? null : Number(max),
  }
}

/** Turns what bubblewrap said into why, and what a person can do. */
export function explainFailure(failure: string, facts: MachineFacts): { reason: string; advice: string | null } {
  if (/can't mount proc/i.test(failure))
    return {
      reason: 'This container does not let the box have a process list of its own.',
      advice: 'Start the container with --security-opt systempaths=unconfined, or run Deckhand outside of a container.',
    }
  const isRefused = /namespace|uid map|RTM_NEWADDR|Operation not permitted|Permission denied|No space left/i.test(failure)
  if (!isRefused) return { reason: `bubblewrap is installed but does not work: ${failure}`, advice: null }
  if (facts.maxUserNamespaces === 0)
    return { reason: 'User namespaces are turned off on this machine.', advice: 'Turn them on: sysctl -w user.max_user_namespaces=15000' }
  if (facts.cloneForbidden)
    return {
      reason: 'User namespaces are reserved for root on this machine.',
      advice: 'Open them to everybody: sysctl -w kernel.unprivileged_userns_clone=1',
    }
  if (facts.inContainer)
    return {
      reason: 'This container does not allow user namespaces, of which the box is built.',
      advice: 'Start the container with --security-opt seccomp=unconfined, or run Deckhand outside of a container.',
    }
  if (facts.apparmorRestricts)
    return {
      reason: 'AppArmor does not let bubblewrap make user namespaces on this machine.',
      advice:
        'Install the profile that allows it: apt install apparmor-profiles, then enable bwrap-userns-restrict (see the manual of your system).',
    }
  return { reason: `bubblewrap is installed but may not make namespaces: ${failure}`, advice: null }
}
