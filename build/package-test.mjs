// `node build/package-test.mjs`: builds the .deb, installs it, runs it as an ordinary user, removes it, and looks whether the
// data is still there. Needs root on Debian or Ubuntu, and changes the machine while it runs. Says sizes and times. `--built`
// takes the test build that is in dist/ already.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { begin, capture, root, run, say, Stop } from './run.mjs'
import { setUp } from './setup.mjs'

const USER = 'deckhand-test'
const INSTALLED = '/opt/Deckhand'
const DATA = `/home/${USER}/.local/share/deckhand`
const LIMIT_MS = 15 * 60_000

/** What an installed app must refuse, and what it would show if it did. */
const HOSTILE = [
  { args: ['--remote-debugging-port=0', 'deckhand://open/chat'], code: 2, mayNotSay: 'DevTools listening' },
  { args: ['deckhand://open/chat', '--no-sandbox'], code: 2, mayNotSay: 'never' },
  { args: ['--inspect=0'], code: 2, mayNotSay: 'Debugger listening' },
  { args: ['--js-flags=--expose-gc'], code: 2, mayNotSay: 'never' },
]

const rows = []

await begin(async () => {
  if (process.platform !== 'linux' || process.getuid() !== 0) throw new Stop('this installs a package: it needs root on Debian or Ubuntu')
  if (existsSync(INSTALLED)) throw new Stop(`${INSTALLED} is there already: remove Deckhand first, so that this test does not`)
  await setUp(['window', 'tests', 'packaging', 'installed'])
  const isBuilt = process.argv.includes('--built')
  if (!isBuilt) await timed('build the app', () => must('npm', ['run', 'package', '--', 'dir']))
  const made = !(await succeeds('id', [USER]))
  if (made) await must('useradd', ['--create-home', USER])
  try {
    if (!isBuilt) {
      await timed('start it with hostile arguments', refusesHostileArguments)
      await timed('build deb and tar.gz, for tests', () => must('npm', ['run', 'package', '--', '--test', 'deb', 'tar.gz']))
    }
    await installAndTest()
  } finally {
    if (made) await must('userdel', ['--remove', USER])
  }
  for (const [what, figure] of rows) process.stdout.write(`${what.padEnd(42)} ${figure}\n`)
})

async function installAndTest() {
  const dist = join(root, 'dist')
  for (const name of readdirSync(dist).filter((each) => /\.(deb|gz)$/.test(each))) rows.push([name, megabytes(join(dist, name))])
  const [deb] = readdirSync(dist).filter((name) => name.endsWith('.deb'))
  await timed('install', () => must('apt-get', ['install', '--yes', '--no-install-recommends', join(dist, deb)]))
  rows.push(['installed', `${spawnSync('du', ['-sm', INSTALLED], { encoding: 'utf8' }).stdout.split('\t')[0]} MB`])
  rows.push(['sandbox helper', (statSync(`${INSTALLED}/chrome-sandbox`).mode & 0o4000) === 0 ? 'user namespaces' : 'set-user bit'])
  try {
    await timed('window tests as an ordinary user', windowTests)
  } finally {
    await timed('remove', () => must('dpkg', ['--purge', 'deckhand']))
  }
  for (const left of [INSTALLED, '/usr/bin/deckhand', '/usr/share/applications/deckhand.desktop'])
    if (existsSync(left)) throw new Stop(`${left} is left after the package was removed`)
  if (!existsSync(join(DATA, 'deckhand.db'))) throw new Stop(`the data in ${DATA} is gone after the package was removed`)
  say('the package is gone, the data is there')
}

async function windowTests() {
  const playwright = [join(root, 'node_modules/.bin/playwright'), 'test', '--config', join(root, 'e2e/installed.config.ts')]
  await must('runuser', asUser([join(root, 'build/with-desktop.sh'), ...playwright]))
}

/** The app as it would be given to people: it ends at once, and nothing of what the arguments ask for has happened. */
async function refusesHostileArguments() {
  const program = join(root, 'dist/linux-unpacked/deckhand')
  for (const { args, code, mayNotSay } of HOSTILE) {
    const { code: ended, output } = await capture('runuser', asUser([join(root, 'build/with-desktop.sh'), program, ...args]))
    if (ended !== code || output.includes(mayNotSay)) throw new Stop(`${args.join(' ')} ended with ${ended}, not ${code}:\n${output}`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-hostile-'))
  const mark = join(folder, 'mark')
  const script = join(folder, 'script.js')
  try {
    spawnSync('chmod', ['777', folder])
    writeFileSync(script, `require('fs').writeFileSync(${JSON.stringify(mark)}, 'ran')`)
    for (const [env, args] of [
      ['ELECTRON_RUN_AS_NODE=1', [script]],
      [`NODE_OPTIONS=--require=${script}`, ['--inspect=0']],
    ])
      await capture('runuser', asUser(['env', env, join(root, 'build/with-desktop.sh'), program, ...args, '--no-sandbox']))
    if (existsSync(mark)) throw new Stop('the app ran a script that the environment named')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Passes on only those variables of the environment that name programs. */
function asUser(command) {
  return [
    '-u',
    USER,
    '--',
    'env',
    '-C',
    `/home/${USER}`,
    '-u',
    'XDG_RUNTIME_DIR',
    `HOME=/home/${USER}`,
    `PATH=${process.env.PATH}`,
    ...command,
  ]
}

async function timed(what, work) {
  const from = performance.now()
  await work()
  rows.push([what, `${((performance.now() - from) / 1000).toFixed(1)} s`])
}

function megabytes(file) {
  return `${(statSync(file).size / 1e6).toFixed(1)} MB`
}

async function must(command, args) {
  if ((await run(command, args, { limitMs: LIMIT_MS })) !== 0)
    throw new Stop(`${[command, ...args].join(' ')} failed; what it said stands above`)
}

async function succeeds(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}
