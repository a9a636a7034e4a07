// `npm test`: sets up what is missing, then checks, builds and runs every suite. Ends with one line of totals, alone on
// its line: "123 passed, 0 failed" (and ", 2 skipped" where something was skipped).
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { begin, root, run, say } from './run.mjs'
import { build, setUp } from './setup.mjs'
import { missingPackages } from './system-packages.mjs'

const results = join(root, 'test-results')

await begin(async () => {
  const started = performance.now()
  rmSync(results, { recursive: true, force: true })
  mkdirSync(results, { recursive: true })
  await setUp(['window', 'box', 'tests'])

  const { check } = await import('./check.mjs')
  const suites = [
    await suite('checks', check),
    await suite('build', buildOnce),
    await suite('unit, story and wire tests', vitest),
    await suite('window tests', playwright),
  ]

  const total = (key) => suites.reduce((sum, counts) => sum + (counts[key] ?? 0), 0)
  const seconds = Math.round((performance.now() - started) / 1000)
  const skipped = total('skipped')
  process.stdout.write(`\n${Math.floor(seconds / 60)} min ${seconds % 60} s\n`)
  process.stdout.write(`${total('passed')} passed, ${total('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
  process.exitCode = total('failed') > 0 ? 1 : 0
})

async function suite(name, runSuite) {
  say(name)
  const counts = await runSuite()
  if (counts.failed > 0) say(`${name}: ${counts.failed} failed; what is left of them is in test-results/`)
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
  const code = await run('vitest', [
    'run',
    '--config',
    'build/vitest.config.ts',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ])
  return counted(code, report, ({ numPassedTests, numFailedTests, numPendingTests, numTodoTests }) => ({
    passed: numPassedTests,
    failed: numFailedTests,
    skipped: numPendingTests + numTodoTests,
  }))
}

async function playwright() {
  const missing = missingPackages(['window', 'tests'])
  if (missing) {
    process.stdout.write(`The window tests need a virtual desktop: sudo ${missing}\n`)
    return { passed: 0, failed: 1 }
  }
  const report = join(results, 'playwright.json')
  const command = ['playwright', 'test', '--config', 'e2e/playwright.config.ts']
  const env = { PLAYWRIGHT_JSON_OUTPUT_FILE: report }
  const code =
    process.platform === 'linux' ? await run('build/with-desktop.sh', command, { env }) : await run(command[0], command.slice(1), { env })
  return counted(code, report, ({ stats }) => ({ passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped }))
}

/** A suite that ended badly without naming a failed test (a crash, an error outside any test) counts as one failure. */
function counted(code, report, read) {
  const counts = existsSync(report) ? read(JSON.parse(readFileSync(report, 'utf8'))) : { passed: 0, failed: 0, skipped: 0 }
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}
