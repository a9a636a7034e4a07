import { describe, expect, it } from 'vitest'
import { bubblewrapArgs, pinnedFolders, type BubblewrapPlan } from './bubblewrap-args.ts'

const plan: BubblewrapPlan = {
  setup: {
    disablesUserNamespaces: true,
    root: [
      { path: '/usr', linkTo: null },
      { path: '/bin', linkTo: 'usr/bin' },
    ],
  },
  writable: ['/home/ada/Project'],
  readable: [],
  programs: { shown: [], covered: [], links: [] },
  hidden: [],
  frozen: [],
  pinned: [],
  folder: '/home/ada/Project/sub',
  env: { PATH: '/usr/bin', HOME: '/sandbox/home' },
  temporaryBytes: 1024,
  proxy: null,
  descriptors: { status: 3, seccomp: 4, files: [{ descriptor: 5, path: '/etc/passwd' }] },
}
const lineFor = (change: Partial<BubblewrapPlan> = {}) => bubblewrapArgs({ ...plan, ...change }).join(' ')

describe('the arguments for bubblewrap', () => {
  it.each([
    ['every namespace', '--unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts'],
    ['no namespace inside of it', '--disable-userns'],
    ['no rights', '--cap-drop ALL'],
    ['an end with its parent', '--die-with-parent'],
    ['no terminal', '--new-session'],
    ['the call filter', '--seccomp 4'],
    ['an empty environment', '--clearenv --setenv PATH /usr/bin --setenv HOME /sandbox/home'],
    ['the system, to read', '--ro-bind /usr /usr'],
    ['links of the system as they are', '--symlink usr/bin /bin'],
    ['made-up accounts', '--ro-bind-data 5 /etc/passwd'],
    ['memory for temporary files, bounded', '--size 1024 --tmpfs /tmp'],
    ['the folder, to write', '--bind /home/ada/Project /home/ada/Project'],
    ['the working folder', '--chdir /home/ada/Project/sub'],
  ])('include %s', (_, words) => expect(lineFor()).toContain(words))

  it('make only the given folder writable', () => {
    const args = bubblewrapArgs(plan)
    expect(args.filter((_, i) => ['--bind', '--bind-try', '--dev-bind', '--dev-bind-try'].includes(args[i - 1]!))).toEqual([
      '/home/ada/Project',
    ])
  })

  it.each(['/home', '/root', '/run', '/sys', '/etc', '/etc/shadow', '/etc/ssl', '/etc/pki', '/var', '/opt'])('never show %s', (path) =>
    expect(bubblewrapArgs(plan)).not.toContain(path),
  )

  it('show the proxy if there is one', () =>
    expect(lineFor({ proxy: { path: '/tmp/proxy/network', shownAt: '/sandbox/network' } })).toContain(
      '--ro-bind /tmp/proxy/network /sandbox/network',
    ))

  it('never share the network', () => expect(lineFor()).not.toContain('--share-net'))

  it.each<[string, Partial<BubblewrapPlan>, string]>([
    [
      'a closed folder as an empty one',
      { hidden: [{ path: '/home/ada/Project/data', kind: 'folder' }] },
      '--tmpfs /home/ada/Project/data --remount-ro /home/ada/Project/data',
    ],
    [
      'a closed file as an empty one',
      { hidden: [{ path: '/home/ada/Project/key', kind: 'file' }] },
      '--ro-bind /dev/null /home/ada/Project/key',
    ],
    [
      'frozen places read-only',
      { frozen: ['/home/ada/Project/.git/hooks'] },
      '--bind /home/ada/Project/.git /home/ada/Project/.git --ro-bind /home/ada/Project/.git/hooks',
    ],
    ['readable folders read-only', { readable: ['/data/set'] }, '--ro-bind /data/set /data/set --bind /home/ada/Project'],
  ])('show %s', (_, change, words) => expect(lineFor(change)).toContain(words))

  it('leave out what this bubblewrap or machine does not support', () => {
    const line = lineFor({
      setup: { ...plan.setup, disablesUserNamespaces: false },
      descriptors: { status: 3, seccomp: null, files: [] },
    })
    expect(line).not.toMatch(/--disable-userns|--seccomp/)
  })

  it('mount the given folders after everything but the hidden places', () => {
    const args = bubblewrapArgs({ ...plan, writable: ['/tmp/work'], folder: '/tmp/work' })
    expect(args.indexOf('/tmp/work')).toBeGreaterThan(args.lastIndexOf('/tmp'))
  })

  it('make the kernel files, the devices and the root read-only at the end', () =>
    expect(lineFor()).toMatch(/--remount-ro \/proc --remount-ro \/dev --remount-ro \/ --chdir \S+$/))

  it('keep a folder name with spaces in one argument', () => {
    const folder = '/home/ada/--bind / x\n$(id)'
    expect(bubblewrapArgs({ ...plan, writable: [folder], folder }).filter((arg) => arg === folder)).toHaveLength(3)
  })

  it.each<[string, string[], string[]]>([
    ['the folders between', ['/w/a/b/data'], ['/w/a', '/w/a/b']],
    ['nothing directly inside', ['/w/data'], []],
    ['nothing for what lies elsewhere', ['/other/data'], []],
    ['nothing for the folder itself', ['/w'], []],
    ['nothing for a folder with a longer name', ['/way/a/b'], []],
  ])('pin %s', (_, frozen, pinned) => expect(pinnedFolders({ writable: ['/w'], hidden: [], frozen, pinned: [] })).toEqual(pinned))
})
