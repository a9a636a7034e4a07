import { dirname } from 'node:path'
import { HOMEBREW_PARTS } from '../programs/known-locations.ts'

/** Real paths, because Seatbelt compares with the real path of a file. */
export type SeatbeltPlan = {
  writable: readonly string[]
  readable: readonly string[]
  /** Hidden inside the others too. */
  closed: readonly string[]
  /** Visible, but not writable. */
  frozen: readonly string[]
  /** The private folder for temporary files and HOME. */
  temporary: string
  /** The proxy, which is all that the sandbox reaches. `anyHost`: it limits no hosts. */
  proxy: { port: number; anyHost: boolean } | null
}

/** MacPorts' other folders hold the data and the settings of services too. */
const MACPORTS_PARTS = ['bin', 'sbin', 'lib', 'libexec', 'share', 'Library', 'etc/openssl']

export const SEATBELT_SYSTEM = [
  '/bin',
  '/sbin',
  '/usr/bin',
  '/usr/sbin',
  '/usr/lib',
  '/usr/libexec',
  '/usr/share',
  // Go's own installer.
  '/usr/local/go',
  ...['/usr/local', '/opt/homebrew'].flatMap((prefix) => HOMEBREW_PARTS.map((part) => `${prefix}/${part}`)),
  ...MACPORTS_PARTS.map((part) => `/opt/local/${part}`),
  '/System/Library',
  '/System/Cryptexes',
  '/System/Volumes/Preboot/Cryptexes',
  '/Library/Apple',
  '/Library/Developer/CommandLineTools',
  '/Library/Frameworks',
  '/Library/Java',
  '/Applications/Xcode.app',
  '/private/etc/ssl',
  '/private/var/db/dyld',
  '/private/var/db/timezone',
  '/private/var/select',
]
const SYSTEM_FILES = [
  '/',
  '/etc',
  '/tmp',
  '/var',
  '/private/etc/hosts',
  '/private/etc/localtime',
  '/private/etc/protocols',
  '/private/etc/services',
  '/private/etc/shells',
]
const DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/dtracehelper', '/dev/tty']

/** The profile for `sandbox-exec`, in Apple's undocumented rule language. The last matching rule counts. Child processes inherit it. */
export function seatbeltProfile(plan: SeatbeltPlan): string {
  const readable = [...SEATBELT_SYSTEM, ...plan.readable, ...plan.writable, plan.temporary]
  const writable = [...plan.writable, plan.temporary]
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork)',
    '(allow process-info* signal (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow ipc-posix-sem)',
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    '(allow pseudo-tty)',
    '(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))',
    rule('allow file-read* file-write-data file-ioctl', 'literal', DEVICES),
    rule('allow file-read*', 'literal', SYSTEM_FILES),
    rule('allow file-read*', 'subpath', readable),
    // Opening a file checks that each folder of its path exists.
    rule('allow file-read-metadata', 'literal', ancestorsOf(readable)),
    rule('allow file-write*', 'subpath', writable),
    '(deny file-write-setugid)',
    rule('deny file-write*', 'subpath', plan.frozen),
    rule('deny file-read* file-write*', 'subpath', plan.closed),
    // Folders around a protected place cannot be renamed away with it.
    rule(
      'deny file-write-unlink',
      'literal',
      ancestorsOf([...plan.frozen, ...plan.closed]).filter((path) => path !== '/'),
    ),
    ...(plan.proxy === null ? [] : networkOf(plan.proxy)),
  ]
    .filter((line) => line !== '')
    .join('\n')
}

/**
 * The only way out is the proxy, which also resolves names. The service that verifies certificates fetches addresses that they name, from
 * outside of the sandbox, so it is closed where hosts are limited.
 */
function networkOf({ port, anyHost }: NonNullable<SeatbeltPlan['proxy']>): string[] {
  return [
    `(allow network-outbound (remote ip "localhost:${port}"))`,
    '(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd"))',
    ...(anyHost ? ['(allow mach-lookup (global-name "com.apple.trustd.agent"))'] : []),
  ]
}

function rule(action: string, kind: 'literal' | 'subpath', paths: readonly string[]): string {
  return paths.length === 0 ? '' : `(${action} ${paths.map((path) => `(${kind} ${quote(path)})`).join(' ')})`
}

/** A folder's name must not be able to add a rule. */
function quote(path: string): string {
  if (/[\0\n\r]/.test(path)) throw new Error('a path in a Seatbelt profile cannot hold line breaks')
  return `"${path.replace(/[\\"]/g, (char) => `\\${char}`)}"`
}

function ancestorsOf(paths: readonly string[]): string[] {
  const ancestors = new Set<string>()
  for (const path of paths) {
    for (let parent = dirname(path); !ancestors.has(parent); parent = dirname(parent)) ancestors.add(parent)
  }
  return [...ancestors].sort()
}
