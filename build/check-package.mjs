// What must be true of every package, looked up in the package itself. `npm run package` refuses one with faults.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { projectNode } from './run.mjs'

/** Modules of the app that come from others: each in another way. */
const LICENSED = ['better-sqlite3', 'electron', 'fastify', 'keytar', 'solid-js', 'tailwindcss', 'zod']

/** https://github.com/electron/fuses: each fuse in its place, and what it has to be ('0' off, '1' on). */
const FUSES = [
  ['RunAsNode', '0'],
  ['EnableCookieEncryption', '1'],
  ['EnableNodeOptionsEnvironmentVariable', '0'],
  ['EnableNodeCliInspectArguments', '0'],
  ['EnableEmbeddedAsarIntegrityValidation', '1'],
  ['OnlyLoadAppFromAsar', '1'],
  ['LoadBrowserProcessSpecificV8Snapshot', '0'],
  ['GrantFileProtocolExtraPrivileges', '0'],
]
/** What a library uses if it is there, and does without. */
const OPTIONAL = ['@opentelemetry/api', 'audio-decode', 'jimp', 'link-preview-js', 'sharp']
/**
 * Imports each file and prints what could not be imported, and why. One library finds in Reflect what src-main/net/certificate.ts
 * puts there.
 */
const LOADER = `
  const failed = []
  Object.assign(Reflect, { getMetadata() {}, getOwnMetadata() {}, defineMetadata() {} })
  for (const url of process.argv.slice(1)) await import(url).catch((error) => failed.push([url.split('/').at(-1), String(error?.message ?? error)]))
  process.stdout.write(JSON.stringify(failed), () => process.exit(0))`

const FUSE_SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'

/**
 * Sentences about what is wrong with an unpacked app; none: it may be given to people, or tested.
 *
 * @param {{ resources: string, program: string, notices: string | null, isTest?: boolean, repository?: string | null, electron?: string | null }} app
 * `program`: the file that holds the fuses. `notices`: the folder with the licences of Electron; null: they are elsewhere.
 * `repository`: set for a release.
 */
export function findFaults({ resources, program, notices, isTest = false, repository = null, electron = null }) {
  const asar = readAsar(join(resources, 'app.asar'))
  const faults = []
  if (existsSync(join(resources, 'default_app.asar'))) faults.push("Electron's default_app.asar is in the package")
  for (const path of asar.paths()) {
    if (/e2e-hooks|\/testing\/|\.test\.|\.map$/.test(path)) faults.push(`${path} is for tests and development`)
    else if (/^out\/.*\.js$/.test(path) && asar.read(path).includes('deckhandTest')) faults.push(`${path} contains the hooks of tests`)
  }
  const licenses = asar.has('out/renderer/third-party-licenses.txt') ? asar.read('out/renderer/third-party-licenses.txt').toString() : null
  if (licenses === null) faults.push('the licences of third parties are missing')
  else for (const name of LICENSED) if (!licenses.includes(`\n${name} `)) faults.push(`the licence of ${name} is missing`)
  if (!asar.has('LICENSE')) faults.push('the licence of Deckhand is missing')
  for (const file of notices === null ? [] : ['LICENSE.electron.txt', 'LICENSES.chromium.html'])
    if (!existsSync(join(notices, file))) faults.push(`${file} is missing`)
  const about = JSON.parse(asar.read('package.json').toString())
  if ((about.testBuild === true) !== isTest) faults.push(isTest ? 'a test build does not say so' : 'a test build is not for people')
  const bytes = readFileSync(program)
  if (repository !== null) faults.push(...findReleaseFaults({ about, resources, repository, electron, bytes }))
  return [...faults, ...findFuseFaults(bytes, isTest)]
}

function findReleaseFaults({ about, resources, repository, electron, bytes }) {
  const faults = []
  if (about.updates?.repository !== repository || !about.updates?.key) faults.push('the app does not know where its updates come from')
  if (about.homepage !== `https://github.com/${repository}`) faults.push(`the home page is ${about.homepage}`)
  const feed = join(resources, 'app-update.yml')
  if (!existsSync(feed) || !readFileSync(feed, 'utf8').includes('provider: github')) faults.push('app-update.yml is missing')
  // Every process of Electron says its version to web servers, so it is in the program.
  if (!bytes.includes(`Electron/${electron}`) && !bytes.includes(electron)) faults.push(`this is not Electron ${electron}`)
  return faults
}

function findFuseFaults(bytes, isTest) {
  const at = bytes.indexOf(FUSE_SENTINEL)
  if (at === -1) return ['the fuses of Electron cannot be found']
  // A version and a count, a byte each, stand between the sentinel and the fuses.
  const first = at + FUSE_SENTINEL.length + 2
  return FUSES.flatMap(([name, always], position) => {
    const wanted = isTest && name === 'EnableNodeCliInspectArguments' ? '1' : always
    return String.fromCharCode(bytes[first + position]) === wanted ? [] : [`the fuse ${name} is not ${wanted === '1' ? 'on' : 'off'}`]
  })
}

/**
 * @param {string} file
 * @param {string[]} recommends what the configuration asks for
 * @param {string | null} [repository] set for a release
 */
export function findDebFaults(file, recommends, repository = null) {
  const read = (name) => execFileSync('dpkg-deb', ['--field', file, name], { encoding: 'utf8' }).trim()
  const present = read('Recommends').split(/\s*,\s*/)
  const faults = recommends.filter((wanted) => !present.includes(wanted)).map((wanted) => `the package does not recommend ${wanted}`)
  if (repository !== null && read('Homepage') !== `https://github.com/${repository}`) faults.push(`the home page is ${read('Homepage')}`)
  const files = execFileSync('dpkg-deb', ['--fsys-tarfile', file], { maxBuffer: 2 ** 31 - 1 })
  const entry = spawnSync('tar', ['-xO', './usr/share/applications/deckhand.desktop'], { input: files, encoding: 'utf8' }).stdout
  if (!/^MimeType=.*x-scheme-handler\/deckhand;/m.test(entry)) faults.push('the package does not register deckhand:// links')
  if (!/^Exec=\S+ %U$/m.test(entry)) faults.push('the package does not pass links on as one argument')
  return faults
}

/**
 * Sentences about the parts of main and runner that only an installation could not load: those that are read when they are first
 * needed, and look for a library that is in the folder of development but not in the package. The package is unpacked apart from
 * that folder, and each part is loaded. What needs Electron is loaded by every start.
 */
export function findUnloadable(resources) {
  const asar = readAsar(join(resources, 'app.asar'))
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-parts-'))
  try {
    if (existsSync(join(resources, 'app.asar.unpacked'))) cpSync(join(resources, 'app.asar.unpacked'), folder, { recursive: true })
    for (const path of asar.paths()) {
      if (!/^(package\.json|out\/main\/|node_modules\/)/.test(path) || asar.isUnpacked(path)) continue
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), asar.read(path))
    }
    const parts = asar.paths().filter((path) => /^out\/main\/chunks\/.+\.js$/.test(path) && !/\bfrom ?"electron"/.test(asar.read(path)))
    const urls = parts.map((path) => pathToFileURL(join(folder, path)).href)
    const { status, stdout, stderr } = spawnSync(projectNode, ['--input-type=module', '--eval', LOADER, '--', ...urls], {
      encoding: 'utf8',
    })
    if (status !== 0) return [`the parts of the package cannot be loaded: ${stderr}`]
    const isExpected = (reason) => OPTIONAL.some((name) => reason.includes(`"${name}"`))
    return JSON.parse(stdout).flatMap(([name, reason]) => (isExpected(reason) ? [] : [`${name} cannot be loaded: ${reason}`]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The `recommends` line of electron-builder.yml. */
export function readRecommends(text) {
  const [, list] = /^ {2}recommends: \[(.+)\]$/m.exec(text) ?? []
  if (list === undefined) throw new Error('electron-builder.yml has no recommends')
  return list.split(',').map((one) => one.trim())
}

/** https://github.com/electron/asar: four sizes, the index as JSON, then the files one after the other. */
function readAsar(file) {
  const bytes = readFileSync(file)
  const index = JSON.parse(bytes.toString('utf8', 16, 16 + bytes.readUInt32LE(12)))
  const content = bytes.subarray(8 + bytes.readUInt32LE(4))
  const files = new Map()
  collect(index.files, '', files)
  return {
    paths: () => [...files.keys()],
    has: (path) => files.has(path),
    isUnpacked: (path) => files.get(path).unpacked === true,
    read: (path) => content.subarray(Number(files.get(path).offset), Number(files.get(path).offset) + files.get(path).size),
  }
}

function collect(entries, folder, files) {
  for (const [name, entry] of Object.entries(entries)) {
    if (entry.files !== undefined) collect(entry.files, `${folder}${name}/`, files)
    else files.set(folder + name, entry)
  }
}

/** Faults of everything that was made in `dist`. */
export function checkDist(dist, { recommends, isTest, repository, electron }) {
  const names = readdirSync(dist)
  const apps = unpackedApps(dist, names)
  const faults = apps.flatMap((app) => [
    ...findFaults({ ...app, isTest, repository, electron }),
    ...findUnloadable(app.resources),
    ...(app.hasIntegrity() ? [] : ['the digest of app.asar is not in the program']),
  ])
  const debs = names.filter((name) => name.endsWith('.deb')).flatMap((name) => findDebFaults(join(dist, name), recommends, repository))
  return [...(apps.length === 0 ? ['there is no unpacked app to look at'] : faults), ...debs]
}

/** Each system has its own places. Linux knows no digest of app.asar: https://www.electronjs.org/docs/latest/tutorial/asar-integrity */
function unpackedApps(dist, names) {
  return names.flatMap((name) => {
    const folder = join(dist, name)
    if (/^linux(-\w+)?-unpacked$/.test(name))
      return [{ resources: join(folder, 'resources'), program: join(folder, 'deckhand'), notices: folder, hasIntegrity: () => true }]
    if (/^win(-\w+)?-unpacked$/.test(name)) {
      const program = join(folder, 'Deckhand.exe')
      const hasIntegrity = () => readFileSync(program).includes(Buffer.from('ELECTRONASAR', 'utf16le'))
      return [{ resources: join(folder, 'resources'), program, notices: folder, hasIntegrity }]
    }
    const contents = join(folder, 'Deckhand.app/Contents')
    if (!existsSync(contents)) return []
    const hasIntegrity = () => readFileSync(join(contents, 'Info.plist'), 'utf8').includes('ElectronAsarIntegrity')
    const program = join(contents, 'Frameworks/Electron Framework.framework/Electron Framework')
    return [{ resources: join(contents, 'Resources'), program, notices: null, hasIntegrity }]
  })
}
