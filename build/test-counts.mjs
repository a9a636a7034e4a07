// What the reports of the suites say. `failed` counts the failed tests, which `failedIn` names, and what failed outside of any test,
// which no second try of those tests can mend.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { root } from './run.mjs'

/** `errors`: how many the report leaves out, because they belong to no file. */
export function countVitest({ numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults }, errors) {
  const broken = testResults.filter((file) => isFailed(file) && !file.assertionResults.some(isFailed))
  return {
    passed: numPassedTests,
    failed: numFailedTests + broken.length + errors,
    skipped: numPendingTests + numTodoTests,
    skippedIn: testResults.flatMap(({ name, assertionResults }) => skippedIn(name, assertionResults)),
    failedIn: testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.filter(isFailed).map(({ fullName }) => ({ file: relative(root, name), title: fullName.trim() })),
    ),
  }
}

export function countWindows({ stats, suites, errors }) {
  return {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky + errors.length,
    skipped: stats.skipped,
    skippedIn: suites.flatMap(skippedSpecs),
    failedIn: suites.flatMap(failedSpecs),
  }
}

const isFailed = ({ status }) => status === 'failed'

/** The skipped tests of a file, by their outermost group. */
function skippedIn(file, tests) {
  const groups = new Map()
  for (const { status, ancestorTitles, title } of tests) {
    if (status !== 'skipped' && status !== 'pending' && status !== 'todo') continue
    const group = ancestorTitles.filter(Boolean)[0] ?? title
    groups.set(group, (groups.get(group) ?? 0) + 1)
  }
  if (groups.size === 0) return []
  const needsSandbox = readFileSync(file, 'utf8').includes('findSandboxHere(')
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

function failedSpecs({ file, specs, suites = [] }) {
  return [...specs.filter(({ ok }) => !ok).map(({ title }) => ({ file, title })), ...suites.flatMap(failedSpecs)]
}
