// What the app reads to find a new version: `latest.yml` and its like, each with a signature beside it. Made from the installers
// of all systems, in one place, by whoever holds the key.
//
//   node build/update-metadata.mjs --new-key                 makes a pair of keys
//   node build/update-metadata.mjs <folder> <version> [notes] writes the descriptions of the installers in a folder
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { begin, say, Stop } from './run.mjs'

/** electron-updater's names for systems and processors, and the files that belong to each. */
const SYSTEMS = [
  ['', /-win-(x64|arm64)\.exe$/],
  ['-mac', /-mac-(x64|arm64)\.(zip|dmg)$/],
  ['-linux', /-linux-(x64|x86_64|amd64)\.(AppImage|deb|rpm|tar\.gz)$/],
  ['-linux-arm64', /-linux-(arm64|aarch64)\.(AppImage|deb|rpm|tar\.gz)$/],
]

/**
 * The descriptions and their signatures, by file name. JSON is YAML too.
 *
 * @param {{ folder: string, version: string, notes: string, key: import('node:crypto').KeyObject, date: string }} release
 */
export function describeRelease({ folder, version, notes, key, date }) {
  const names = readdirSync(folder).sort()
  const foreign = names.filter((name) => SYSTEMS.some(([, fits]) => fits.test(name)) && !name.includes(`-${version}-`))
  if (foreign.length > 0) throw new Stop(`these are not of version ${version}: ${foreign.join(', ')}`)
  const channel = version.includes('-beta.') ? 'beta' : 'latest'
  const written = new Map()
  for (const [suffix, fits] of SYSTEMS) {
    const files = names.filter((name) => fits.test(name)).map((name) => describeFile(folder, name))
    if (files.length === 0) continue
    const text = Buffer.from(`${JSON.stringify({ version, files, releaseNotes: notes, releaseDate: date }, null, 2)}\n`)
    written.set(`${channel}${suffix}.yml`, text)
    written.set(`${channel}${suffix}.yml.sig`, Buffer.from(`${sign(null, text, key).toString('base64')}\n`))
  }
  if (written.size === 0) throw new Stop(`there are no installers in ${folder}`)
  return written
}

function describeFile(folder, name) {
  const bytes = readFileSync(join(folder, name))
  return { url: name, sha512: createHash('sha512').update(bytes).digest('base64'), size: bytes.length }
}

/** The private half in DECKHAND_UPDATE_PRIVATE_KEY has to belong to the public one that is in the apps. */
function readKey() {
  const { DECKHAND_UPDATE_PRIVATE_KEY: secret, DECKHAND_UPDATE_KEY: open } = process.env
  if (!secret || !open)
    throw new Stop('DECKHAND_UPDATE_KEY and DECKHAND_UPDATE_PRIVATE_KEY are needed: node build/update-metadata.mjs --new-key')
  const key = createPrivateKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'pkcs8' })
  const probe = Buffer.from('probe')
  const known = createPublicKey({ key: Buffer.from(open, 'base64'), format: 'der', type: 'spki' })
  if (!verify(null, probe, known, sign(null, probe, key)))
    throw new Stop('the two keys do not belong together: no installed app would take this release')
  return key
}

if (import.meta.filename === process.argv[1]) {
  await begin(async () => {
    const [folder, version, notes = ''] = process.argv.slice(2)
    if (folder === '--new-key') {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519')
      process.stdout.write(`DECKHAND_UPDATE_KEY=${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}\n`)
      process.stdout.write(`DECKHAND_UPDATE_PRIVATE_KEY=${privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')}\n`)
      say('keep the second one where only releases are made; who has it can put programs on the machines of all users')
      return
    }
    if (!version) throw new Stop('node build/update-metadata.mjs <folder> <version> [notes]')
    for (const [name, text] of describeRelease({ folder, version, notes, key: readKey(), date: new Date().toISOString() })) {
      writeFileSync(join(folder, name), text)
      say(`wrote ${name}`)
    }
  })
}
