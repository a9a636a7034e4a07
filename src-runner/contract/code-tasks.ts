import { z } from 'zod'
import { Folder } from './agents.ts'
import { CodingCli } from './coding-programs.ts'
import { JobStatus, Task } from './jobs.ts'
import { Id, Moment, Usd } from './primitives.ts'

/** none: it still works, or it changed nothing. */
export const CodeTaskResult = z.enum(['none', 'ready', 'applied', 'discarded'])
export type CodeTaskResult = z.infer<typeof CodeTaskResult>

export const CodeFileChange = z.enum(['added', 'modified', 'deleted', 'renamed'])

/** A file that differs between the base commit and the branch. Paths are relative to the repository. */
export const CodeTaskFile = z.object({
  path: z.string(),
  change: CodeFileChange,
  /** The former path of a renamed file. */
  from: z.string().nullable(),
  additions: z.number().int(),
  deletions: z.number().int(),
  binary: z.boolean(),
  /** Something runs this file by itself once it is in the checkout: a workflow, an editor task, a package script. */
  runsByItself: z.boolean(),
})
export type CodeTaskFile = z.infer<typeof CodeTaskFile>

/** A command that the program ran, as it tells. `exitCode` null: it did not say. */
export const CodeTaskCommand = z.object({ command: z.string(), exitCode: z.number().int().nullable() })
export type CodeTaskCommand = z.infer<typeof CodeTaskCommand>

export const LeftOutReason = z.enum(['too_large', 'too_many', 'bad_name', 'not_a_file', 'submodule', 'unreadable', 'login'])
export type LeftOutReason = z.infer<typeof LeftOutReason>

/**
 * What is in the folder and in no commit, besides what `.gitignore` names. It goes with the folder.
 * too_large: the file, or all changed files together. bad_name: it is no text, or means something else to Git. not_a_file: a pipe, socket
 * or device. submodule: changes inside of one. login: it contains the login of a coding program.
 */
export const CodeTaskLeftOut = z.object({ path: z.string(), reason: LeftOutReason })
export type CodeTaskLeftOut = z.infer<typeof CodeTaskLeftOut>

/** One task for a coding program in one Git repository. It is a job too. */
export const CodeTask = z.object({
  jobId: Id,
  agentId: Id,
  agentName: z.string(),
  title: z.string(),
  jobStatus: JobStatus,
  cli: CodingCli,
  /** The person's checkout: an absolute path. */
  repository: z.string(),
  branch: z.string(),
  baseCommit: z.string(),
  /** null: no branch was checked out. */
  baseBranch: z.string().nullable(),
  /** Where it works: a worktree of its own. null: not made yet, or removed. */
  folder: z.string().nullable(),
  sandboxed: z.boolean(),
  /** Commands of the program may reach the network. */
  internet: z.boolean(),
  result: CodeTaskResult,
  files: z.array(CodeTaskFile),
  /** Counts all files, as `additions` and `deletions` do. `files` holds only the first ones. */
  fileCount: z.number().int(),
  additions: z.number().int(),
  deletions: z.number().int(),
  /** The first. It is complete if there are fewer than `CODE_TASK_LIMITS.leftOut`. */
  leftOut: z.array(CodeTaskLeftOut),
  /** The newest last. The tests it ran are among them. */
  commands: z.array(CodeTaskCommand),
  /** The size of the folder. null: not measured yet, or there is no folder. */
  sizeBytes: z.number().int().nullable(),
  /** As the program tells. */
  costUsd: Usd,
  /** false: the program did not tell everything that it cost. */
  priced: z.boolean(),
  createdAt: Moment,
  finishedAt: Moment.nullable(),
  folderRemovedAt: Moment.nullable(),
})
export type CodeTask = z.infer<typeof CodeTask>

/** A row of a list. */
export const CodeTaskSummary = CodeTask.omit({ files: true, leftOut: true, commands: true })
export type CodeTaskSummary = z.infer<typeof CodeTaskSummary>

export const CreateCodeTask = z.object({
  agentId: Id,
  cli: CodingCli,
  /** One of the agent's folders, or inside one. */
  folder: Folder,
  task: Task,
  internet: z.boolean().default(false),
})
export type CreateCodeTask = z.infer<typeof CreateCodeTask>

/** `diff`: a unified diff, in the words of the program. Empty for a binary file. */
export const CodeTaskDiff = z.object({ path: z.string(), diff: z.string(), truncated: z.boolean(), binary: z.boolean() })
export type CodeTaskDiff = z.infer<typeof CodeTaskDiff>

/** `dirty`: there are changes that are in no commit. A code task does not see them. */
export const CodeRepository = z.object({ folder: Folder, branch: z.string().nullable(), dirty: z.boolean() })
export type CodeRepository = z.infer<typeof CodeRepository>

/** The limits of one code task. */
export const CODE_TASK_LIMITS = { files: 1_000, leftOut: 100, commands: 100 }
