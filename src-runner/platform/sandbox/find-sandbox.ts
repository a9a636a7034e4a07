import type { Message } from '../../contract/messages.ts'
import { constants } from 'node:fs'
import { access, lstat, mkdtemp, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { homedir, release } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { execFile } from 'node:child_process'
import { messageOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import type { SandboxState, BubblewrapSetup, RootEntry, SeatbeltSetup } from './sandbox-types.ts'
import { createControlGroup } from './cgroup.ts'
import { ownMark, sweepLeftovers, temporaryFolder } from './leftovers.ts'
import { runSandboxed } from './run-sandboxed.ts'

let known: Promise<SandboxState> | null = null

/** Which sandbox this machine has, proved by running a command in it. The result is cached; `again` tries it again. */
export function findSandbox({ again = false }: { again?: boolean } = {}): Promise<SandboxState> {
  if (again || known === null) known = lookForSandbox()
  return known
}

async function lookForSandbox(): Promise<SandboxState> {
  await sweepLeftovers()
  switch (process.platform) {
    case 'linux':
      return lookForBubblewrap()
    case 'darwin':
      return lookForSeatbelt()
    default:
      return noSandbox(createMessage('sandbox_unknown_system'), null)
  }
}

export function noSandbox(reason: Message, advice: Message | null): SandboxState {
  const network = { works: false, reason: createMessage('sandbox_none_no_network'), advice: null }
  return { kind: 'none', works: false, reason, advice, network, checkedAt: Date.now(), setup: null }
}

const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']

/** Only in system folders: an agent may have left a `bwrap` elsewhere. */
async function findProgram(name: string): Promise<string | null> {
  for (const folder of PROGRAM_FOLDERS) {
    const path = join(folder, name)
    if (await access(path, constants.X_OK).then(() => true, () => false)) return path // prettier-ignore
  }
  return null
}

async function lookForBubblewrap(): Promise<SandboxState> {
  const [bwrap, sh, stat, prlimit, nice, choom, unshare, mount, python] = await Promise.all(
    ['bwrap', 'sh', 'stat', 'prlimit', 'nice', 'choom', 'unshare', 'mount', 'python3'].map(findProgram),
  )
  if (!bwrap) return noSandbox(createMessage('sandbox_missing'), createMessage('sandbox_missing_fix'))
  if (!sh || !stat || !prlimit || !nice)
    return noSandbox(createMessage('sandbox_helpers_missing'), createMessage('sandbox_helpers_missing_fix'))
  const help = await promisify(execFile)(bwrap, ['--help'], { env: {} }).then(({ stdout }) => stdout, () => '') // prettier-ignore
  if (!help.includes('--json-status-fd') || !help.includes('--size'))
    return noSandbox(createMessage('sandbox_old'), createMessage('sandbox_old_fix'))
  if (process.getuid?.() === 0 && !(await kernelLimitsProcesses()))
    return noSandbox(createMessage('sandbox_root'), createMessage('sandbox_root_fix'))
  const setup: BubblewrapSetup = {
    kind: 'bubblewrap',
    bwrap,
    programs: { sh, stat, prlimit, nice, choom: choom ?? null, unshare: unshare ?? null, mount: mount ?? null, python: python ?? null },
    disablesUserNamespaces: help.includes('--disable-userns'),
    countsProcessesPerSandbox: isAtLeast(release(), 5, 14),
    root: await systemRoot(),
  }
  const failure = await probe(setup)
  if (failure === null) return working(setup, setup.programs.python === null ? NO_NETWORK : NETWORK)
  const { reason, advice } = explainFailure(failure, await machineFacts())
  return noSandbox(reason, advice)
}

/**
 * Deckhand's own servers listen on the machine's loopback, so the sandbox has a separate network. A small Python program in
 * it forwards connections to a proxy outside.
 */
const NO_NETWORK = {
  works: false,
  reason: createMessage('sandbox_no_python'),
  advice: createMessage('sandbox_no_python_fix'),
}
const NETWORK = { works: true, reason: null, advice: null }

async function lookForSeatbelt(): Promise<SandboxState> {
  const setup: SeatbeltSetup = { kind: 'seatbelt', sandboxExec: '/usr/bin/sandbox-exec', sh: '/bin/sh' }
  const failure = await probe(setup)
  if (failure === null) return working(setup, NETWORK)
  return noSandbox(createMessage('sandbox_seatbelt', { words: failure }), null)
}

function working(setup: BubblewrapSetup | SeatbeltSetup, network: SandboxState['network']): SandboxState {
  return { kind: setup.kind, works: true, reason: null, advice: null, network, checkedAt: Date.now(), setup }
}

/**
 * Runs a command in the sandbox and lets it try what the sandbox is there to prevent. null: all is well; else what went wrong.
 * Both folders lie side by side in the person's temporary folder, and the sandbox shows only one of them.
 */
async function probe(setup: BubblewrapSetup | SeatbeltSetup): Promise<string | null> {
  const base = await temporaryFolder('sandbox')
  try {
    const inside = await realpath(await mkdtemp(join(base, 'inside-')))
    const secret = join(base, 'secret')
    await writeFile(secret, 'secret')
    const script = `echo written > written || exit 10
cat "$1" 2>/dev/null && exit 11
echo x > "$1.new"
ls "$2" >/dev/null 2>&1 && exit 12
echo "reached the end"`
    const { exitCode, output, ended } = await runSandboxed({
      sandbox: working(setup, NO_NETWORK),
      command: ['/bin/sh', '-c', script, 'sh', secret, homedir()],
      folder: inside,
      writable: [inside],
      timeoutMs: 10_000,
    }).outcome
    if (ended !== 'exited') return 'a test command in the sandbox did not end'
    if (exitCode !== 0 || !output.includes('reached the end'))
      return `a test command in the sandbox ended with ${exitCode}: ${output.trim()}`
    if ((await lstat(`${secret}.new`).catch(() => null)) !== null) return 'a test command in the sandbox could write outside of it'
    return (await readFile(join(inside, 'written'), 'utf8')) === 'written\n'
      ? null
      : 'what a test command in the sandbox wrote is not there'
  } catch (thrown) {
    return messageOf(thrown)
  } finally {
    await rm(base, { recursive: true, force: true })
  }
}

/** For root only a control group stops a fork bomb in time. */
async function kernelLimitsProcesses(): Promise<boolean> {
  const group = await createControlGroup(ownMark(), { processes: 1, memoryBytes: 1024 * 1024 })
  await group?.remove()
  return group?.limitsProcesses ?? false
}

export const BUBBLEWRAP_SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store']

/** The system's folders in `/`, some of which are links. */
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

export type MachineFacts = { inContainer: boolean; apparmorRestricts: boolean; cloneForbidden: boolean; maxUserNamespaces: number | null }

async function machineFacts(): Promise<MachineFacts> {
  const read = (path: string) => readFile(path, 'utf8').then((text) => text.trim(), () => null) // prettier-ignore
  const [restrict, clone, max, ...taints] = await Promise.all([
    read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    read('/proc/sys/kernel/unprivileged_userns_clone'),
    read('/proc/sys/user/max_user_namespaces'),
    ...['/.dockerenv', '/run/.containerenv'].map((path) => access(path).then(() => path, () => null)), // prettier-ignore
  ])
  return {
    inContainer: taints.some((mark) => mark !== null) || process.env['container'] !== undefined,
    apparmorRestricts: restrict === '1',
    cloneForbidden: clone === '0',
    maxUserNamespaces: max === null ? null : Number(max),
  }
}

/** Turns bubblewrap's error into a reason and advice for the person. */
export function explainFailure(failure: string, facts: MachineFacts): { reason: Message; advice: Message | null } {
  if (/can't mount proc/i.test(failure))
    return { reason: createMessage('sandbox_container_proc'), advice: createMessage('sandbox_container_proc_fix') }
  const isRefused = /namespace|uid map|RTM_NEWADDR|Operation not permitted|Permission denied|No space left/i.test(failure)
  if (!isRefused) return { reason: createMessage('sandbox_broken', { words: failure }), advice: null }
  if (facts.maxUserNamespaces === 0)
    return { reason: createMessage('sandbox_namespaces_off'), advice: createMessage('sandbox_namespaces_off_fix') }
  if (facts.cloneForbidden)
    return { reason: createMessage('sandbox_namespaces_of_root'), advice: createMessage('sandbox_namespaces_of_root_fix') }
  if (facts.inContainer) return { reason: createMessage('sandbox_container'), advice: createMessage('sandbox_container_fix') }
  if (facts.apparmorRestricts) return { reason: createMessage('sandbox_apparmor'), advice: createMessage('sandbox_apparmor_fix') }
  return { reason: createMessage('sandbox_no_namespaces', { words: failure }), advice: null }
}
