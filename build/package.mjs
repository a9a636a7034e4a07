// `npm run package`: installers of this platform in dist/.
//
//   npm run package -- dir          only the unpacked app (quick)
//   npm run package -- --release    refuses anything that must not reach users
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkDist, readRecommends } from './check-package.mjs'
import { listLanguages } from './message-types.mjs'
import { begin, root, run, say, Stop } from './run.mjs'
import { build, setUp } from './setup.mjs'
import { declaredElectron, installedElectron } from './setup-electron.mjs'
import { findCommand, missingPackages } from './system-packages.mjs'

await begin(async () => {
  const args = process.argv.slice(2)
  const release = args.includes('--release')
  const targets = args.filter((arg) => arg !== '--release')
  const unpackedOnly = targets.includes('dir')
  await setUp(unpackedOnly ? ['window'] : ['window', 'packaging'])
  if (release) refuseUnfit()
  await build()

  const options = ['--config', 'build/electron-builder.yml', `--${platformName()}`, ...targets]
  // Chromium brings fifty languages; only those that Deckhand itself has are packed.
  options.push(...['en-US', ...listLanguages()].map((language) => `-c.electronLanguages=${language}`))
  const env = {}
  if (process.platform === 'linux') {
    // The Electron that is here, instead of one to be downloaded. For this platform only, hence not in the .yml.
    options.push('-c.electronDist=node_modules/electron/dist')
    if (!unpackedOnly) Object.assign(env, linuxTools())
    // The smallest files take minutes: worth it for what people download, not for a look at the result.
    if (!release) {
      env.ELECTRON_BUILDER_COMPRESSION_LEVEL = '1'
      options.push('-c.deb.compression=gz')
    }
  }
  // What lies there from before is not what is looked at afterwards.
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  say(`packaging Deckhand with Electron ${installedElectron()}`)
  if ((await run('electron-builder', options, { env })) !== 0) throw new Stop('electron-builder failed; what it said stands above')
  refuseFaults()
  say('the packages are in dist/')
})

function platformName() {
  return { linux: 'linux', darwin: 'mac', win32: 'win' }[process.platform]
}

/** The packages themselves are looked at: what was configured is not always what came out. */
function refuseFaults() {
  if (process.platform !== 'linux') return
  const faults = checkDist(join(root, 'dist'), readRecommends(readFileSync(join(root, 'build/electron-builder.yml'), 'utf8')))
  if (faults.length > 0) throw new Stop(`the packages must not be given to anybody:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
}

/** What would be wrong to give to anybody. */
function refuseUnfit() {
  const wanted = declaredElectron()
  const present = installedElectron()
  if (present !== wanted) throw new Stop(`a release needs Electron ${wanted}; here is ${present}, which is for development and tests only`)
  if (!existsSync(join(root, 'node_modules/keytar/build/Release/keytar.node')))
    throw new Stop('a release needs keytar, the door to the keychain; it is not built')
}

/** electron-builder downloads 7zip and fpm from GitHub. Debian's 7zip is as good, and for a .deb dpkg-deb is enough. */
function linuxTools() {
  const missing = missingPackages(['packaging'])
  if (missing) throw new Stop(`packaging needs 7zip: sudo ${missing}`)
  const env = { ELECTRON_BUILDER_7ZIP_PATH: findCommand('7za') }
  if (!findCommand('fpm')) env.CUSTOM_FPM_PATH = join(root, 'build/fpm-deb.mjs')
  return env
}
