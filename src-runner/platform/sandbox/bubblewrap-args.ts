import { dirname } from 'node:path'
import type { BubblewrapSetup, HiddenPlace, ShownPrograms } from './sandbox-types.ts'
import { isInside } from '../protected-places/places-by-path.ts'

export type BubblewrapPlan = {
  setup: Pick<BubblewrapSetup, 'disablesUserNamespaces' | 'root'>
  /** Real paths, and none inside another. */
  writable: readonly string[]
  readable: readonly string[]
  /** Mounted first, so that they never cover an agent's folder. */
  programs: Pick<ShownPrograms, 'shown' | 'covered' | 'links'>
  hidden: readonly HiddenPlace[]
  /** Read-only inside a writable folder. */
  frozen: readonly string[]
  /** Writable, but cannot be moved away. */
  pinned: readonly string[]
  folder: string
  env: Readonly<Record<string, string>>
  temporaryBytes: number
  /** The proxy's socket file outside, and where the sandbox shows it. */
  proxy: { path: string; shownAt: string } | null
  /** Descriptors from which bubblewrap reads what does not fit an argument. */
  descriptors: { status: number; seccomp: number | null; files: readonly { descriptor: number; path: string }[] }
}

export const SANDBOX_HOME = '/sandbox/home'

/** What programs need of /etc for libraries, certificates and the time zone. No accounts, keys or host names. */
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

/** The whole profile as bubblewrap's arguments. A later mount covers an earlier one. The sandbox shows nothing that is not listed here. */
export function bubblewrapArgs(plan: BubblewrapPlan): string[] {
  const { descriptors } = plan
  return [
    // A separate network too, because Deckhand's servers listen on the machine's loopback.
    '--unshare-user',
    '--unshare-ipc',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(plan.setup.disablesUserNamespaces ? ['--disable-userns'] : []),
    '--hostname',
    'sandbox',
    '--cap-drop',
    'ALL',
    '--die-with-parent',
    '--new-session',
    '--json-status-fd',
    String(descriptors.status),
    ...(descriptors.seccomp === null ? [] : ['--seccomp', String(descriptors.seccomp)]),

    '--clearenv',
    ...Object.entries(plan.env).flatMap(([name, value]) => ['--setenv', name, value]),

    ...plan.setup.root.flatMap(({ path, linkTo }) => (linkTo === null ? ['--ro-bind', path, path] : ['--symlink', linkTo, path])),
    ...ETC.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...descriptors.files.flatMap(({ descriptor, path }) => ['--ro-bind-data', String(descriptor), path]),

    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...memoryFolder('/dev/shm', plan.temporaryBytes),
    ...memoryFolder('/tmp', plan.temporaryBytes),
    ...memoryFolder(SANDBOX_HOME, plan.temporaryBytes),
    '--symlink',
    '../tmp',
    '/var/tmp',

    // `try`: a program that was just removed must not fail the command.
    ...plan.programs.shown.flatMap((path) => ['--ro-bind-try', path, path]),
    ...plan.programs.covered.flatMap(cover),
    ...plan.programs.links.flatMap(({ path, to }) => ['--symlink', to, path]),
    ...plan.readable.flatMap((path) => ['--ro-bind', path, path]),
    ...plan.writable.flatMap((path) => ['--bind', path, path]),
    ...pinnedFolders(plan).flatMap((path) => ['--bind', path, path]),
    ...plan.frozen.flatMap((path) => ['--ro-bind', path, path]),
    ...plan.hidden.flatMap(cover),

    ...(plan.proxy === null ? [] : ['--ro-bind', plan.proxy.path, plan.proxy.shownAt]),

    // For root in the sandbox the kernel's files would be writable.
    '--remount-ro',
    '/proc',
    '--remount-ro',
    '/dev',
    '--remount-ro',
    '/',
    '--chdir',
    plan.folder,
  ]
}

function cover({ path, kind }: HiddenPlace): string[] {
  return kind === 'folder' ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]
}

function memoryFolder(path: string, bytes: number): string[] {
  return ['--perms', '1777', '--size', String(bytes), '--tmpfs', path]
}

/**
 * The folders between a writable one and a hidden or frozen place inside it. As mount points they cannot be renamed, so
 * nobody can move a protected place away together with them.
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
