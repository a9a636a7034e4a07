// `npm test`: sets up what is missing, then checks, builds and runs every suite. The last line holds the totals:
// "123 passed, 0 failed", and ", 2 skipped" if something was skipped. If few files fail, they run once more when the machine
// is quiet; tests that pass only then are listed as unstable. STRICT=1 counts them as failed.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { hasChromiumSandbox } from './chromium-sandbox.mjs'
import { begin, capture, projectNode, root, run, say } from './run.mjs'
import { build, setUp } from './setup.mjs'
import { countVitest, countWindows } from './test-counts.mjs'
import { onVirtualDesktop } from './virtual-desktop.mjs'

const results = join(root, 'test-results')
/** Ends a suite that hangs. SUITE_MINUTES is for a machine that does other work meanwhile. */
const LIMIT_MS = Number(process.env.SUITE_MINUTES || 80) * 60_000
/** More failed files than this are no accident. */
const MAX_SECOND_TRIES = 3
const REPORTERS = ['--reporter=default', '--reporter=json', '--reporter=build/errors-reporter.mjs']
const isStrict = (process.env.STRICT || '0') !== '0'

await begin(async () => {
  const started = performance.now()
  rmSync(results, { recursive: true, force: true })
  mkdirSync(results, { recursive: true })
  await setUp(['window', 'sandbox', 'tests'])
  const sandbox = await capture(projectNode, ['build/sandbox-state.ts'])

  // Tests of the program and windows start the build.
  const built = await suite('build', buildOnce)
  // Each suite spends half of its time waiting for processes, so the others run beside it.
  const [unit, others] = await Promise.all([suite('unit, story and wire tests', vitest), checksThenWindows()])
  const suites = []
  for (const counts of [built, unit, ...others]) suites.push(await withSecondTry(counts))

  const total = (key) => suites.reduce((sum, counts) => sum + (counts[key] ?? 0), 0)
  const seconds = Math.round((performance.now() - started) / 1000)
  const skipped = suites.flatMap(({ skippedIn = [] }) => skippedIn)
  if (skipped.length > 0) {
    process.stdout.write(`\nskipped:\n${skipped.map(({ group, count }) => `  ${group} (${count})\n`).join('')}`)
    const forSandbox = skipped.filter(({ needsSandbox }) => needsSandbox).reduce((sum, { count }) => sum + count, 0)
    if (sandbox.code !== 0) process.stdout.write(`${forSandbox} skipped: no sandbox here (${sandbox.output.trim()})\n`)
  }
  const unstable = suites.flatMap((counts) => counts.unstable ?? [])
  if (unstable.length > 0)
    process.stdout.write(`\nunstable, passed only at the second try:\n${unstable.map((name) => `  ${name}\n`).join('')}`)
  if (!hasChromiumSandbox()) process.stdout.write("windows ran without Chromium's sandbox, which does not work here or refuses root\n")
  process.stdout.write(`\n${Math.floor(seconds / 60)} min ${seconds % 60} s\n`)
  process.stdout.write(
    `${total('passed')} passed, ${total('failed')} failed${total('skipped') > 0 ? `, ${total('skipped')} skipped` : ''}\n`,
  )
  process.exitCode = total('failed') > 0 ? 1 : 0
})

async function checksThenWindows() {
  const { check } = await import('./check.mjs')
  return [await suite('checks', check), await suite('window tests', playwright)]
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

/** The same counts after the failed files ran once more, if they are few. Their tests that pass then are `unstable`. */
async function withSecondTry(counts) {
  const { failedIn = [], runAgain } = counts
  if (isStrict || failedIn.length === 0 || failedIn.length < counts.failed) return counts
  const files = [...new Set(failedIn.map(({ file }) => file))]
  if (files.length > MAX_SECOND_TRIES) return counts
  say(`once more: ${files.join(', ')}`)
  const again = await runAgain(files)
  if (again.failed > 0) return counts
  const unstable = failedIn.map(({ file, title }) => `${file}: ${title}`)
  return { ...counts, passed: counts.passed + counts.failed, failed: 0, unstable }
}

async function vitest(files = []) {
  const report = join(results, files.length === 0 ? 'vitest.json' : 'vitest-again.json')
  const errors = `${report}.errors`
  const code = await run('vitest', ['run', '--config', 'build/vitest.config.ts', ...REPORTERS, `--outputFile.json=${report}`, ...files], {
    env: { VITEST_ERRORS_FILE: errors },
    limitMs: LIMIT_MS,
  })
  const count = (read) => countVitest(read, Number(readFileSync(errors, 'utf8')))
  return { ...counted(code, report, count), runAgain: vitest }
}

async function playwright(files = []) {
  const report = join(results, files.length === 0 ? 'playwright.json' : 'playwright-again.json')
  let command
  try {
    // What the first try left stays.
    const again = files.length === 0 ? [] : ['--output', join(results, 'windows-again'), ...files]
    command = onVirtualDesktop(['playwright', 'test', '--config', 'e2e/playwright.config.ts', ...again])
  } catch (error) {
    process.stdout.write(`${error.message}\n`)
    return { passed: 0, failed: 1 }
  }
  // Shown when it is complete: the other suite writes at the same time.
  const log = join(results, files.length === 0 ? 'playwright.log' : 'playwright-again.log')
  const code = await run(command[0], command.slice(1), { env: { PLAYWRIGHT_JSON_OUTPUT_FILE: report }, limitMs: LIMIT_MS, log })
  process.stdout.write(readFileSync(log, 'utf8'))
  return { ...counted(code, report, countWindows), runAgain: playwright }
}

/** A suite that fails without a failed test (a crash, an error outside any test) counts as one failure. */
function counted(code, report, read) {
  const counts = existsSync(report) ? read(JSON.parse(readFileSync(report, 'utf8'))) : { passed: 0, failed: 0, skipped: 0 }
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}
