// `npm run check`: everything that can be said about the code without running it.
import { availableParallelism } from 'node:os'
import { begin, capture } from './run.mjs'
import { setUp } from './setup.mjs'

const CACHE = 'node_modules/.cache'

/** What the compiler has seen before it does not look at again. */
const types = (project) => [
  'tsc',
  '-p',
  project,
  '--incremental',
  '--tsBuildInfoFile',
  `${CACHE}/tsc/${project.replaceAll(/[./]+/g, '-')}.json`,
]

/** What has passed is not checked again while its content stays the same. */
function byContent(location) {
  return ['--cache', location, '--cache-strategy', 'content']
}

function spelling(language) {
  const cache = ['--cache', '--cache-location', `${CACHE}/spelling-${language}`, '--cache-strategy', 'content']
  return ['cspell', 'lint', '--config', `build/cspell-${language}.json`, ...cache, '--no-progress', '--no-summary']
}

const CHECKS = {
  format: ['oxfmt', '-c', 'build/oxfmt.json', '--check', '.'],
  'types of texts': ['node', 'build/message-types.mjs', '--check'],
  // The contracts have a configuration of their own, with neither Node nor DOM: what both sides read must not lean on either.
  'types of the runner contract': types('src-runner/contract'),
  'types of the desktop contract': types('src-main/contract'),
  'types of src-runner': types('src-runner'),
  'types of src-main': types('src-main'),
  'types of src-renderer': types('src-renderer'),
  'types of build and e2e': types('.'),
  lint: ['node', 'build/lint.mjs'],
  borders: [
    'depcruise',
    ...byContent(`${CACHE}/borders`),
    '-c',
    'build/borders.mjs',
    'src-main',
    'src-renderer',
    'src-runner',
    'resources',
  ],
  'old terms': ['node', 'build/old-terms.mjs'],
  'English spelling': spelling('english'),
  'German spelling': spelling('german'),
  'dead code': ['knip', '--cache', '--cache-location', `${CACHE}/knip`, '--config', 'build/knip.json', '--no-progress'],
}

/**
 * Runs all checks, as many at a time as there are cores, and prints a line for each, with the findings of those that fail. All at
 * once they would need 8 GB of memory, mostly for types. Gives `{ passed, failed }`.
 */
export async function check() {
  const waiting = Object.entries(CHECKS)
  const counts = { passed: 0, failed: 0 }
  const runWaiting = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) counts[(await runCheck(...next)) ? 'passed' : 'failed']++
  }
  await Promise.all(Array.from({ length: availableParallelism() }, runWaiting))
  return counts
}

async function runCheck(name, [command, ...args]) {
  const started = performance.now()
  const { code, output } = await capture(command, args)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(code === 0 ? `✓ ${name} (${seconds} s)\n` : `✗ ${name}: ${[command, ...args].join(' ')}\n${output.trimEnd()}\n\n`)
  return code === 0
}

if (import.meta.filename === process.argv[1]) {
  await begin(async () => {
    await setUp()
    const { failed } = await check()
    process.exitCode = failed > 0 ? 1 : 0
  })
}
