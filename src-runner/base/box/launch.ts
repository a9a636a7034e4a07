import { realpath, rm } from 'node:fs/promises'
import { delimiter } from 'node:path'
import { isInside } from '../protected-places/protected-places.ts'
import type { FoundPlaces } from '../protected-places/find-protected.ts'
import type { SetAside } from '../protected-places/set-aside.ts'
import { guardFolders, identifyFolder, outermost, type FolderIdentity } from './box-folders.ts'
import { BoxFailed, type BoxLimits, type BoxOptions, type BubblewrapSetup, type SeatbeltSetup } from './box-types.ts'
import { createControlGroup } from './control-group.ts'
import { BOX_HOME, bubblewrapArgs, pinnedFolders, type BubblewrapPlan } from './bubblewrap-args.ts'
import { keepForLateLook } from './late-look.ts'
import { OWNER_VARIABLE, ownMark, temporaryFolder } from './leftovers.ts'
import { CARRIER, DOOR_IN_BOX, openNetworkDoor, proxyEnvironment, type NetworkDoorOptions } from './network-door.ts'
import { seatbeltProfile } from './seatbelt-profile.ts'
import { seccompFilter } from './seccomp-filter.ts'

/** How to start a process so that it is in the box from its first instruction on. */
export type Launch = {
  file: string
  args: string[]
  cwd: string
  env: Record<string, string>
  /** What the process finds on its descriptors from 3 on. `status`: bubblewrap reports there. */
  descriptors: readonly (Buffer | 'status')[]
  /** After the process has ended, and all that it had started. */
  lookAfter(): Promise<SetAside[]>
  cleanUp(): Promise<void>
}

/** Where the system's programs are, boxed or not. */
export function programFolders(platform: NodeJS.Platform = process.platform, env: NodeJS.ProcessEnv = process.env): string[] {
  if (platform === 'win32') {
    const root = env['SystemRoot'] ?? 'C:\\Windows'
    const programs = env['ProgramFiles'] ?? 'C:\\Program Files'
    return [`${root}\\System32`, root, `${root}\\System32\\WindowsPowerShell\\v1.0`, `${programs}\\nodejs`, `${programs}\\Git\\cmd`]
  }
  const common = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin']
  return platform === 'darwin' ? ['/opt/homebrew/bin', ...common] : common
}

/** Everything that a command finds in its environment. Nothing is inherited but the language and the time zone. */
function environmentFor(options: BoxOptions, home: string, temporary: string): Record<string, string> {
  const inherited = Object.fromEntries(
    ['TZ', 'LANG', 'LC_ALL', ...(process.platform === 'win32' ? ['SystemRoot', 'SystemDrive', 'PATHEXT', 'ComSpec', 'ProgramFiles'] : [])]
      .map((name) => [name, process.env[name]] as const)
      .filter((entry): entry is readonly [string, string] => entry[1] !== undefined),
  )
  return {
    LANG: 'C.UTF-8',
    ...inherited,
    ...options.programs?.env,
    PATH: (options.programs?.path ?? programFolders()).join(delimiter),
    HOME: home,
    TMPDIR: temporary,
    ...(process.platform === 'win32' ? { TEMP: temporary, TMP: temporary, USERPROFILE: home } : {}),
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
 * Runs in the box before the command: compares each folder with the one that was meant, so that a link which was put
 * in its place between the question and the mount opens nothing; opens the way to the network where there is one; and
 * joins the two output streams into one, in order.
 */
const LOOK_AGAIN = `stat=$1; shift
while [ "$1" != -- ]; do
  if [ "$("$stat" -c %d:%i "$1")" != "$2" ]; then echo "box: a folder was exchanged while the box was built: $1" >&2; exit 125; fi
  shift 2
done
shift
if [ -n "$1" ]; then "$1" -I -c "$2" || { echo "box: the way to the network could not be opened" >&2; exit 125; }; fi
shift 2
exec "$@" 2>&1`

/** Joins the two output streams, and nothing else. */
const JOIN_STREAMS = 'exec "$@" 2>&1'

/**
 * What root needs beyond others: to be counted, and not to own the device files. Root could change who on this machine
 * may use those, unless they are mounted read-only. Joining comes before the private mounts: it is a file out there.
 */
const JOIN_GROUPS = `while [ "$1" != -- ]; do echo $$ > "$1"; shift; done 2>/dev/null; shift
exec "$@"`
const SEAL_DEVICES = `mount=$1; shift
for device in full null random tty urandom zero; do
  "$mount" --bind /dev/$device /dev/$device && "$mount" -o remount,bind,ro /dev/$device || exit 125
done
exec "$@"`

export async function launchInBubblewrap(setup: BubblewrapSetup, options: BoxOptions, limits: BoxLimits): Promise<Launch> {
  const writable = outermost(options.writable)
  if (![...writable, ...(options.readable ?? [])].some((folder) => isInside(folder, options.folder)))
    throw new BoxFailed(`The command cannot start in ${options.folder}, which the box does not show.`)
  const readable = (options.readable ?? []).filter((path) => !writable.includes(path))
  const programs = await programsBeside(options, writable)
  const folders = await Promise.all([...writable, ...readable].map(identifyFolder))
  const { hidden, frozen, pinned: movable, lookAfter, before } = await guardFolders({ writable, readable }, options.closed ?? [])
  const pinned = await Promise.all(
    pinnedFolders({ writable, hidden, frozen: frozen.map(({ path }) => path), pinned: movable }).map(identifyFolder),
  )
  const filter = seccompFilter(process.arch)
  const door = wantsNetwork(options) && setup.programs.python !== null ? await openNetworkDoor(networkOptions(options)) : null

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
    env: environmentFor({ ...options, env: { ...(door === null ? {} : proxyEnvironment()), ...options.env } }, BOX_HOME, '/tmp'),
    door: door === null ? null : { path: door.socketPath, shownAt: DOOR_IN_BOX },
    temporaryBytes: limits.temporaryBytes,
    descriptors: { status, seccomp, files },
  })
  // As a file, since everybody in the box can read the command line of its first process.
  const profileAt = put(Buffer.from(profile.map((arg) => `${arg}\0`).join('')))

  const { sh, stat, prlimit, nice, choom, unshare, mount } = setup.programs
  const group = await createControlGroup(ownMark(), limits)
  const sealing = process.getuid?.() === 0 && unshare !== null && mount !== null
  const [file, ...args] = [
    ...(group === null ? [] : [sh, '-c', JOIN_GROUPS, 'sh', ...group.doors, '--']),
    ...(choom === null ? [] : [choom, '-n', '900', '--']),
    ...[nice, '-n', '10'],
    ...(sealing ? [unshare, '--mount', '--propagation', 'private', sh, '-c', SEAL_DEVICES, 'sh', mount] : []),
    ...[setup.bwrap, '--args', String(profileAt), '--'],
    ...[
      sh,
      '-c',
      LOOK_AGAIN,
      'sh',
      stat,
      ...[...folders, ...pinned, ...frozen].flatMap(({ path, identity }: FolderIdentity) => [path, identity]),
      '--',
      ...(door === null ? ['', ''] : [setup.programs.python!, CARRIER]),
    ],
    ...[prlimit, ...resourceLimits(setup, limits), '--'],
    ...options.command,
  ] as [string, ...string[]]
  // The first process in the box shows to everybody there the environment that bubblewrap itself was started with.
  const env = { PATH: programFolders().join(delimiter), [OWNER_VARIABLE]: ownMark() }
  const look = await keptForLateLook(before, options)
  const cleanUp = async () => {
    await Promise.all([group?.remove(), door?.close(), remove(look)])
  }
  return { file, args, cwd: '/', env, descriptors, lookAfter, cleanUp }
}

/**
 * What is shown of programs, as it is at this moment. Nothing of it may lie where the command writes, nor around that:
 * read-only is what makes a program the person's.
 */
async function programsBeside({ programs }: BoxOptions, writable: readonly string[]): Promise<BubblewrapPlan['programs']> {
  const isThere = async (path: string) => (await realpath(path).catch(() => null)) === path
  const isApart = (path: string) => !writable.some((folder) => isInside(folder, path) || isInside(path, folder))
  const shown = (programs?.shown ?? []).filter(isApart)
  const inShown = (programs?.covered ?? []).filter(({ path }) => shown.some((place) => isInside(place, path)))
  const covered = await Promise.all(inShown.map(async (place) => ((await isThere(place.path)) ? [place] : [])))
  return { shown, covered: covered.flat(), links: programs?.links ?? [] }
}

function wantsNetwork({ network }: BoxOptions): boolean {
  return network !== undefined && network !== false
}

function networkOptions({ network }: BoxOptions): NetworkDoorOptions {
  return typeof network === 'object' ? network : {}
}

function resourceLimits(setup: Pick<BubblewrapSetup, 'countsProcessesPerBox'>, limits: BoxLimits): string[] {
  return [
    // Counts threads as well. Processes are counted from outside, where root is counted, too.
    ...(setup.countsProcessesPerBox ? [`--nproc=${limits.processes * 4}`] : []),
    // What is allocated, not what is merely reserved: JavaScript engines reserve address space by the terabyte.
    `--data=${limits.memoryBytesEach}`,
    `--fsize=${limits.fileBytes}`,
    '--core=0',
  ]
}

/** Who there is in the box: the person's own number under a name that tells nothing, and nobody else. */
function accountFiles(): Record<string, string> {
  const uid = process.getuid!()
  const gid = process.getgid!()
  return {
    '/etc/passwd': `agent:x:${uid}:${gid}:agent:${BOX_HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n`,
    '/etc/group': `agent:x:${gid}:\nnogroup:x:65534:\n`,
    '/etc/hosts': '127.0.0.1 localhost box\n::1 localhost\n',
  }
}

export async function launchInSeatbelt(setup: SeatbeltSetup, options: BoxOptions): Promise<Launch> {
  const writable = outermost(options.writable)
  await Promise.all([...writable, ...(options.readable ?? [])].map(identifyFolder))
  const folders = { writable, readable: options.readable ?? [] }
  const { hidden, frozen, lookAfter, before } = await guardFolders(folders, options.closed ?? [])
  const { shown, covered } = await programsBeside(options, writable)
  const temporary = await temporaryFolder('command')
  const profile = seatbeltProfile({
    writable,
    readable: [...shown, ...(options.readable ?? [])],
    closed: [...covered, ...hidden].map(({ path }) => path),
    frozen: frozen.map(({ path }) => path),
    temporary,
    network: wantsNetwork(options),
  })
  const look = await keptForLateLook(before, options)
  return {
    file: setup.sandboxExec,
    args: ['-p', profile, setup.sh, '-c', JOIN_STREAMS, 'sh', ...options.command],
    cwd: options.folder,
    env: environmentFor(options, temporary, temporary),
    descriptors: [],
    lookAfter,
    cleanUp: async () => void (await Promise.all([remove(temporary), remove(look)])),
  }
}

/** Without a box: the same environment and the same joined output, and nothing that holds the command in. */
export async function launchUnboxed(options: BoxOptions): Promise<Launch> {
  const temporary = await temporaryFolder('command')
  const [program, ...args] = options.command
  const isWindows = process.platform === 'win32'
  return {
    file: isWindows ? program : '/bin/sh',
    args: isWindows ? args : ['-c', JOIN_STREAMS, 'sh', program, ...args],
    cwd: options.folder,
    env: environmentFor(options, temporary, temporary),
    descriptors: [],
    lookAfter: async () => [],
    cleanUp: () => remove(temporary),
  }
}

/** Should this process be killed, the next one looks at what the command has left. */
async function keptForLateLook(before: readonly FoundPlaces[], { timeoutMs }: BoxOptions): Promise<string> {
  const folder = await temporaryFolder('look')
  await keepForLateLook(folder, before, timeoutMs)
  return folder
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
}
