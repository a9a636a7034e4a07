// From a fresh clone to something that runs. Every step looks at what is really there, so a second time is quick and an
// interrupted run simply goes on.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectNode, root, run, say, Stop, tail } from './run.mjs'
import { installedElectron, setUpElectron } from './setup-electron.mjs'
import { installSystemPackages, missingPackages } from './system-packages.mjs'

const logFile = (name) => join(root, '.deckhand/log', `${name}.log`)

/**
 * Makes the clone ready. `uses` names what for: 'window' brings Electron and its libraries, 'tests' the virtual desktop.
 * Throws Stop with a line that says what to do.
 *
 * `standIn`: what may be done where the official Electron cannot be had. allow: another party's build, for tests and
 * development. ask: only if the person agrees. never: for what reaches users.
 */
export async function setUp(uses = [], { standIn = 'allow' } = {}) {
  const fresh = !modulesAreCurrent()
  await installSystemPackages(fresh ? ['compile', 'sandbox', ...uses] : uses)
  if (fresh) await installModules()
  if (uses.includes('window')) {
    await setUpElectron(say, standIn).catch((error) => {
      throw new Stop(error.message)
    })
    if (!installedElectron()) throw new Stop('Electron is not there although its installation reported success.')
  }
}

/** True when node_modules holds what the lock file asks for. Optional packages of other platforms do not count. */
function modulesAreCurrent() {
  const wanted = readLock('package-lock.json')
  const present = readLock('node_modules/.package-lock.json')
  if (!wanted || !present || !existsSync(projectNode)) return false
  return Object.entries(wanted).every(([path, { version, optional }]) => path === '' || optional || present[path]?.version === version)
}

/** npm writes node_modules/.package-lock.json as its very last act, so it is never there half done. */
function readLock(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8')).packages
  } catch {
    return null
  }
}

async function installModules() {
  say('installing npm packages (about a minute the first time)')
  const log = logFile('npm')
  // Where keytar has to be compiled, the headers come with the `node` package instead of from nodejs.org.
  const headers = join(root, 'node_modules/node/node_modules', `node-${process.platform}-${process.arch}`)
  const env = process.platform === 'linux' ? { npm_config_nodedir: headers } : {}
  if ((await run('npm', ['ci', '--no-audit', '--no-fund'], { env, log })) === 0) return
  const packages = missingPackages(['compile'])
  throw new Stop(
    packages
      ? `npm ci failed; a compiler is missing. Install it and try again: sudo ${packages}`
      : `npm ci failed (whole log: ${log})\n${tail(log)}`,
  )
}

/** What the three builds are made from. */
const SOURCES = [
  'src-main',
  'src-renderer',
  'src-runner',
  'resources',
  'electron.vite.config.ts',
  'build/data-modules.ts',
  'build/licenses.ts',
  'package.json',
  'package-lock.json',
]

const STAMP = join(root, 'out/.built-from')

/** Builds unless `out/` was made from exactly these sources. */
export async function build() {
  const sources = fingerprint(SOURCES)
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sources) return
  say('building')
  forgetBuild()
  const log = logFile('build')
  if ((await run('electron-vite', ['build'], { log })) !== 0) throw new Stop(`the build failed (whole log: ${log})\n${tail(log)}`)
  writeFileSync(STAMP, sources)
}

/** Before something writes to `out/` that may end halfway, or that is no build of these sources. */
export function forgetBuild() {
  rmSync(STAMP, { force: true })
}

/** A digest over names and contents: modification times lie after a checkout. */
function fingerprint(paths) {
  const hash = createHash('sha256')
  const visit = (path) => {
    const entries = readFolder(join(root, path))
    if (entries) for (const entry of entries) visit(`${path}/${entry}`)
    else if (!/\.test\.tsx?$/.test(path))
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(root, path)))
        .update('\0')
  }
  for (const path of paths) visit(path)
  return hash.digest('hex')
}

function readFolder(path) {
  try {
    return readdirSync(path).sort()
  } catch (error) {
    if (error.code === 'ENOTDIR') return null
    throw error
  }
}
