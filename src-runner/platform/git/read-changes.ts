import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { foldName, foldParts, matchOf, patternsOf } from '../protected-places/path-patterns.ts'
import { codePlaceTest, type isCodePlace } from '../protected-places/protected-places.ts'
import type { Repositories, Repository } from './repository.ts'
import type { RunGit } from './run-git.ts'

export type ChangedFile = {
  path: string
  change: 'added' | 'modified' | 'deleted' | 'renamed'
  /** The former path of a renamed file. */
  from: string | null
  additions: number
  deletions: number
  binary: boolean
  /** Something runs it by itself once it is in the checkout. */
  runsByItself: boolean
}

/** The sums are those of all files. `files` has the first of `fileCount`, and those that run by themselves before all others. */
export type Changes = { files: ChangedFile[]; fileCount: number; additions: number; deletions: number }

/** `truncated`: there is more than `diff` has. A binary file has no `diff`. */
export type FileDiff = { diff: string; truncated: boolean; binary: boolean }

/** `root`: of the person's checkout. `base`, `commit`: what is compared. */
export type Range = { repository: string; base: string; commit: string }

const MAX_FILES = 1_000
const MAX_LIST_BYTES = 16_000_000
const MAX_DIFF_BYTES = 200_000
const COMPARE_WITHIN_MS = 5 * 60_000
const SIDE_BY_SIDE = 16

const CHANGES: Record<string, ChangedFile['change']> = { A: 'added', D: 'deleted', R: 'renamed' }

/** Detecting renames takes the square of this, in the worst case. */
const OPTIONS = ['-r', '-M', '-l400', '--no-ext-diff', '--no-textconv', '--no-color']

/**
 * Files that name programs, and that a person's next ordinary command runs or loads unread: installing, building, testing, or an
 * editor that
 * opens the folder. Where agents write one, these count as source (protected-places.ts), since the person runs them by name. Here
 * they are marked: in a diff, a new install script looks like any other line. A lock file decides whose install scripts run.
 */
const RECIPES = patternsOf([
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'bun.lock*',
  'deno.json*',
  'tsconfig*.json',
  'jsconfig*.json',
  '.eslintrc*',
  '.prettierrc*',
  '.stylelintrc*',
  '.babelrc*',
  '.mocharc*',
  ...['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((extension) => `*.config.${extension}`),
  'makefile',
  'gnumakefile',
  'bsdmakefile',
  '*.mk',
  'justfile',
  'taskfile.y*ml',
  'cmakelists.txt',
  '*.cmake',
  'rakefile',
  'gemfile',
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'conftest.py',
  'tox.ini',
  'noxfile.py',
  'cargo.toml',
  'build.rs',
  'pom.xml',
  'build.gradle*',
  'settings.gradle*',
  'gradlew*',
  'gradle-wrapper.*',
  '.gitmodules',
])

export function createChangeReader({ run, repositories }: { run: RunGit; repositories: Repositories }) {
  /** The files that differ between two commits. */
  async function changes({ repository: root, base, commit }: Range): Promise<Changes> {
    const repository = await repositories.open(root)
    const found = await compare(repository, ['--name-status'], base, commit)
    const counts = await compare(repository, ['--numstat'], base, commit)
    const files: Omit<ChangedFile, 'runsByItself'>[] = []
    const count = { files: 0, additions: 0, deletions: 0 }
    for (let [at, of] = [0, 0]; at < found.length; count.files++) {
      const change = CHANGES[found[at]![0]!] ?? 'modified'
      const from = change === 'renamed' ? (found[++at] ?? null) : null
      const path = found[++at]
      // The list was cut.
      if (path === undefined) break
      at++
      const [added = '0', deleted = '0'] = (counts[of] ?? '').split('\t')
      // A rename is followed by both names.
      of += from === null ? 1 : 3
      const [additions, deletions] = [Number(added) || 0, Number(deleted) || 0]
      count.additions += additions
      count.deletions += deletions
      files.push({ path, change, from, additions, deletions, binary: added === '-' })
    }
    const { files: fileCount, ...sums } = count
    const marked = await markWhatRuns(root, files)
    const first = [...marked.filter((file) => file.runsByItself), ...marked.filter((file) => !file.runsByItself)]
    return { files: first.slice(0, MAX_FILES), fileCount, ...sums }
  }

  /** How one file differs. `from`: its former path, if it was renamed. The text is of the program: it may hold anything. */
  async function diffOf(
    { repository: root, base, commit }: Range,
    { path, from }: { path: string; from: string | null },
  ): Promise<FileDiff> {
    const { plain } = await repositories.open(root)
    const paths = from === null ? [path] : [from, path]
    const args = ['diff-tree', '-p', ...OPTIONS, base, commit, '--', ...paths]
    const { output, isCut } = await run({ at: plain, args, maxBytes: MAX_DIFF_BYTES, cuts: true, withinMs: COMPARE_WITHIN_MS })
    const diff = output.toString('utf8')
    const binary = /^Binary files .* differ$/m.test(diff.slice(0, 10_000)) && !/^@@ /m.test(diff)
    return { diff: binary ? '' : diff, truncated: isCut, binary }
  }

  async function compare({ plain }: Repository, how: readonly string[], base: string, commit: string): Promise<string[]> {
    const args = ['diff-tree', ...how, '-z', ...OPTIONS, base, commit]
    const { output } = await run({ at: plain, args, maxBytes: MAX_LIST_BYTES, cuts: true, withinMs: COMPARE_WITHIN_MS })
    return output.toString('utf8').split('\0').slice(0, -1)
  }

  return { changes, diffOf }
}

async function markWhatRuns(root: string, files: readonly Omit<ChangedFile, 'runsByItself'>[]): Promise<ChangedFile[]> {
  const isCode = await codePlaceTest()
  const marked: ChangedFile[] = []
  for (let at = 0; at < files.length; at += SIDE_BY_SIDE) {
    const some = files.slice(at, at + SIDE_BY_SIDE)
    marked.push(...(await Promise.all(some.map(async (file) => ({ ...file, runsByItself: await runs(root, file, isCode) })))))
    // Most of it is known by then, so that nothing else would run meanwhile.
    await setImmediate()
  }
  return marked
}

async function runs(root: string, { path, change }: Pick<ChangedFile, 'path' | 'change'>, isCode: typeof isCodePlace): Promise<boolean> {
  if (change === 'deleted') return false
  if (matchOf(foldParts(basename(path)), RECIPES) !== null) return true
  // With HEAD, any folder may become a repository with hooks.
  return foldName(basename(path)) === 'head' || isCode({ path: join(root, path), folder: root })
}
