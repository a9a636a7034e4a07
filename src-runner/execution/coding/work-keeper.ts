import { commitSoon } from '../../platform/db/database.ts'
import type { createGit } from '../../platform/git/create-git.ts'
import { GitFailed } from '../../platform/git/git-failed.ts'
import type { Services } from '../../platform/services.ts'
import type { CodeTask } from '../../contract/code-tasks.ts'
import { isTerminal } from '../../contract/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { createKeyedQueue } from '../../lib/keyed-queue.ts'
import { listUnsavedTasks } from '../../domain/code-tasks/code-folders.sql.ts'
import { changeCodeTask, findCodeTask, findCodingTurn, getCodeTask, type CodeTaskChange } from '../../domain/code-tasks/code-tasks.ts'
import type { CodingProgramFinder } from './coding-program-finder.ts'
import type { LivePrograms } from './live-programs.ts'

export type WorkKeeperDeps = Pick<Services, 'db' | 'log'> & {
  git: Pick<ReturnType<typeof createGit>, 'commitAll' | 'changes' | 'sizeOf'>
  clock: Pick<Clock, 'now'>
  programs: Pick<LivePrograms, 'endOf'>
  codingPrograms: Pick<CodingProgramFinder, 'forget' | 'listHomes' | 'listLogins'>
}

export type WorkKeeper = ReturnType<typeof createWorkKeeper>

/**
 * Keeps what programs leave in their folders. A task counts as saved when a commit that was made after its program was gone is recorded
 * with it. Until then, its job's end, the next start and every use of its result save it first. So it does not matter when this
 * process is killed. All functions throw GitFailed.
 */
export function createWorkKeeper({ db, git, clock, log, programs, codingPrograms }: WorkKeeperDeps) {
  /** One at a time for each task: all that is done with its folder and branch when its job has ended. */
  const inTurn = createKeyedQueue()
  const tidying = new Set<Promise<void>>()
  /** The database may be closed from then on. */
  let isStopped = false

  /** Commits what is in the folder to the branch. The same again changes nothing. */
  async function commit(task: CodeTask): Promise<CodeTaskChange & { isWhole: boolean }> {
    const { jobId, repository, branch, baseCommit: base, title, folder } = task
    const now = clock.now()
    if (folder === null) return { savedAt: now, isWhole: true }
    try {
      const secrets = await codingPrograms.listLogins()
      const { commit, leftOut, isCut } = await git.commitAll({ repository, folder, branch, base, message: title, now, secrets })
      const changes = await git.changes({ repository, base, commit })
      const { bytes } = await git.sizeOf(folder)
      log.debug({ jobId, files: changes.fileCount }, 'the work of a coding program was committed')
      const result = task.result === 'none' && changes.fileCount > 0 ? 'ready' : task.result
      return { ...changes, leftOut, sizeBytes: bytes, result, savedAt: now, isWhole: leftOut.length === 0 && !isCut }
    } catch (thrown) {
      // Somebody removed it, or no program ever worked in it.
      if (thrown instanceof GitFailed && thrown.trouble === 'no_folder') return { savedAt: now, isWhole: true }
      throw thrown
    }
  }

  /** Commits and records it. `isWhole`: nothing was left out. */
  async function save(jobId: string): Promise<{ isWhole: boolean }> {
    const { isWhole, ...change } = await commit(getCodeTask(db, jobId))
    await commitSoon(db, (tx) => void changeCodeTask(tx, jobId, change))
    return { isWhole }
  }

  /** The task, when its program is gone. null: its job goes on. Throws AppError code_task_not_found. */
  async function whenOver(jobId: string): Promise<CodeTask | null> {
    if (!isTerminal(getCodeTask(db, jobId).jobStatus)) return null
    await programs.endOf(jobId)
    return getCodeTask(db, jobId)
  }

  /** Does nothing if it is saved, or its job goes on. */
  async function saveOnce(jobId: string): Promise<void> {
    if ((await whenOver(jobId)) !== null && findCodingTurn(db, jobId)?.savedAt === null) await save(jobId)
  }

  /** A home that cannot be deleted stays until the next start, and keeps neither this job's work nor other homes waiting. */
  async function forget(jobId: string): Promise<void> {
    try {
      await codingPrograms.forget(jobId)
    } catch (error) {
      log.warn({ err: error, jobId }, `the home of a coding program could not be deleted: ${messageOf(error)}`)
    }
  }

  /** After a job has ended. */
  async function tidy(jobId: string): Promise<void> {
    try {
      await inTurn(jobId, async () => {
        await whenOver(jobId)
        await forget(jobId)
        await saveOnce(jobId)
      })
    } catch (error) {
      log.warn({ err: error, jobId }, `the work of a coding program was not committed: ${messageOf(error)}`)
    }
  }

  function tidySoon(jobId: string): void {
    const work = tidy(jobId)
    tidying.add(work)
    void work.finally(() => tidying.delete(work))
  }

  const stopListening = db.onEvents(({ type, payload }) => {
    if (type === 'job.finished' && findCodeTask(db, payload.jobId) !== null) tidySoon(payload.jobId)
  })

  return {
    commit,
    save,
    saveOnce,
    whenOver,
    inTurn,
    /** What an earlier process did not get to: logins that programs were given, and work. */
    async recover(): Promise<void> {
      for (const jobId of await codingPrograms.listHomes()) {
        if (isStopped) return
        const status = findCodeTask(db, jobId)?.jobStatus
        if (status === undefined || isTerminal(status)) await forget(jobId)
      }
      if (isStopped) return
      for (const jobId of listUnsavedTasks(db)) tidySoon(jobId)
    },
    async stop(): Promise<void> {
      isStopped = true
      stopListening()
      await Promise.all(tidying)
    },
  }
}
