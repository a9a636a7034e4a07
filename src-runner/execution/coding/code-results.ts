import { realpath } from 'node:fs/promises'
import { commitSoon, type Database } from '../../platform/db/database.ts'
import type { createGit } from '../../platform/git/create-git.ts'
import { GitFailed } from '../../platform/git/git-failed.ts'
import type { CodeRepository, CodeTask, CodeTaskDiff } from '../../contract/code-tasks.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, issueAt } from '../../lib/errors.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { getAgent } from '../../domain/agents/agents.ts'
import { changeCodeTask, getCodeTask, type CodeTaskChange } from '../../domain/code-tasks/code-tasks.ts'
import { findRepositories } from './find-repositories.ts'
import type { WorkKeeper } from './work-keeper.ts'

type Git = ReturnType<typeof createGit>
export type CodeResultsDeps = { db: Database; git: Git; clock: Pick<Clock, 'now'>; keeper: WorkKeeper }
export type CodeResults = ReturnType<typeof createCodeResults>

const MAX_ISSUES = 50
const MAX_REPOSITORIES = 50
const SIDE_BY_SIDE = 4

/**
 * What becomes of the work of a coding program: a person looks at it, takes it over or discards it. Every step can be repeated, and
 * the row is written last, so a call that was interrupted is completed by the next one. All throw AppError code_task_not_found,
 * and git_missing or code_not_available if Git or the repository cannot be used.
 */
export function createCodeResults({ db, git, clock, keeper }: CodeResultsDeps) {
  function inTurn<T>(jobId: string, work: () => Promise<T>): Promise<T> {
    return keeper.inTurn(jobId, work).catch((thrown: unknown) => Promise.reject(explained(thrown) as Error))
  }

  function write(jobId: string, change: CodeTaskChange): Promise<void> {
    return commitSoon(db, (tx) => void changeCodeTask(tx, jobId, change))
  }

  /** Throws AppError job_not_finished. */
  async function getFinished(jobId: string): Promise<CodeTask> {
    const task = await keeper.whenOver(jobId)
    if (task === null) throw new AppError('job_not_finished')
    return task
  }

  async function rangeOf({ repository, branch, baseCommit: base }: CodeTask) {
    const commit = await git.tipOf({ repository, branch })
    if (commit === null) throw new AppError('code_not_available', createMessage('code_branch_gone', { branch }))
    return { repository, base, commit }
  }

  async function removeFolder(jobId: string): Promise<void> {
    const { folder, repository } = await getFinished(jobId)
    if (folder === null) return
    // Also what a person has changed in it.
    const { isWhole } = await keeper.save(jobId)
    if (!isWhole) {
      const issues = getCodeTask(db, jobId).leftOut.slice(0, MAX_ISSUES).map(({ path, reason: why }) => issueAt(path, createMessage('code_left_out', { why }))) // prettier-ignore
      throw new AppError('code_folder_unsaved', undefined, { issues })
    }
    await git.removeWorktree({ repository, folder })
    await write(jobId, { folder: null, folderRemovedAt: clock.now(), sizeBytes: null })
  }

  return {
    /** How one of the changed files differs from the base. `path`: as listed. */
    diff: (jobId: string, path: string): Promise<CodeTaskDiff> =>
      inTurn(jobId, async () => {
        await keeper.saveOnce(jobId)
        const task = getCodeTask(db, jobId)
        const from = task.files.find((file) => file.path === path)?.from ?? null
        return { path, ...(await git.diffOf(await rangeOf(task), { path, from })) }
      }),

    /** Changes the person's checkout, or throws AppError code_does_not_apply, job_not_finished. Returns how many files it changed. */
    apply: (jobId: string): Promise<number> =>
      inTurn(jobId, async () => {
        const task = await getFinished(jobId)
        await keeper.saveOnce(jobId)
        const applied = await git.applyTo(await rangeOf(task))
        if (applied.is === 'refused') {
          const issues = applied.misfits.slice(0, MAX_ISSUES).map(({ path, why }) => issueAt(path, createMessage('code_misfit', { why })))
          const detail = createMessage('code_misfits', { path: applied.misfits[0]!.path, count: applied.misfits.length })
          throw new AppError('code_does_not_apply', detail, { issues })
        }
        await write(jobId, { result: 'applied' })
        return applied.files
      }),

    /** Deletes the folder and the branch, with all work. Throws AppError job_not_finished, code_not_available. */
    discard: (jobId: string): Promise<void> =>
      inTurn(jobId, async () => {
        const { folder, repository, branch } = await getFinished(jobId)
        if (folder !== null) {
          await git.removeWorktree({ repository, folder })
          await write(jobId, { folder: null, folderRemovedAt: clock.now(), sizeBytes: null })
        }
        await git.deleteBranch({ repository, branch }).catch((thrown: unknown) => {
          // With the repository, the branch is gone too.
          if (!(thrown instanceof GitFailed) || thrown.trouble !== 'no_repository') throw thrown
        })
        await write(jobId, { result: 'discarded' })
      }),

    /** Deletes the folder. The branch keeps all work, or it throws AppError code_folder_unsaved. Throws AppError job_not_finished. */
    removeFolder: (jobId: string): Promise<void> => inTurn(jobId, () => removeFolder(jobId)),

    /** Those among the agent's folders, and a little below them. None that is larger than the folder that the agent has. */
    async listRepositories(agentId: string): Promise<CodeRepository[]> {
      const { folders } = getAgent(db, agentId)
      const candidates = (await findRepositories(folders)).slice(0, MAX_REPOSITORIES)
      const found = new Map<string, CodeRepository>()
      for (let at = 0; at < candidates.length; at += SIDE_BY_SIDE) {
        const looked = await Promise.all(candidates.slice(at, at + SIDE_BY_SIDE).map(look))
        for (const one of looked) if (one !== null) found.set(one.folder, one)
      }
      return [...found.values()]
    },
  }

  async function look(folder: string): Promise<CodeRepository | null> {
    try {
      const found = await git.findRepository(folder)
      if (found.is === 'refused' || found.head === null || found.root !== (await realpath(folder))) return null
      return { folder: found.root, branch: found.branch, dirty: found.dirty }
    } catch (thrown) {
      if (thrown instanceof GitFailed && !['missing', 'outdated'].includes(thrown.trouble)) return null
      throw explained(thrown)
    }
  }
}

function explained(thrown: unknown): unknown {
  if (!(thrown instanceof GitFailed)) return thrown
  const options = { cause: thrown }
  if (thrown.trouble === 'missing' || thrown.trouble === 'outdated') return new AppError('git_missing', undefined, options)
  if (thrown.trouble === 'branch_in_use') return new AppError('code_branch_in_use', undefined, options)
  const isGone = thrown.trouble === 'no_repository'
  return new AppError('code_not_available', isGone ? createMessage('code_repository_gone') : quote(thrown.message), options)
}
