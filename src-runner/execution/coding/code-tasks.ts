import { realpath } from 'node:fs/promises'
import type { Database, Tx } from '../../platform/db/database.ts'
import type { createGit } from '../../platform/git/create-git.ts'
import { GitFailed } from '../../platform/git/git-failed.ts'
import { isInside } from '../../platform/protected-places/places-by-path.ts'
import type { Agent } from '../../contract/agents.ts'
import type { CodingCli } from '../../contract/coding-programs.ts'
import type { CreateCodeTask } from '../../contract/code-tasks.ts'
import type { Job } from '../../contract/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { nameFolders } from '../../agent/files/folder-paths.ts'
import { findAgent } from '../../domain/agents/agents.ts'
import { findCodeTask, insertCodeTask, type NewCodeTask } from '../../domain/code-tasks/code-tasks.ts'
import { closedFoldersOf, type RuleSet } from '../../domain/rules/rule-set.ts'
import { findRepositories } from './find-repositories.ts'

export type CodeTasksDeps = {
  db: Database
  git: Pick<ReturnType<typeof createGit>, 'findRepository'>
  rules: { read(): RuleSet }
  programs: { find(cli: CodingCli): Promise<object | null>; installed(): readonly CodingCli[] }
  clock: Pick<Clock, 'monotonic'>
}

/** A task that could be started now. */
export type PreparedCodeTask = Omit<NewCodeTask, 'branch'>

export type CodeTasks = ReturnType<typeof createCodeTasks>

const MAX_BRANCH_WORDS = 40
const LOOK_EVERY_MS = 60_000

/** What is checked before a coding program gets a task. */
export function createCodeTasks({ db, git, rules, programs, clock }: CodeTasksDeps) {
  const looks = new Map<string, { folders: string; at: number; found: boolean }>()
  return {
    installed: programs.installed,
    /** Looks for repositories that the agent could give to a program, if the last look is not recent. */
    async look(agentId: string): Promise<void> {
      if (programs.installed().length === 0) return
      const open = findAgent(db, agentId)?.folders ?? []
      const [folders, at, last] = [JSON.stringify(open), clock.monotonic(), looks.get(agentId)]
      if (last?.folders === folders && at - last.at < LOOK_EVERY_MS) return
      looks.set(agentId, { folders, at, found: (await findRepositories(open)).length > 0 })
    },
    /** As of the last look. */
    hasRepository: (agentId: string): boolean => looks.get(agentId)?.found === true,
    /**
     * Throws AppError folder_not_open, not_a_repository, repository_has_no_commits, git_missing or program_missing. The whole repository
     * must be open to the agent, and closed to none of the agents on whose behalf it works.
     */
    async examine(
      agent: Agent,
      given: Pick<CreateCodeTask, 'cli' | 'folder' | 'internet'>,
      onBehalfOf: readonly string[] = [],
    ): Promise<PreparedCodeTask> {
      const { cli, folder, internet } = given
      const real = await realPathOf(folder)
      const opened = (await Promise.all(agent.folders.map(realPathOf))).filter((path) => path !== null)
      const named = nameFolders(agent.folders)
      const closed = [agent.id, ...onBehalfOf].flatMap((one) => closedFoldersOf(rules.read(), one, named))
      const isOpen = (path: string) => opened.some((one) => isInside(one, path)) && !closed.some((one) => isInside(one, path))
      if (real === null || !isOpen(real)) throw new AppError('folder_not_open')
      const found = await git.findRepository(real).catch(explain)
      if (found.is === 'refused') {
        const { reason } = found
        throw new AppError('not_a_repository', reason === 'not_a_repository' ? undefined : createMessage('repository_refused', { reason }))
      }
      const { root, head, branch } = found
      if (!isOpen(root)) throw new AppError('folder_not_open', createMessage('repository_not_open', { folder: root }))
      if (head === null) throw new AppError('repository_has_no_commits')
      if ((await programs.find(cli)) === null) throw new AppError('program_missing')
      return { cli, internet, repository: root, baseCommit: head, baseBranch: branch }
    },

    /** Makes the job one of a coding program, in the transaction that makes the job. */
    attach(tx: Tx, { id, title }: Pick<Job, 'id' | 'title'>, task: PreparedCodeTask): void {
      insertCodeTask(tx, id, { ...task, branch: branchFor(id, title) })
    },

    /** A job that is the former one again also has its program and repository. */
    copy(tx: Tx, from: string, job: Job): Job {
      const former = findCodeTask(db, from)
      if (former !== null) {
        const { cli, internet, repository, baseCommit, baseBranch } = former
        this.attach(tx, job, { cli, internet, repository, baseCommit, baseBranch })
      }
      return job
    },
  }
}

function explain(thrown: unknown): never {
  if (!(thrown instanceof GitFailed)) throw thrown
  if (thrown.trouble === 'missing') throw new AppError('git_missing')
  throw new AppError(thrown.trouble === 'outdated' ? 'git_missing' : 'not_a_repository', quote(thrown.message), { cause: thrown })
}

/**
 * `deckhand/`, words of the task, and the end of the job's id, which is its random part. It is long enough for a task that a schedule
 * repeats every day, whose branches all have the same words.
 */
function branchFor(jobId: string, title: string): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_BRANCH_WORDS)
    .replace(/^-+|-+$/g, '')
  return `deckhand/${words === '' ? 'task' : words}-${jobId.slice(-8)}`
}

function realPathOf(folder: string): Promise<string | null> {
  return realpath(folder).catch(() => null)
}
