import { constants } from 'node:fs'
import { access, lstat, mkdtemp, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { homedir, release } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { execFile } from 'node:child_process'
import { messageOf } from '../../kit/errors.ts'
import { say } from '../../kit/said.ts'
import type { BoxState, BubblewrapSetup, RootEntry, SeatbeltSetup } from './box-types.ts'
import { createControlGroup } from './control-group.ts'
import { ownMark, sweepLeftovers, temporaryFolder } from './leftovers.ts'
import { runBoxed } from './run-boxed.ts'

let known: Promise<BoxState> | null = null

/**
 * Which box this machine has. The answer is proved by running a command inside, once; `again` proves it anew, for
 * when a person has followed the advice. What earlier processes left behind is swept first.
 */
export function findBox({ again = false }: { again?: boolean } = {}): Promise<BoxState> {
  if (again || known === null) known = lookForBox()
  return known
}

async function lookForBox(): Promise<BoxState> {
  await sweepLeftovers()
  switch (process.platform) {
    case 'linux':
      return lookForBubblewrap()
    case 'darwin':
      return lookForSeatbelt()
    default:
      return noBox(say('box_unknown_system'), null)
  }
}

/** How a machine without a box is described; also for tests of what then happens. */
export function noBox(reason: string, advice: string | null): BoxState {
  const network = { works: false, reason: say('box_none_no_network'), advice: null }
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
  if (!bwrap) return noBox(say('box_missing'), say('box_missing_fix'))
  if (!sh || !stat || !prlimit || !nice) return noBox(say('box_helpers_missing'), say('box_helpers_missing_fix'))
  const help = await promisify(execFile)(bwrap, ['--help'], { env: {} }).then(({ stdout }) => stdout, () => '') // prettier-ignore
  if (!help.includes('--json-status-fd') || !help.includes('--size')) return noBox(say('box_old'), say('box_old_fix'))
  if (process.getuid?.() === 0 && !(await kernelLimitsProcesses())) return noBox(say('box_root'), say('box_root_fix'))
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
  reason: say('box_no_python'),
  advice: say('box_no_python_fix'),
}
const NETWORK = { works: true, reason: null, advice: null }

async function lookForSeatbelt(): Promise<BoxState> {
  const setup: SeatbeltSetup = { kind: 'seatbelt', sandboxExec: '/usr/bin/sandbox-exec', sh: '/bin/sh' }
  const failure = await probe(setup)
  if (failure === null) return working(setup, NETWORK)
  return noBox(say('box_seatbelt', { words: failure }), null)
}

function working(setup: BubblewrapSetup | SeatbeltSetup, network: BoxState['network']): BoxState {
  return { kind: setup.kind, works: true, reason: null, advice: null, network, checkedAt: Date.now(), setup }
}

/**
 * Runs a command in the box and lets it try what the box is there to prevent. null: all is well; else what went wrong.
 * Both folders lie side by side in the person's temporary folder, of which the box shows only the one.
 */
async function probe(setup: BubblewrapSetup | SeatbeltSetup): Promise<string | null> {
  const base = await temporaryFolder('box')
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
  const group = await createControlGroup(ownMark(), { processes: 1, memoryBytes: 1024 * 1024 })
  await group?.remove()
  return group?.limitsProcesses ?? false
}

export const BUBBLEWRAP_SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store']

/** What of `/` is the system's own: folders, or links to where they are today. */
async function systemRoot(): Promise<RootEntry[]> {
  const entries: RootEntry[] = []
  for (const path of BUBBLEWRAP_SYSTEM) {
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
  if (/can't mount proc/i.test(failure)) return { reason: say('box_container_proc'), advice: say('box_container_proc_fix') }
  const isRefused = /namespace|uid map|RTM_NEWADDR|Operation not permitted|Permission denied|No space left/i.test(failure)
  if (!isRefused) return { reason: say('box_broken', { words: failure }), advice: null }
  if (facts.maxUserNamespaces === 0) return { reason: say('box_namespaces_off'), advice: say('box_namespaces_off_fix') }
  if (facts.cloneForbidden) return { reason: say('box_namespaces_of_root'), advice: say('box_namespaces_of_root_fix') }
  if (facts.inContainer) return { reason: say('box_container'), advice: say('box_container_fix') }
  if (facts.apparmorRestricts) return { reason: say('box_apparmor'), advice: say('box_apparmor_fix') }
  return { reason: say('box_no_namespaces', { words: failure }), advice: null }
}
