// `npm run package`: installers of this platform in dist/.
//
//   npm run package -- dir          only the unpacked app (quick)
//   npm run package -- --test       for the window tests: a debugger may attach. Never for people
//   npm run package -- --release    refuses anything that must not reach users
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkDist, readRecommends } from './check-package.mjs'
import { listLanguages } from './message-types.mjs'
import { begin, root, run, say, Stop } from './run.mjs'
import { build, setUp } from './setup.mjs'
import { declaredElectron, installedElectron } from './setup-electron.mjs'
import { findCommand, missingPackages } from './system-packages.mjs'

/** Tools for these come from GitHub: the runtime of an AppImage, and fpm. */
const LINUX_WITHOUT_GITHUB = ['deb', 'tar.gz']

await begin(async () => {
  const args = process.argv.slice(2)
  const isRelease = args.includes('--release')
  const isTest = args.includes('--test')
  if (isRelease && isTest) throw new Stop('a test build must not reach users: --release or --test, not both')
  const targets = args.filter((arg) => !arg.startsWith('--'))
  const unpackedOnly = targets.includes('dir')
  await setUp(unpackedOnly ? ['window'] : ['window', 'packaging'], { standIn: isRelease ? 'never' : 'allow' })
  if (isRelease) refuseUnfit()
  await build()

  const repository = findRepository()
  const { options, env } = optionsFor({ isRelease, isTest, unpackedOnly, repository })
  if (process.platform === 'linux' && targets.length === 0 && !isRelease) {
    targets.push(...LINUX_WITHOUT_GITHUB)
    say('AppImage and rpm need tools from GitHub: only a release build makes them, or `npm run package -- AppImage rpm`')
  }
  // What lies there from before is not what is looked at afterwards.
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  say(`packaging Deckhand with Electron ${installedElectron()}`)
  const platform = { linux: '--linux', darwin: '--mac', win32: '--win' }[process.platform]
  const words = ['--config', 'build/electron-builder.yml', platform, ...targets, `--${process.arch}`, '--publish', 'never', ...options]
  if ((await run('electron-builder', words, { env })) !== 0) throw new Stop('electron-builder failed; what it said stands above')
  refuseFaults({ isRelease, isTest, repository })
  say('the packages are in dist/')
})

function optionsFor({ isRelease, isTest, unpackedOnly, repository }) {
  // Chromium brings fifty languages; only those that Deckhand itself has are packed.
  const options = ['en-US', ...listLanguages()].map((language) => `-c.electronLanguages=${language}`)
  const env = {}
  // A .deb has to name a home page.
  options.push(`-c.extraMetadata.homepage=${repository === null ? 'https://deckhand.invalid' : `https://github.com/${repository}`}`)
  if (isTest) options.push('-c.electronFuses.enableNodeCliInspectArguments=true', '-c.extraMetadata.testBuild=true')
  if (isRelease) {
    const [owner, name] = repository.split('/')
    options.push('-c.publish.provider=github', `-c.publish.owner=${owner}`, `-c.publish.repo=${name}`)
    options.push(`-c.extraMetadata.updates.repository=${repository}`, `-c.extraMetadata.updates.key=${process.env.DECKHAND_UPDATE_KEY}`)
  }
  // The Electron that is here and was looked at, instead of one to be downloaded. For this platform only, hence not in the .yml.
  options.push('-c.electronDist=node_modules/electron/dist')
  if (process.platform === 'linux' && !unpackedOnly && !isRelease) Object.assign(env, linuxTools())
  // The smallest files take minutes: worth it for what people download, not for a look at the result.
  if (process.platform === 'linux' && !isRelease) {
    env.ELECTRON_BUILDER_COMPRESSION_LEVEL = '1'
    options.push('-c.deb.compression=gz')
  }
  if (process.platform === 'darwin') options.push(...signing())
  return { options, env }
}

/** Apple's keys come from the environment (CSC_LINK, APPLE_API_KEY and others). Without them the app is signed for nobody. */
function signing() {
  if (!process.env.CSC_LINK) {
    say('no CSC_LINK: macOS will warn about this app')
    // The hardened runtime would refuse frameworks that nobody signed.
    return ['-c.mac.identity=-', '-c.mac.hardenedRuntime=false', '-c.mac.notarize=false']
  }
  return process.env.APPLE_API_KEY || process.env.APPLE_ID ? [] : ['-c.mac.notarize=false']
}

/** `owner/name` on GitHub: said by the person, by GitHub's own build machine, or by the clone. null: none of them. */
function findRepository() {
  const said = process.env.DECKHAND_REPOSITORY || process.env.GITHUB_REPOSITORY || originOfClone()
  return said && /^[\w.-]+\/[\w.-]+$/.test(said) ? said : null
}

function originOfClone() {
  try {
    const url = execFileSync('git', ['remote', 'get-url', 'origin'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return /github\.com[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?\s*$/.exec(url)?.[1]
  } catch {
    return undefined
  }
}

/** The packages themselves are looked at: what was configured is not always what came out. */
function refuseFaults({ isRelease, isTest, repository }) {
  const recommends = readRecommends(readFileSync(join(root, 'build/electron-builder.yml'), 'utf8'))
  const electron = isRelease ? declaredElectron() : null
  const faults = checkDist(join(root, 'dist'), { recommends, isTest, repository: isRelease ? repository : null, electron })
  if (faults.length > 0) throw new Stop(`the packages must not be given to anybody:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
}

/** What would be wrong to give to anybody. */
function refuseUnfit() {
  const wanted = declaredElectron()
  const present = installedElectron()
  if (present !== wanted) throw new Stop(`a release needs Electron ${wanted}; here is ${present}, which is for development and tests only`)
  if (!existsSync(join(root, 'node_modules/keytar/build/Release/keytar.node')))
    throw new Stop('a release needs keytar, which reads the keychain; it is not built')
  if (findRepository() === null) throw new Stop('a release needs to know where it is published: DECKHAND_REPOSITORY=owner/name')
  if (!/^[A-Za-z0-9+/]{59}=$/.test(process.env.DECKHAND_UPDATE_KEY ?? ''))
    throw new Stop('a release needs DECKHAND_UPDATE_KEY, the public key of its updates: node build/update-metadata.mjs --new-key')
}

/** electron-builder downloads 7zip and fpm from GitHub. Debian's 7zip is as good, and for a .deb dpkg-deb is enough. */
function linuxTools() {
  const missing = missingPackages(['packaging'])
  if (missing) throw new Stop(`packaging needs 7zip: sudo ${missing}`)
  const env = { ELECTRON_BUILDER_7ZIP_PATH: findCommand('7za') }
  if (!findCommand('fpm')) env.CUSTOM_FPM_PATH = join(root, 'build/fpm-deb.mjs')
  return env
}
