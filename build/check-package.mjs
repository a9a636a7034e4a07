// What must be true of every package, looked up in the package itself. `npm run package` refuses one with faults.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Modules of the app that come from others: each in another way. */
const LICENSED = ['better-sqlite3', 'electron', 'fastify', 'keytar', 'solid-js', 'tailwindcss', 'zod']

/** https://github.com/electron/fuses: the position of each fuse, and what it has to be ('0' off, '1' on). */
const FUSES = {
  RunAsNode: [0, '0'],
  EnableNodeOptionsEnvironmentVariable: [2, '0'],
  EnableNodeCliInspectArguments: [3, '0'],
  OnlyLoadAppFromAsar: [5, '1'],
}
const FUSE_SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'

/** Sentences about what is wrong with an unpacked app; none: it may be given to people. */
export function findFaults({ appDir, program }) {
  const resources = join(appDir, 'resources')
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
  for (const file of ['LICENSE.electron.txt', 'LICENSES.chromium.html'])
    if (!existsSync(join(appDir, file))) faults.push(`${file} is missing`)
  return [...faults, ...findFuseFaults(readFileSync(join(appDir, program)))]
}

function findFuseFaults(bytes) {
  const at = bytes.indexOf(FUSE_SENTINEL)
  if (at === -1) return ['the fuses of Electron cannot be found']
  // A version and a count, a byte each, stand between the sentinel and the fuses.
  const first = at + FUSE_SENTINEL.length + 2
  return Object.entries(FUSES)
    .filter(([, [position, wanted]]) => String.fromCharCode(bytes[first + position]) !== wanted)
    .map(([name, [, wanted]]) => `the fuse ${name} is not ${wanted === '1' ? 'on' : 'off'}`)
}

/** `recommends`: what the configuration asks for. */
export function findDebFaults(file, recommends) {
  const field = execFileSync('dpkg-deb', ['--field', file, 'Recommends'], { encoding: 'utf8' })
    .trim()
    .split(/\s*,\s*/)
  const missing = recommends.filter((wanted) => !field.includes(wanted))
  return missing.map((wanted) => `the package does not recommend ${wanted}`)
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
    read: (path) => content.subarray(Number(files.get(path).offset), Number(files.get(path).offset) + files.get(path).size),
  }
}

function collect(entries, folder, files) {
  for (const [name, entry] of Object.entries(entries)) {
    if (entry.files !== undefined) collect(entry.files, `${folder}${name}/`, files)
    else files.set(folder + name, entry)
  }
}

/** Faults of everything that was made in `dist` for Linux. */
export function checkDist(dist, recommends) {
  const faults = findFaults({ appDir: join(dist, 'linux-unpacked'), program: 'deckhand' })
  const debs = readdirSync(dist).filter((file) => file.endsWith('.deb'))
  return [...faults, ...debs.flatMap((file) => findDebFaults(join(dist, file), recommends))]
}
