import { realpath, rm } from 'node:fs/promises'
import { delimiter } from 'node:path'
import { isInside } from '../protected-places/places-by-path.ts'
import type { FoundPlaces } from '../protected-places/find-protected.ts'
import { guardFolders, identifyFolder, outermost, type FolderIdentity, type Recheck } from './sandbox-folders.ts'
import { SandboxFailed, type SandboxLimits, type SandboxOptions, type BubblewrapSetup, type SeatbeltSetup } from './sandbox-types.ts'
import { createControlGroup } from './cgroup.ts'
import { bubblewrapArgs, pinnedFolders, SANDBOX_HOME, type BubblewrapPlan } from './bubblewrap-args.ts'
import { keepForRecheck } from './recheck.ts'
import { OWNER_VARIABLE, ownMark, temporaryFolder } from './leftovers.ts'
import {
  FORWARDER,
  openLoopbackProxy,
  openNetworkProxy,
  proxyEnvironment,
  SOCKET_IN_SANDBOX,
  type NetworkProxyOptions,
} from './network-proxy.ts'
import { seatbeltProfile } from './seatbelt-profile.ts'
import { seccompFilter } from './seccomp-filter.ts'

export type Launch = {
  file: string
  args: string[]
  cwd: string
  env: Record<string, string>
  /** What the process reads from its descriptors from 3 on. `status`: bubblewrap reports there. */
  descriptors: readonly (Buffer | 'status')[]
  recheck: Recheck
  cleanUp(): Promise<void>
}

/** Where the system's programs are. */
export function programFolders(platform: NodeJS.Platform = process.platform, env: NodeJS.ProcessEnv = process.env): string[] {
  if (platform === 'win32') {
    const root = env['SystemRoot'] ?? 'C:\\Windows'
    const programs = env['ProgramFiles'] ?? 'C:\\Program Files'
    return [`${root}\\System32`, root, `${root}\\System32\\WindowsPowerShell\\v1.0`, `${programs}\\nodejs`, `${programs}\\Git\\cmd`]
  }
  const common = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin']
  return platform === 'darwin' ? ['/opt/homebrew/bin', ...common] : common
}

/** The whole environment of a command. Only the language and the time zone are inherited. */
function environmentFor(options: SandboxOptions, home: string, temporary: string): Record<string, string> {
  const isWindows = process.platform === 'win32'
  const inherited = ['TZ', 'LANG', 'LC_ALL', ...(isWindows ? ['SystemRoot', 'SystemDrive', 'PATHEXT', 'ComSpec', 'ProgramFiles'] : [])]
  return {
    LANG: 'C.UTF-8',
    ...Object.fromEntries(inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
    ...options.programs?.env,
    PATH: (options.programs?.path ?? programFolders()).join(delimiter),
    HOME: home,
    TMPDIR: temporary,
    ...(isWindows ? { TEMP: temporary, TMP: temporary, USERPROFILE: home } : {}),
    USER: 'agent',
    LOGNAME: 'agent',
    TERM: 'dumb',
    NO_COLOR: '1',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    ...options.env,
  }
}

/**
 * Runs in the sandbox before the command: checks that each folder is still the one that was identified, since a link may
 * have replaced it before the mount, and starts the network forwarder. Then `streamsOf` follows.
 */
const PREPARE = `stat=$1; shift
while [ "$1" != -- ]; do
  if [ "$("$stat" -c %d:%i "$1")" != "$2" ]; then echo "sandbox: a folder was replaced while the sandbox was built: $1" >&2; exit 125; fi
  shift 2
done
shift
if [ -n "$1" ]; then "$1" -I -c "$2" || { echo "sandbox: the network could not be opened" >&2; exit 125; }; fi
shift 2
`

/** A command's two output streams are one, in order, unless its output is read by a protocol. */
function streamsOf({ separatesErrors = false }: SandboxOptions): string {
  return separatesErrors ? 'exec "$@"' : 'exec "$@" 2>&1'
}

/**
 * For root only: it joins a control group, and gets device files in a folder that is mounted read-only, because root could
 * change their permissions for the whole machine. It joins before the private mounts, which hide the files of the group.
 */
const JOIN_GROUPS = `while [ "$1" != -- ]; do echo $$ > "$1"; shift; done 2>/dev/null; shift
exec "$@"`
const SEAL_DEVICES = `mount=$1; shift
"$mount" --rbind /dev /dev && "$mount" -o remount,bind,ro /dev || exit 125
# In some containers a device is a mount of its own.
mounts=
while read -r _ _ _ _ path _; do
  case $path in /dev/full | /dev/null | /dev/random | /dev/tty | /dev/urandom | /dev/zero) mounts="$mounts $path" ;; esac
done </proc/self/mountinfo
for path in $mounts; do "$mount" -o remount,bind,ro "$path" || exit 125; done
exec "$@"`

export async function launchInBubblewrap(setup: BubblewrapSetup, options: SandboxOptions, limits: SandboxLimits): Promise<Launch> {
  const writable = outermost(options.writable)
  if (![...writable, ...(options.readable ?? [])].some((folder) => isInside(folder, options.folder)))
    throw new SandboxFailed(`The command cannot start in ${options.folder}, which the sandbox does not show.`)
  const readable = (options.readable ?? []).filter((path) => !writable.includes(path))
  const programs = await programsBeside(options, writable)
  const folders = await Promise.all([...writable, ...readable].map(identifyFolder))
  const { hidden, frozen, pinned: movable, recheck, before } = await guardFolders({ ...options, writable, readable }, options.closed ?? [])
  const pinned = await Promise.all(
    pinnedFolders({ writable, hidden, frozen: frozen.map(({ path }) => path), pinned: movable }).map(identifyFolder),
  )
  const filter = seccompFilter(process.arch)
  const proxy = Boolean(options.network) && setup.programs.python !== null ? await openNetworkProxy(networkOptions(options)) : null

  const descriptors: (Buffer | 'status')[] = []
  const put = (content: Buffer | 'status') => 2 + descriptors.push(content)
  const status = put('status')
  const seccomp = filter === null ? null : put(filter)
  const files = Object.entries(accountFiles()).map(([path, text]) => ({ descriptor: put(Buffer.from(text)), path }))
  const profile = bubblewrapArgs({
    setup,
    writable,
    readable,
    programs,
    hidden,
    frozen: frozen.map(({ path }) => path),
    pinned: movable,
    folder: options.folder,
    env: environmentFor({ ...options, env: { ...(proxy === null ? {} : proxyEnvironment()), ...options.env } }, SANDBOX_HOME, '/tmp'),
    proxy: proxy === null ? null : { path: proxy.socketPath, shownAt: SOCKET_IN_SANDBOX },
    temporaryBytes: limits.temporaryBytes,
    descriptors: { status, seccomp, files },
  })
  // Not as arguments: everybody in the sandbox can read the command line of its first process.
  const profileAt = put(Buffer.from(profile.map((arg) => `${arg}\0`).join('')))

  const { sh, stat, prlimit, nice, choom, unshare, mount } = setup.programs
  const group = await createControlGroup(ownMark(), limits)
  const sealing = process.getuid?.() === 0 && unshare !== null && mount !== null
  const [file, ...args] = [
    ...(group === null ? [] : [sh, '-c', JOIN_GROUPS, 'sh', ...group.joinFiles, '--']),
    ...(choom === null ? [] : [choom, '-n', '900', '--']),
    nice,
    '-n',
    '10',
    ...(sealing ? [unshare, '--mount', '--propagation', 'private', sh, '-c', SEAL_DEVICES, 'sh', mount] : []),
    setup.bwrap,
    '--args',
    String(profileAt),
    '--',
    sh,
    '-c',
    PREPARE + streamsOf(options),
    'sh',
    stat,
    ...[...folders, ...pinned, ...frozen].flatMap(({ path, identity }: FolderIdentity) => [path, identity]),
    '--',
    ...(proxy === null ? ['', ''] : [setup.programs.python!, FORWARDER]),
    prlimit,
    ...resourceLimits(setup, limits),
    '--',
    ...options.command,
  ] as [string, ...string[]]
  // Everybody in the sandbox can read bubblewrap's own environment.
  const env = { PATH: programFolders().join(delimiter), [OWNER_VARIABLE]: ownMark() }
  const look = await keptForRecheck(before, options)
  const cleanUp = async () => {
    await Promise.all([group?.remove(), proxy?.close(), remove(look)])
  }
  return { file, args, cwd: '/', env, descriptors, recheck, cleanUp }
}

/** The programs to show. None may lie in or around a folder where the command writes. */
async function programsBeside({ programs }: SandboxOptions, writable: readonly string[]): Promise<BubblewrapPlan['programs']> {
  const isThere = async (path: string) => (await realpath(path).catch(() => null)) === path
  const isApart = (path: string) => !writable.some((folder) => isInside(folder, path) || isInside(path, folder))
  const shown = (programs?.shown ?? []).filter(isApart)
  const inShown = (programs?.covered ?? []).filter(({ path }) => shown.some((place) => isInside(place, path)))
  const covered = await Promise.all(inShown.map(async (place) => ((await isThere(place.path)) ? [place] : [])))
  return { shown, covered: covered.flat(), links: programs?.links ?? [] }
}

function networkOptions({ network }: SandboxOptions): NetworkProxyOptions {
  return typeof network === 'object' ? network : {}
}

function resourceLimits(setup: Pick<BubblewrapSetup, 'countsProcessesPerSandbox'>, limits: SandboxLimits): string[] {
  return [
    // This counts threads. Processes are counted from outside, where root counts too.
    ...(setup.countsProcessesPerSandbox ? [`--nproc=${limits.processes * 4}`] : []),
    // Not the address space: JavaScript engines reserve terabytes of it.
    `--data=${limits.memoryBytesEach}`,
    `--fsize=${limits.fileBytes}`,
    '--core=0',
  ]
}

/** The accounts in the sandbox: the person's own user id as `agent`. */
function accountFiles(): Record<string, string> {
  const uid = process.getuid!()
  const gid = process.getgid!()
  return {
    '/etc/passwd': `agent:x:${uid}:${gid}:agent:${SANDBOX_HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n`,
    '/etc/group': `agent:x:${gid}:\nnogroup:x:65534:\n`,
    '/etc/hosts': '127.0.0.1 localhost sandbox\n::1 localhost\n',
  }
}

export async function launchInSeatbelt(setup: SeatbeltSetup, options: SandboxOptions): Promise<Launch> {
  const writable = outermost(options.writable)
  await Promise.all([...writable, ...(options.readable ?? [])].map(identifyFolder))
  const folders = { ...options, writable, readable: options.readable ?? [] }
  const { hidden, frozen, recheck, before } = await guardFolders(folders, options.closed ?? [])
  const { shown, covered } = await programsBeside(options, writable)
  const temporary = await temporaryFolder('command')
  const network = networkOptions(options)
  const proxy = options.network ? await openLoopbackProxy(network) : null
  const profile = seatbeltProfile({
    writable,
    readable: [...shown, ...(options.readable ?? [])],
    closed: [...covered, ...hidden].map(({ path }) => path),
    frozen: frozen.map(({ path }) => path),
    temporary,
    proxy: proxy === null ? null : { port: proxy.port, anyHost: network.hosts?.includes('*') ?? true },
  })
  const look = await keptForRecheck(before, options)
  return {
    file: setup.sandboxExec,
    args: ['-p', profile, setup.sh, '-c', streamsOf(options), 'sh', ...options.command],
    cwd: options.folder,
    env: environmentFor(
      { ...options, env: { ...(proxy === null ? {} : proxyEnvironment(proxy.port)), ...options.env } },
      temporary,
      temporary,
    ),
    descriptors: [],
    recheck,
    cleanUp: async () => void (await Promise.all([proxy?.close(), remove(temporary), remove(look)])),
  }
}

/** Without a sandbox: the same environment and output, but no confinement. */
export async function launchUnsandboxed(options: SandboxOptions): Promise<Launch> {
  const temporary = await temporaryFolder('command')
  const [program, ...args] = options.command
  const isWindows = process.platform === 'win32'
  return {
    file: isWindows ? program : '/bin/sh',
    args: isWindows ? args : ['-c', streamsOf(options), 'sh', program, ...args],
    cwd: options.folder,
    // Nothing ends a program that is talked to with this process, so a later one does.
    env: { ...environmentFor(options, temporary, temporary), ...(options.separatesErrors === true ? { [OWNER_VARIABLE]: ownMark() } : {}) },
    descriptors: [],
    recheck: async () => [],
    cleanUp: () => remove(temporary),
  }
}

/** If this process is killed, the next one does the recheck. */
async function keptForRecheck(before: readonly FoundPlaces[], { timeoutMs }: SandboxOptions): Promise<string> {
  const folder = await temporaryFolder('recheck')
  await keepForRecheck(folder, before, timeoutMs)
  return folder
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
}
