import type { Clock } from '../../lib/clock.ts'
import { createApplier } from './apply-changes.ts'
import { createCommitter } from './commit-work.ts'
import { measureTree } from './delete-tree.ts'
import { createGitFinder, type FindGitDeps } from './find-git.ts'
import { createChangeReader } from './read-changes.ts'
import { createRepositories } from './repository.ts'
import { createGitRunner } from './run-git.ts'
import { createWorktrees } from './worktrees.ts'

export type GitDeps = FindGitDeps & {
  clock: Pick<Clock, 'after'>
  /** A folder of ours for worktrees, in which no agent writes except in its own worktree. It need not exist. */
  home: string
}

/**
 * The person's Git, for the work of hostile programs in hostile repositories. Nothing that a repository, its settings, its
 * attributes or a work tree names is ever started, and nothing goes to the network. All functions throw GitFailed.
 *
 * Calls for the same folder must come one after the other.
 */
export function createGit({ clock, home, ...deps }: GitDeps) {
  const run = createGitRunner({ findGit: createGitFinder(deps), clock })
  const repositories = createRepositories({ run, home })
  const worktrees = createWorktrees({ run, repositories })
  const committer = createCommitter({ run, repositories })
  const reader = createChangeReader({ run, repositories })

  return {
    /** The repository that a folder lies in. Compare `root` with the folders that the agent has: it may be above. */
    findRepository: repositories.find,
    addWorktree: worktrees.add,
    removeWorktree: worktrees.remove,
    deleteBranch: worktrees.deleteBranch,
    commitAll: committer.commitAll,
    changes: reader.changes,
    diffOf: reader.diffOf,
    applyTo: createApplier({ run, repositories }).applyTo,
    /** What a folder takes on the disk, in bytes. `isCut`: at least that. */
    sizeOf: measureTree,
    /** The newest commit of a branch. null: it is gone. */
    async tipOf({ repository, branch }: { repository: string; branch: string }): Promise<string | null> {
      return repositories.commitAt(await repositories.open(repository), `refs/heads/${branch}`)
    },
  }
}
