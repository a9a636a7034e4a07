import type { CodeTaskFile } from '../../src-runner/contract/code-tasks.ts'
import type { CodingCli } from '../../src-runner/contract/coding-programs.ts'
import { changeCodeTask, type CodeTaskChange, insertCodeTask } from '../../src-runner/domain/code-tasks/code-tasks.ts'
import { quote } from '../../src-runner/lib/messages.ts'
import { openSeed, type Seed, type SeededJob } from './seed.ts'

const HOUR = 3_600_000
const MODEL = { providerId: 'claude', model: 'claude-sonnet-4-5' }

const FILES: CodeTaskFile[] = [
  { path: 'src/cart/cart.ts', change: 'modified', from: null, additions: 14, deletions: 3, binary: false, runsByItself: false },
  { path: 'src/cart/empty-cart.test.ts', change: 'added', from: null, additions: 31, deletions: 0, binary: false, runsByItself: false },
  { path: 'package.json', change: 'modified', from: null, additions: 2, deletions: 1, binary: false, runsByItself: true },
  { path: 'assets/empty.png', change: 'added', from: null, additions: 0, deletions: 0, binary: true, runsByItself: false },
  { path: 'src/lib/money.ts', change: 'renamed', from: 'src/money.ts', additions: 0, deletions: 0, binary: false, runsByItself: false },
]
const COMMANDS = [
  { command: 'npm test -- cart', exitCode: 1 },
  { command: 'npm test -- cart', exitCode: 0 },
  { command: 'git grep -n "total(" -- "src/**/*.ts"', exitCode: null },
]
const CHANGES: CodeTaskChange = { files: FILES, fileCount: 5, additions: 47, deletions: 4, commands: COMMANDS, sizeBytes: 18_400_000 }

const WORK: SeededJob['turns'] = [
  {
    text: 'I look at the cart first.',
    reasoning: 'The total of an empty cart is NaN, because the first item is taken without a look.',
    calls: [
      { name: 'code_read', args: { path: 'src/cart/cart.ts' }, output: '120 lines' },
      { name: 'code_edit', args: { path: 'src/cart/cart.ts' }, output: 'Changed 17 lines.' },
      { name: 'code_command', args: { command: 'npm test -- cart' }, ok: false, output: '1 failed, 11 passed' },
      { name: 'code_fetch', args: { url: 'https://vitest.dev/guide/' }, output: 'Vitest is a test runner.' },
      { name: 'code_other', args: { title: 'Update the plan' }, output: '' },
    ],
    costMicros: 310_000,
    inputTokens: 24_000,
    outputTokens: 900,
  },
  {
    text: 'The total of an **empty cart** is now 0, and a test says so. All 12 tests of the cart pass.',
    costMicros: 110_000,
    inputTokens: 26_000,
    outputTokens: 300,
  },
]

/** Tasks of coding programs in every state that lasts. */
export function fillCodeTasks(dataDir: string, now: number): void {
  const seed = openSeed(dataDir, now - 30 * HOUR)
  const ada = seed.agent({ name: 'Ada', folders: ['/srv/projects/shop'] })
  const add = (cli: CodingCli, title: string, job: Partial<SeededJob>, change: CodeTaskChange) =>
    addTask(seed, { cli, job: { agent: ada, task: title, turns: WORK, model: MODEL, ...job }, change })
  const isGone = { folder: null, folderRemovedAt: now - HOUR }
  add('opencode', 'Rename money helpers', {}, { ...CHANGES, result: 'discarded', ...isGone })
  add('claude', 'Make the build reproducible', {}, { ...CHANGES, result: 'applied' })
  add('codex', 'Find out why the nightly build is slow', { turns: [{ text: 'It waits for the network.' }] }, { result: 'none' })
  add('gemini', 'Translate the shop into Portuguese', { outcome: 'cancelled' }, { ...CHANGES, result: 'ready' })
  add(
    'codex',
    'Move to the new payment interface',
    { outcome: { error: 'internal', message: quote('Codex ended before it was done.') } },
    {},
  )
  add('claude', 'Round prices half to even', {}, { ...CHANGES, result: 'ready', ...isGone })
  const leftOut = [
    { path: 'fixtures/orders.sqlite', reason: 'too_large' as const },
    { path: 'vendor/prices/rates.json', reason: 'submodule' as const },
  ]
  add('claude', 'Fix the total of an empty cart, and write a test for it', {}, { ...CHANGES, leftOut, result: 'ready' })
  add('gemini', 'Add a search field to the list of orders', { turns: waitingWork(), outcome: 'waiting' }, {})
  seed.close()
}

function waitingWork(): SeededJob['turns'] {
  const facts = { subject: 'npm install fuse.js', summary: 'Run npm install fuse.js', runsCode: true, leavesMachine: true, sandboxed: true }
  const call = { name: 'code_command', args: { command: 'npm install fuse.js' }, facts }
  return [{ text: 'I need a library for this.', calls: [call] }]
}

function addTask(seed: Seed, { cli, job, change }: { cli: CodingCli; job: SeededJob; change: CodeTaskChange }): void {
  const branch = `deckhand/${job.task.toLowerCase().replaceAll(/\W+/g, '-').slice(0, 40)}-7f3k`
  const base = { baseCommit: '4b825dc642cb6eb9a060e54bf8d69288fbee4904', baseBranch: 'main', internet: false }
  const { id } = seed.job(job)
  seed.parts.write((tx) => {
    insertCodeTask(tx, id, { cli, repository: '/srv/projects/shop', branch, ...base })
    changeCodeTask(tx, id, { folder: `/srv/deckhand/code/${id}`, ...change })
  })
  seed.clock.advance(2 * HOUR)
}
