import { dirname } from 'node:path'
import type { BubblewrapSetup, ShownPrograms } from './box-types.ts'
import { isInside } from '../protected-places/protected-places.ts'

/** A place that the box shows differently from what is there. */
export type HiddenPlace = { path: string; kind: 'file' | 'folder' }

export type BubblewrapPlan = {
  setup: Pick<BubblewrapSetup, 'disablesUserNamespaces' | 'root'>
  /** Real paths, and none inside another. */
  writable: readonly string[]
  readable: readonly string[]
  /** Come before all others: a folder of an agent is never covered by them. */
  programs: Pick<ShownPrograms, 'shown' | 'covered' | 'links'>
  hidden: readonly HiddenPlace[]
  /** Inside a writable folder, but not writable. */
  frozen: readonly string[]
  /** Writable, and cannot be moved away. */
  pinned: readonly string[]
  folder: string
  env: Readonly<Record<string, string>>
  temporaryBytes: number
  /** A socket file outside, and where the box shows it. */
  door: { path: string; shownAt: string } | null
  /** Descriptors on which bubblewrap finds what does not fit an argument. */
  descriptors: { status: number; seccomp: number | null; files: readonly { descriptor: number; path: string }[] }
}

export const BOX_HOME = '/box/home'

/** What programs need of /etc to find libraries, certificates, the time zone. No accounts, no keys, no names of this network. */
const ETC = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'fonts',
  'host.conf',
  'inputrc',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'magic',
  'mime.types',
  'nsswitch.conf',
  'perl',
  'pki/ca-trust/extracted',
  'pki/tls/certs',
  'pki/tls/openssl.cnf',
  'protocols',
  'python3',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
]

/**
 * The whole profile as bubblewrap's arguments, in the order in which they take effect: a later one covers an earlier.
 * Nothing of the machine is there unless a line here puts it there.
 */
export function bubblewrapArgs(plan: BubblewrapPlan): string[] {
  const { descriptors } = plan
  return [
    // Also of the network: sharing it would share the loopback, where Deckhand's own servers listen.
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
    ...(plan.setup.disablesUserNamespaces ? ['--disable-userns'] : []),
    ...['--hostname', 'box', '--cap-drop', 'ALL', '--die-with-parent', '--new-session'],
    ...['--json-status-fd', String(descriptors.status)],
    ...(descriptors.seccomp === null ? [] : ['--seccomp', String(descriptors.seccomp)]),

    '--clearenv',
    ...Object.entries(plan.env).flatMap(([name, value]) => ['--setenv', name, value]),

    ...plan.setup.root.flatMap(({ path, linkTo }) => (linkTo === null ? ['--ro-bind', path, path] : ['--symlink', linkTo, path])),
    ...ETC.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...descriptors.files.flatMap(({ descriptor, path }) => ['--ro-bind-data', String(descriptor), path]),

    ...['--proc', '/proc', '--dev', '/dev'],
    ...memoryFolder('/dev/shm', plan.temporaryBytes),
    ...memoryFolder('/tmp', plan.temporaryBytes),
    ...memoryFolder(BOX_HOME, plan.temporaryBytes),
    ...['--symlink', '../tmp', '/var/tmp'],

    // Whoever removes a program meanwhile does not stop the command.
    ...plan.programs.shown.flatMap((path) => ['--ro-bind-try', path, path]),
    ...plan.programs.covered.flatMap(cover),
    ...plan.programs.links.flatMap(({ path, to }) => ['--symlink', to, path]),
    ...plan.readable.flatMap((path) => ['--ro-bind', path, path]),
    ...plan.writable.flatMap((path) => ['--bind', path, path]),
    ...pinnedFolders(plan).flatMap((path) => ['--bind', path, path]),
    ...plan.frozen.flatMap((path) => ['--ro-bind', path, path]),
    ...plan.hidden.flatMap(cover),

    ...(plan.door === null ? [] : ['--ro-bind', plan.door.path, plan.door.shownAt]),

    // Where the box has the same user number as the system's own, files of the kernel are that user's to write.
    ...['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', plan.folder],
  ]
}

function cover({ path, kind }: HiddenPlace): string[] {
  return kind === 'folder' ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]
}

function memoryFolder(path: string, bytes: number): string[] {
  return ['--perms', '1777', '--size', String(bytes), '--tmpfs', path]
}

/**
 * The folders between a writable one and something hidden or frozen inside it. As places where something is mounted
 * they cannot be renamed away, together with what they protect, to make room for a copy that nobody watches.
 */
export function pinnedFolders(plan: Pick<BubblewrapPlan, 'writable' | 'hidden' | 'frozen' | 'pinned'>): string[] {
  const pinned = new Set<string>(plan.pinned)
  for (const path of [...plan.hidden.map((hidden) => hidden.path), ...plan.frozen, ...plan.pinned]) {
    const holder = plan.writable.find((folder) => folder !== path && isInside(folder, path))
    if (holder === undefined) continue
    for (let parent = dirname(path); parent !== holder; parent = dirname(parent)) pinned.add(parent)
  }
  return [...pinned].sort()
}
