// `npm test`: sets up what is missing, then checks, builds and runs every suite. The last line holds the totals:
// "123 passed, 0 failed", and ", 2 skipped" if something was skipped.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { hasChromiumSandbox } from './chromium-sandbox.mjs'
import { begin, capture, projectNode, root, run, say } from './run.mjs'
import { build, setUp } from './setup.mjs'
import { onVirtualDesktop } from './virtual-desktop.mjs'

const results = join(root, 'test-results')
/** Ends a suite that hangs. */
const LIMIT_MS = 60 * 60_000

await begin(async () => {
  const started = performance.now()
  rmSync(results, { recursive: true, force: true })
  mkdirSync(results, { recursive: true })
  await setUp(['window', 'sandbox', 'tests'])
  const sandbox = await capture(projectNode, ['build/sandbox-state.ts'])

  // Each suite spends half of its time waiting for processes, so the others run beside it. Windows show the build.
  const [unit, others] = await Promise.all([suite('unit, story and wire tests', vitest), checksThenBuildThenWindows()])
  const suites = [unit, ...others]

  const total = (key) => suites.reduce((sum, counts) => sum + (counts[key] ?? 0), 0)
  const seconds = Math.round((performance.now() - started) / 1000)
  const skipped = suites.flatMap(({ skippedIn = [] }) => skippedIn)
  if (skipped.length > 0) {
    process.stdout.write(`\nskipped:\n${skipped.map(({ group, count }) => `  ${group} (${count})\n`).join('')}`)
    const forSandbox = skipped.filter(({ needsSandbox }) => needsSandbox).reduce((sum, { count }) => sum + count, 0)
    if (sandbox.code !== 0) process.stdout.write(`${forSandbox} skipped: no sandbox here (${sandbox.output.trim()})\n`)
  }
  if (!hasChromiumSandbox()) process.stdout.write("windows ran without Chromium's sandbox, which does not work here or refuses root\n")
  process.stdout.write(`\n${Math.floor(seconds / 60)} min ${seconds % 60} s\n`)
  process.stdout.write(
    `${total('passed')} passed, ${total('failed')} failed${total('skipped') > 0 ? `, ${total('skipped')} skipped` : ''}\n`,
  )
  process.exitCode = total('failed') > 0 ? 1 : 0
})

async function checksThenBuildThenWindows() {
  const { check } = await import('./check.mjs')
  return [await suite('checks', check), await suite('build', buildOnce), await suite('window tests', playwright)]
}

async function suite(name, runSuite) {
  say(name)
  const counts = await runSuite()
  if (counts.failed > 0) say(`${name}: ${counts.failed} failed; test-results/ holds what they left`)
  return counts
}

async function buildOnce() {
  try {
    await build()
    return { passed: 1, failed: 0 }
  } catch (error) {
    process.stdout.write(`${error.message}\n`)
    return { passed: 0, failed: 1 }
  }
}

async function vitest() {
  const report = join(results, 'vitest.json')
  const code = await run(
    'vitest',
    ['run', '--config', 'build/vitest.config.ts', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    { limitMs: LIMIT_MS },
  )
  return counted(code, report, ({ numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults }) => ({
    passed: numPassedTests,
    failed: numFailedTests,
    skipped: numPendingTests + numTodoTests,
    skippedIn: testResults.flatMap(({ name, assertionResults }) => skippedIn(name, assertionResults)),
  }))
}

async function playwright() {
  const report = join(results, 'playwright.json')
  let command
  try {
    command = onVirtualDesktop(['playwright', 'test', '--config', 'e2e/playwright.config.ts'])
  } catch (error) {
    process.stdout.write(`${error.message}\n`)
    return { passed: 0, failed: 1 }
  }
  // Shown when it is complete: the other suite writes at the same time.
  const log = join(results, 'playwright.log')
  const code = await run(command[0], command.slice(1), { env: { PLAYWRIGHT_JSON_OUTPUT_FILE: report }, limitMs: LIMIT_MS, log })
  process.stdout.write(readFileSync(log, 'utf8'))
  return counted(code, report, ({ stats, suites }) => ({
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky,
    skipped: stats.skipped,
    skippedIn: suites.flatMap(skippedSpecs),
  }))
}

/** The skipped tests of a file, by their outermost group. */
function skippedIn(file, tests) {
  const groups = new Map()
  for (const { status, ancestorTitles, title } of tests) {
    if (status !== 'skipped' && status !== 'pending' && status !== 'todo') continue
    const group = ancestorTitles.filter(Boolean)[0] ?? title
    groups.set(group, (groups.get(group) ?? 0) + 1)
  }
  if (groups.size === 0) return []
  const needsSandbox = readFileSync(file, 'utf8').includes('findSandbox(')
  return [...groups].map(([group, count]) => ({ group: `${relative(root, file)}: ${group}`, count, needsSandbox }))
}

function skippedSpecs({ file, specs, suites = [] }) {
  const own = specs.flatMap(({ title, tests }) =>
    tests
      .filter(({ status }) => status === 'skipped')
      .map(({ annotations }) => ({
        group: `${file}: ${title}: ${annotations.map(({ description }) => description).join(', ')}`,
        count: 1,
      })),
  )
  return [...own, ...suites.flatMap(skippedSpecs)]
}

/** A suite that fails without a failed test (a crash, an error outside any test) counts as one failure. */
function counted(code, report, read) {
  const counts = existsSync(report) ? read(JSON.parse(readFileSync(report, 'utf8'))) : { passed: 0, failed: 0, skipped: 0 }
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}
