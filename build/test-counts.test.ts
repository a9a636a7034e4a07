import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { countVitest, countWindows } from './test-counts.mjs'

const ROOT = join(import.meta.dirname, '..')
const FAILING = "import { expect, it } from 'vitest'\nit('fails', () => expect(1).toBe(2))\nit('passes', () => {})"

/** What vitest reports of these files. */
function countsOf(files: Record<string, string>) {
  mkdirSync(join(ROOT, 'test-results'), { recursive: true })
  // In the clone, so that the files find vitest.
  const folder = mkdtempSync(join(ROOT, 'test-results/counts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const [report, errors] = [join(folder, 'report.json'), join(folder, 'errors')]
  const reporters = ['--reporter', join(ROOT, 'build/errors-reporter.mjs'), '--reporter=json', `--outputFile.json=${report}`]
  spawnSync(join(ROOT, 'node_modules/.bin/vitest'), ['run', '--root', folder, ...reporters], {
    cwd: folder,
    env: { ...process.env, VITEST_ERRORS_FILE: errors },
  })
  return countVitest(JSON.parse(readFileSync(report, 'utf8')), Number(readFileSync(errors, 'utf8')))
}

it('counts failed tests', () => {
  const counts = countsOf({ 'a.test.ts': FAILING })
  expect(counts).toMatchObject({ passed: 1, failed: 1, failedIn: [{ file: expect.stringMatching(/a\.test\.ts$/), title: 'fails' }] })
})

it.each([
  ['a file that cannot be loaded', "import './missing.ts'"],
  [
    'a hook after the tests of a file',
    "import { afterAll, it } from 'vitest'\nit('passes', () => {})\nafterAll(() => { throw new Error('no') })",
  ],
  ['an error that no test waited for', "import { it } from 'vitest'\nit('passes', () => void Promise.reject(new Error('no')))"],
])('counts %s beside a failed test, which alone could pass at a second try', (_what, text) => {
  const { failed, failedIn } = countsOf({ 'a.test.ts': FAILING, 'b.test.ts': text })
  expect({ failed, named: failedIn.length }).toEqual({ failed: 2, named: 1 })
})

it('counts errors of window tests that belong to no test', () => {
  const stats = { expected: 3, unexpected: 1, flaky: 0, skipped: 0 }
  const specs = [{ title: 'opens', ok: false, tests: [] }]
  const counts = countWindows({ stats, suites: [{ file: 'start.spec.ts', specs }], errors: [{ message: 'a worker ended' }] })
  expect(counts).toMatchObject({ passed: 3, failed: 2, failedIn: [{ file: 'start.spec.ts', title: 'opens' }] })
})
