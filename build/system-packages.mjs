// What Deckhand needs from the machine itself. Looked for by what it is good for (a command, a shared library), not by
// package name, so that the answer is right on any distribution; installed through apt where that is allowed.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run, say, Stop, tail, root } from './run.mjs'

/** Where a program is on this machine, or null. */
export function findCommand(name) {
  const folder = (process.env.PATH ?? '').split(delimiter).find((candidate) => existsSync(join(candidate, name)))
  return folder === undefined ? null : join(folder, name)
}

const command = (name) => () => findCommand(name) !== null

let knownLibraries
const library = (name) => () => {
  knownLibraries ??= spawnSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' }).stdout ?? ''
  return knownLibraries.includes(`${name} `)
}

const headers = (name) => () => spawnSync('pkg-config', ['--exists', name]).status === 0

const anyFont = () => existsSync('/usr/share/fonts') && readdirSync('/usr/share/fonts').length > 0

/** Per use: what to look for, and the Debian packages that bring it, the newest name first. The first that apt knows is taken. */
const NEEDS = {
  /** keytar, which reads the keychain, is compiled where its ready-made binary cannot be fetched. */
  compile: [
    [command('python3'), ['python3']],
    [command('make'), ['make']],
    [command('g++'), ['g++']],
    [command('pkg-config'), ['pkg-config']],
    [headers('libsecret-1'), ['libsecret-1-dev']],
  ],
  /** What fences the programs that agents run. */
  sandbox: [[command('bwrap'), ['bubblewrap']]],
  window: [
    [library('libgtk-3.so.0'), ['libgtk-3-0t64', 'libgtk-3-0']],
    [library('libnss3.so'), ['libnss3']],
    [library('libasound.so.2'), ['libasound2t64', 'libasound2']],
    [library('libgbm.so.1'), ['libgbm1']],
    [anyFont, ['fonts-dejavu-core']],
  ],
  tests: [
    [command('git'), ['git']],
    [command('bwrap'), ['bubblewrap']],
    [command('Xvfb'), ['xvfb']],
    [command('xauth'), ['xauth']],
    [command('dbus-run-session'), ['dbus']],
    [command('gnome-keyring-daemon'), ['gnome-keyring']],
  ],
  packaging: [[command('7za'), ['p7zip-full']]],
  /** What clicks in dialogs of the system, which are outside of any page. */
  installed: [[command('xdotool'), ['xdotool']]],
}

const missingFor = (uses) => uses.flatMap((use) => NEEDS[use]).filter(([present]) => !present())

/** A command line that would bring what is missing for these uses, or null when nothing is. */
export function missingPackages(uses) {
  if (process.platform !== 'linux') return null
  const missing = missingFor(uses)
  return missing.length > 0 ? `apt-get install ${missing.map(([, names]) => packageFor(names)).join(' ')}` : null
}

/** The name that this release has for a package. Without an answer from apt, the newest. */
export function packageFor(names, known = isInstallable) {
  return names.find((name) => known(name)) ?? names[0]
}

/** Installs what is missing where that is possible without more rights than there are; else leaves it as it is. */
export async function installSystemPackages(uses) {
  if (process.platform !== 'linux') return
  const missing = missingFor(uses)
  if (missing.length === 0) return
  const rights = installRights()
  if (!rights || !command('apt-get')()) {
    say(`some system packages are missing and cannot be installed from here; on Debian or Ubuntu: sudo ${missingPackages(uses)}`)
    return
  }
  const log = join(root, '.deckhand/log/apt.log')
  const apt = (...args) =>
    run(rights[0] ?? 'apt-get', [...rights.slice(1), ...(rights.length > 0 ? ['apt-get'] : []), '-o', 'DPkg::Lock::Timeout=300', ...args], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
      log,
    })
  say('installing system packages: asking apt what there is')
  if ((await apt('update')) !== 0) throw new Stop(`apt-get update failed (whole log: ${log})\n${tail(log)}`)
  const names = missing.map(([, candidates]) => packageFor(candidates))
  say(`installing system packages: ${names.join(' ')}`)
  if ((await apt('install', '-y', '--no-install-recommends', ...names)) !== 0)
    throw new Stop(`apt-get install failed (whole log: ${log})\n${tail(log)}`)
  knownLibraries = undefined
}

/** The words to put before apt-get: none for root, sudo where it needs no password or somebody is there to type it. */
function installRights() {
  if (process.getuid() === 0) return []
  if (!command('sudo')()) return null
  if (spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0) return ['sudo', '-n', '-E']
  return process.stdin.isTTY ? ['sudo', '-E'] : null
}

/** A virtual package has no version of its own: apt shows "(none)" as its candidate. */
function isInstallable(name) {
  const { stdout } = spawnSync('apt-cache', ['policy', name], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } })
  return /Candidate: (?!\(none\))/.test(stdout ?? '')
}
