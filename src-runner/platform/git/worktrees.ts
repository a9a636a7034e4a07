import { copyFile, lstat, readdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { readSmallFile } from '../protected-places/small-file.ts'
import { deleteTree } from './delete-tree.ts'
import { GitFailed } from './git-failed.ts'
import type { Repositories, Repository } from './repository.ts'
import type { GitPlace, RunGit } from './run-git.ts'

/** The folder of a task, in which a hostile program works. `repository`: the root of the person's. */
export type Worktree = { repository: string; folder: string; branch: string }

const CHECKOUT_WITHIN_MS = 20 * 60_000
const MAX_ENTRY_BYTES = 10_000
/** The longest that a file system takes with `.lock`, in bytes. */
const BRANCH = /^(?!-)[\w./-]{1,200}$/

/** What we know of the files of a worktree. Beside its folder, where the program cannot write. */
export const indexOf = (folder: string) => `${folder}.index`

/** How the files of a worktree are seen. Its `.git` is never read: the program can replace it. */
export function placeOf({ plain }: Repository, folder: string): GitPlace {
  return { ...plain, workTree: folder, index: indexOf(folder) }
}

export function createWorktrees({ run, repositories }: { run: RunGit; repositories: Repositories }) {
  /**
   * Makes a branch at a commit, and a folder with its files. Does nothing if they are there, and completes them if an earlier call
   * was interrupted. Throws GitFailed: `branch_exists` if it has other commits.
   */
  async function add({ repository: root, folder, branch, commit }: Worktree & { commit: string }): Promise<void> {
    if (await isThere(indexOf(folder))) return
    const repository = await repositories.open(root)
    if (!BRANCH.test(branch)) throw new GitFailed('failed', 'it is not the name of a branch')
    await run({ at: repository.own, args: ['check-ref-format', `refs/heads/${branch}`] })
    const former = await repositories.commitAt(repository, `refs/heads/${branch}`)
    if (former !== null && former !== commit) throw new GitFailed('branch_exists', `the branch ${branch} exists`)
    if ((await entryOf(repository, folder)) === null) {
      // Whatever an interrupted call left there.
      await deleteTree(folder)
      const names = former === null ? ['-b', branch, folder, commit] : [folder, branch]
      await run({ at: repository.own, args: ['worktree', 'add', '--quiet', '--force', '--no-checkout', ...names] })
    }
    const at = placeOf(repository, folder)
    await rm(`${at.index!}.lock`, { force: true })
    // Writes the index last, so it says that all files are there.
    await run({ at, args: ['read-tree', '--reset', '-u', '--no-recurse-submodules', commit], withinMs: CHECKOUT_WITHIN_MS })
    await showIndex(repository, folder)
  }

  /** Deletes the folder and what the repository knows of it. The branch stays. Nothing may run in the folder any more. */
  async function remove({ repository: root, folder }: Pick<Worktree, 'repository' | 'folder'>): Promise<void> {
    // First: without it nothing is committed any more. A call that is interrupted leaves a folder in which files are missing.
    for (const file of [indexOf(folder), `${indexOf(folder)}.lock`]) await rm(file, { force: true })
    await deleteTree(folder)
    const repository = await repositories.open(root).catch((thrown: unknown) => {
      if (thrown instanceof GitFailed && ['no_repository', 'failed'].includes(thrown.trouble)) return null
      throw thrown
    })
    if (repository !== null && (await entryOf(repository, folder)) !== null)
      await run({ at: repository.own, args: ['worktree', 'remove', '--force', '--force', folder] })
  }

  /** Does nothing if it is gone. Throws GitFailed: `branch_in_use` if the person works on it. */
  async function deleteBranch({ repository: root, branch }: Pick<Worktree, 'repository' | 'branch'>): Promise<void> {
    const repository = await repositories.open(root)
    if ((await repositories.commitAt(repository, `refs/heads/${branch}`)) === null) return
    try {
      await run({ at: repository.own, args: ['branch', '--quiet', '-D', '--', branch] })
    } catch (thrown) {
      if (thrown instanceof GitFailed && /checked out at|used by worktree/.test(thrown.message))
        throw new GitFailed('branch_in_use', thrown.message)
      throw thrown
    }
  }

  return { add, remove, deleteBranch }
}

/** Lets the program's own `git status` tell the truth. It is no matter if this fails. */
export async function showIndex(repository: Repository, folder: string): Promise<void> {
  const entry = await entryOf(repository, folder)
  if (entry === null || (await isThere(join(entry, 'index.lock')))) return
  const draft = join(entry, 'index.deckhand')
  await copyFile(indexOf(folder), draft)
    .then(() => rename(draft, join(entry, 'index')))
    .catch(() => rm(draft, { force: true }))
}

/** The folder in `.git` that stands for a worktree. null: the repository knows none there. */
async function entryOf({ gitDir }: Repository, folder: string): Promise<string | null> {
  const worktrees = join(gitDir, 'worktrees')
  // Git writes the path without links.
  const parent = await realpath(dirname(folder)).catch(() => dirname(folder))
  const paths = [join(folder, '.git'), join(parent, basename(folder), '.git')]
  for (const name of await readdir(worktrees).catch((): string[] => [])) {
    const leadsTo = (await readSmallFile(join(worktrees, name, 'gitdir'), MAX_ENTRY_BYTES)).replace(/\n$/, '')
    if (paths.includes(leadsTo)) return join(worktrees, name)
  }
  return null
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(() => true, () => false) // prettier-ignore
}
