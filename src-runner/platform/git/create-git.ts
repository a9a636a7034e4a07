import type { Clock } from '../../lib/clock.ts'
import { createKeyedQueue } from '../../lib/keyed-queue.ts'
import { createApplier } from './apply-changes.ts'
import { createCommitter, type CommitOptions } from './commit-work.ts'
import { measureTree } from './delete-tree.ts'
import { createGitFinder, type FindGitDeps } from './find-git.ts'
import { createChangeReader, type Range } from './read-changes.ts'
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
 * What changes the same folder or repository is done one call after the other.
 */
export function createGit({ clock, home, ...deps }: GitDeps) {
  const run = createGitRunner({ findGit: createGitFinder(deps), clock })
  const repositories = createRepositories({ run, home })
  const worktrees = createWorktrees({ run, repositories })
  const committer = createCommitter({ run, repositories })
  const applier = createApplier({ run, repositories })
  const inTurn = createKeyedQueue()
  const reader = createChangeReader({ run, repositories })

  return {
    /** The repository that a folder lies in. Compare `root` with the folders that the agent has: it may be above. */
    findRepository: repositories.find,
    addWorktree: (given: Parameters<typeof worktrees.add>[0]) => inTurn(given.folder, () => worktrees.add(given)),
    removeWorktree: (given: Parameters<typeof worktrees.remove>[0]) => inTurn(given.folder, () => worktrees.remove(given)),
    deleteBranch: worktrees.deleteBranch,
    commitAll: (given: CommitOptions) => inTurn(given.folder, () => committer.commitAll(given)),
    changes: reader.changes,
    diffOf: reader.diffOf,
    applyTo: (range: Range) => inTurn(range.repository, () => applier.applyTo(range)),
    /** What a folder takes on the disk, in bytes. `isCut`: at least that. */
    sizeOf: measureTree,
    /** The newest commit of a branch. null: it is gone. */
    async tipOf({ repository, branch }: { repository: string; branch: string }): Promise<string | null> {
      return repositories.commitAt(await repositories.open(repository), `refs/heads/${branch}`)
    },
  }
}
